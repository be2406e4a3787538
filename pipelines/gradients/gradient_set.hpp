#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/ids.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace graphmill {

/// One rank's gradients of one step: the sum of the loss gradients over its
/// seeds, divided by the seeds of the whole step. The sum over all ranks is the
/// exact average, for any division of the seeds.
struct gradient_set {
  pod_vector<float> dense; ///< All dense parameters, in registration order.
  /// The gradient of an embedding table, of which a step touches few rows.
  struct sparse {
    pod_vector<node_id> rows; ///< Rows with a gradient, ascending and distinct.
    pod_vector<float> values; ///< [rows, width]
  };
  std::vector<sparse> tables; ///< In the order of `model_layout::tables`.
};

/// The sizes of a model's gradients, the same on every rank.
struct gradient_shape {
  struct table {
    std::int64_t rows = 0;
    std::int64_t width = 0;
  };
  std::int64_t dense = 0; ///< Floats.
  std::vector<table> tables;
};

/// `into` += `from`. Rows of tables are merged, ascending.
void add(gradient_set& into, const gradient_set& from);

/// The part of `add` for tables: common rows are added, and all rows come out
/// in ascending order. Both have the same number of tables.
void add_tables(std::vector<gradient_set::sparse>& into,
                const std::vector<gradient_set::sparse>& from);

/// Called with the offset from which on dense gradients are final.
using gradient_sink = std::function<void(std::int64_t offset)>;

} // namespace graphmill
