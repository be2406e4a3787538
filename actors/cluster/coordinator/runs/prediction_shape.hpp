#pragma once

#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/flow/output_blocks.hpp"
#include "pipelines/task/task_traits.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What a run that predicts writes, and how its ranks share the rows.
struct prediction_shape {
  /// Rows that are predicted: nodes of the target type or, for a task of edges,
  /// edges of a split or those of `blocks`.
  std::int64_t rows = 0;
  std::int64_t columns = 0; ///< Values of each row.
  task_traits task = task_of(outcome_form::classes);
  std::int64_t batch_size = 1; ///< Rows of a step, in their order.
  rank_id ranks = 1;           ///< Each takes consecutive rows of a step.
  std::optional<threshold_choice> threshold = {}; ///< Of the definition.
  /// Rows that bring the outputs of nodes; empty: rows bring logits.
  std::vector<output_block> blocks = {};
  /// The names of the node types at the ends of each block.
  std::vector<std::array<std::string, 2>> types = {};
  bool edges = false; ///< Rows are edges, not nodes.

  std::int64_t steps() const { return (rows + batch_size - 1) / batch_size; }
  /// Nodes or edges that have a prediction: with `blocks` the nodes at their
  /// ends, each once.
  std::int64_t count() const;

  /// For a run by this definition. @pre `check_against` has passed.
  static prediction_shape of(const definition& def, const dataset_info& info,
                             rank_id ranks);
};

} // namespace graphmill
