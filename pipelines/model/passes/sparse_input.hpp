#pragma once

#include "messages/base/ids.hpp"
#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// Packed features of the nodes of a batch, as the sparse matrix that the first
/// layer multiplies with its weights: what it costs goes by the values that
/// there are, and not by the columns. Each row of a product, and of a gradient,
/// is summed by one thread in a fixed order, so that it does not depend on how
/// many there are. That order is not the one of a library's dense products: the
/// results differ from those by rounding. Never changes once it is made, and
/// any number of threads may ask it.
class sparse_input {
public:
  /// @param packed [rows] Sound rows of a form that is packed.
  /// @param drop Drops the same elements as `activate` of dense rows.
  sparse_input(const float* packed, std::int64_t rows, const row_form& form,
               const dropout& drop);

  /// y = rows [begin, end) times weight + beta y; beta is 0 or 1.
  /// @param weight [columns, any] @param y [end - begin, columns of weight]
  void multiply(std::int64_t begin, std::int64_t end, const_matrix weight,
                float beta, matrix y) const;

  /// The same of all rows, in chunks.
  void multiply(thread_team& team, const_matrix weight, matrix y) const;

  /// c += transpose of the first rows times gradient: what the product of these
  /// rows leaves to the weight.
  /// @param gradient [as many rows as are meant, any]
  /// @param c [columns, columns of gradient]
  void add_product_tn(thread_team& team, const_matrix gradient, matrix c) const;

private:
  std::int64_t rows_ = 0;
  std::vector<std::int64_t> indptr_; ///< [rows + 1]
  std::vector<local_id> columns_;    ///< Ascending in each row.
  std::vector<float> values_;
};

} // namespace graphmill
