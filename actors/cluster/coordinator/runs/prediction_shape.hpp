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

/// What a run that predicts gives, and by whom.
struct prediction_shape {
  /// That are told: nodes of the target type or, of a task of edges, edges of a
  /// split or those of `blocks`.
  std::int64_t rows = 0;
  std::int64_t columns = 0; ///< Values of each row.
  task_traits task = task_of(label_kind::classes);
  std::int64_t batch_size = 1; ///< Rows of a step, in their order.
  rank_id ranks = 1;           ///< That each take a run of these.
  std::optional<threshold_choice> threshold = {}; ///< Of the definition.
  /// Whose outputs are told; none: logits are.
  std::vector<output_block> blocks = {};
  /// Of blocks: the names of the types at their ends.
  std::vector<std::array<std::string, 2>> types = {};
  bool edges = false; ///< Rows are edges.

  std::int64_t steps() const { return (rows + batch_size - 1) / batch_size; }
  /// Nodes or edges that the run predicts.
  std::int64_t count() const;

  /// Of a run by this definition, which has been checked against the dataset.
  static prediction_shape of(const definition& def, const dataset_info& info,
                             rank_id ranks);
};

} // namespace graphmill
