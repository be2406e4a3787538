#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace graphmill {

/// What features e of edges bring to an attention that scores both ends and the
/// edge together: rows e E. They are made for a few destinations at a time,
/// right where they are read, and once more in backward. So they stay in a
/// core's cache, and their memory is that of a few rows, or of one destination
/// that has many edges. Borrows the features.
class joint_edges {
public:
  /// @param features [edges, any] e @param weight [any, columns of z] E
  joint_edges(const_matrix features, const_matrix weight,
              std::shared_ptr<buffer_pool> pool);

  /// What is done with rows [begin, end) and the rows of their edges, which are
  /// numbered as `indptr` has them.
  using user =
    std::function<void(std::int64_t begin, std::int64_t end, matrix edges)>;

  /// Calls `use` for pieces of rows [begin, end), in their order.
  /// @param indptr Its entries from `begin` to `end` are read.
  void for_rows(const std::int64_t* indptr, std::int64_t begin,
                std::int64_t end, const user& use) const;

  /// Zeros, for `add_gradient`.
  owned_matrix no_gradient() const;

  /// Adds what edges [begin, end) have of the gradient of E.
  /// @param edges Numbered as `use` gets it: the gradient of these rows.
  void add_gradient(const_matrix edges, std::int64_t begin, std::int64_t end,
                    matrix sums) const;

  /// Adds what they have of the gradient of the last columns of e.
  /// @param into [edges, these columns]
  void add_feature_gradient(const_matrix edges, std::int64_t begin,
                            std::int64_t end, matrix into) const;

private:
  const_matrix features_;
  owned_matrix weight_; ///< `product_weight`
  std::shared_ptr<buffer_pool> pool_;
};

} // namespace graphmill
