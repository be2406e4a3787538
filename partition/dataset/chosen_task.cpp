#include "partition/dataset/chosen_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace graphmill {

result<dataset_info> choose_task(const dataset_info& info,
                                 std::string_view name) {
  const auto which = info.find_task(name);
  if (!which) {
    std::string there;
    for (const auto& task : info.tasks)
      there += fmt::format("{}\"{}\"", there.empty() ? "" : ", ", task.name);
    return fail(ec::invalid_argument, "\"{}\" has no task \"{}\" of edges; {}",
                info.name, name,
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

dataset_info with_outputs_of(dataset_info chosen, const label_meaning& learnt) {
  auto& task = chosen.tasks[*chosen.chosen_task];
  if (!traits_of(task.kind).labels)
    return chosen;
  auto& target = chosen.node_types[static_cast<std::size_t>(chosen.target)];
  task.class_count = target.class_count = learnt.count;
  task.class_names = target.class_names = learnt.names;
  return chosen;
}

} // namespace graphmill
