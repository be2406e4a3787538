#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/attention/attention.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/thread_team.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

/// What features e of edges bring to an attention that scores both ends and the
/// edge apart: E e to what is summed, and a . E e to scores, in each head. No
/// row E e is made. Sums are of e and multiplied by E, and scores are products
/// of e and E a:
///
///   sum over j of w[i, j] E e[i, j] = E (sum over j of w[i, j] e[i, j])
class attended_edges {
public:
  struct setting {
    const_matrix features; ///< [edges, any] e
    const_matrix weight;   ///< [any, heads * width of one] E
    const_matrix vector;   ///< [heads, width of one] a
    thread_team* team = nullptr;
    std::shared_ptr<buffer_pool> pool;
  };

  /// Makes the scores. @param rows Of the sums.
  attended_edges(const setting& options, std::int64_t rows);

  /// Has the kernels read the features, and fill the sums.
  /// @param first The number that they know the first row of the sums by.
  void lend(attention& task, std::int64_t first = 0);

  /// y += what features bring to rows [begin, end), by their sums.
  void add_output(std::int64_t begin, std::int64_t end, matrix y) const;

  /// Makes the gradient of the sums, which backward of the kernels reads.
  /// @param gradient Of the output, all rows.
  void make_gradient(const_matrix gradient);

  /// Adds the gradients of E and a, and of the last columns of e.
  /// @param gradient As above. @param scores [edges, heads] Of the scores.
  /// @param task With `lend`. @param columns_into [edges, these columns]
  void add_gradients(const attention& task, const_matrix gradient,
                     const_matrix scores, matrix weight_into,
                     float* vector_into, matrix columns_into) const;

private:
  std::int64_t heads() const { return set_.vector.rows; }
  /// Features of all heads.
  std::int64_t width() const { return heads() * set_.weight.rows; }

  setting set_;
  owned_matrix map_;          ///< `feature_map`
  owned_matrix scored_;       ///< [any, heads] E a
  owned_matrix scores_;       ///< [edges, heads]
  owned_matrix sums_;         ///< [rows, heads * features]
  owned_matrix sum_gradient_; ///< The same.
};

} // namespace graphmill
