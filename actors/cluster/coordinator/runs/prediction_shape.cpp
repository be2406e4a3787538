#include "actors/cluster/coordinator/runs/prediction_shape.hpp"

#include "pipelines/definition/edge_predictions.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <cstddef>

namespace graphmill {

std::int64_t prediction_shape::count() const {
  if (blocks.empty())
    return rows;
  std::int64_t out = 0;
  for (const auto& block : blocks)
    out += block.counts[0] + (block.within_type() ? 0 : block.counts[1]);
  return out;
}

prediction_shape prediction_shape::of(const definition& def,
                                      const dataset_info& info, rank_id ranks) {
  const auto chosen = choose_target(info, def);
  const auto& seen = chosen ? chosen.value() : info;
  const auto& target = seen.node_types[static_cast<std::size_t>(seen.target)];
  prediction_shape out{.rows = target.count,
                       .columns = told_columns(def, target.class_count),
                       .task = task_of(target),
                       .batch_size = def.evaluate.batch_size,
                       .ranks = ranks,
                       .threshold = measures_of(def, info).threshold};
  out.edges = chosen_task(seen) != nullptr;
  if (predicts_outputs(def)) {
    out.blocks = output_blocks(seen);
    out.rows = rows_of(out.blocks);
    for (const auto& block : out.blocks) {
      auto& names = out.types.emplace_back();
      for (std::size_t end = 0; end < 2; ++end)
        names[end] =
          seen.node_types[static_cast<std::size_t>(block.types[end])].name;
    }
  } else if (const auto which = split_of(def.evaluate.only)) {
    out.rows = seed_count(info, def, *which);
  }
  return out;
}

} // namespace graphmill
