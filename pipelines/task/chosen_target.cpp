#include "pipelines/task/chosen_target.hpp"

#include "partition/dataset/label_sets.hpp"

#include <cstddef>

namespace graphmill {

namespace {

result<void> check_target(const definition& def) {
  if (def.task.empty() || def.labels.empty())
    return ok();
  return fail(ec::invalid_argument,
              "`task` and `labels` exclude each other: leave one out");
}

} // namespace

result<dataset_info> choose_target(const dataset_info& info,
                                   const definition& def) {
  GRAPHMILL_TRYV(check_target(def));
  return def.task.empty() ? choose_labels(info, def.labels)
                          : choose_task(info, def.task);
}

result<partitioned_graph> choose_target(const partitioned_graph& graph,
                                        const definition& def) {
  GRAPHMILL_TRYV(check_target(def));
  return def.task.empty() ? graph.with_labels(def.labels)
                          : graph.with_task(def.task);
}

std::int64_t seed_count(const dataset_info& info, const definition& def,
                        split which) {
  const auto chosen = choose_target(info, def);
  if (!chosen)
    return 0;
  const auto& seen = chosen.value();
  return seen.node_types[static_cast<std::size_t>(seen.target)]
    .split_counts[static_cast<std::size_t>(which)];
}

bool can_be_measured(const dataset_info& info, const definition& def,
                     split which) {
  const auto chosen = choose_target(info, def);
  const auto* task = chosen ? chosen_task(chosen.value()) : nullptr;
  const auto unlabelled =
    task != nullptr && which == split::test ? task->unlabelled : 0;
  return seed_count(info, def, which) > unlabelled;
}

result<label_meaning> meaning_of_target(const dataset_info& info,
                                        const definition& def) {
  GRAPHMILL_TRY(const auto chosen, choose_target(info, def));
  return meaning_of_labels(chosen, "");
}

} // namespace graphmill
