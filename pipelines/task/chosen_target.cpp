#include "pipelines/task/chosen_target.hpp"

#include "partition/dataset/edge_tasks.hpp"
#include "partition/dataset/label_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace graphmill {

result<dataset_info> choose_target(const dataset_info& info,
                                   const definition& def) {
  if (def.task.empty())
    return choose_labels(info, def.labels);
  if (!def.labels.empty())
    return fail(ec::invalid_argument,
                "`task` and `labels` exclude each other: leave one out");
  const auto which = info.find_task(def.task);
  if (!which) {
    std::string there;
    for (const auto& task : info.tasks)
      there += fmt::format("{}\"{}\"", there.empty() ? "" : ", ", task.name);
    return fail(ec::invalid_argument, "\"{}\" has no task \"{}\" of edges; {}",
                info.name, def.task,
                there.empty() ? "it has none" : "there are " + there);
  }
  auto out = info;
  const auto& task = info.tasks[*which];
  out.chosen_task = which;
  out.target =
    info.edge_types[static_cast<std::size_t>(task.edge_types.front())]
      .destination;
  auto& target = out.node_types[static_cast<std::size_t>(out.target)];
  target.labels = traits_of(task.kind).labels.value_or(label_kind::links);
  target.class_count = std::max<std::int64_t>(task.class_count, 1);
  target.class_names = task.class_names;
  target.label_sets.clear();
  target.split_counts = task.split_counts;
  return out;
}

} // namespace graphmill
