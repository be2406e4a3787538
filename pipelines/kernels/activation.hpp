#pragma once

#include "messages/base/random.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// Which elements to drop. 16 bits of Philox decide element (row, column), in
/// any thread and order. The counter is (row; stream; block). Column c takes
/// block c / 128 * 16 + c % 16 and therein half word c % 128 / 16 (lower halves
/// first), so that the bits need no shuffling in vector registers. One block
/// decides eight elements.
struct dropout {
  std::uint64_t key = 0;    ///< The key of the step's random numbers.
  std::uint32_t stream = 0; ///< Layer, node type and rank: `stream_of`.
  /// An element is dropped if its 16 bits are below; 0 drops none.
  std::uint32_t threshold = 0;

  /// Factor of the survivors: exactly the inverse of the surviving share, so
  /// that the expectation is kept.
  float scale() const {
    return 65536.0f / (65536.0f - static_cast<float>(threshold));
  }
};

/// The threshold for a probability in [0, 1), to the nearest 1/65536. It stays
/// below 65536, so that `dropout::scale` is finite.
std::uint32_t dropout_threshold(double probability);

/// The word of the counter that separates the masks of one step: layer and node
/// type in 8 bits each, and the rank in 16, because ranks must not share masks.
inline std::uint32_t stream_of(int layer, int node_type, int rank) {
  return static_cast<std::uint32_t>(layer) << 24
         | static_cast<std::uint32_t>(node_type) << 16
         | static_cast<std::uint32_t>(rank);
}

/// The same for the weights of a layer's attention, along edges and of nodes
/// for themselves: like layers that no model has, with relations instead of
/// node types. Rows are edges of the relation in the order of the batch, or
/// nodes, and columns are heads. `message_stream_of` is for the attended rows,
/// element by element.
inline dropout edge_dropout(std::uint64_t key, int layer, int relation,
                            int rank, std::uint32_t threshold) {
  // 8 bits are for 256 relations. Further ones have keys of their own.
  const auto further = static_cast<std::uint64_t>(relation / 256);
  return {further == 0 ? key : mix64(key ^ mix64(further)),
          stream_of(128 + layer, relation % 256, rank), threshold};
}
inline std::uint32_t self_stream_of(int layer, int rank) {
  return stream_of(192 + layer, 0, rank);
}
inline std::uint32_t message_stream_of(int layer, int rank) {
  return stream_of(192 + layer, 1, rank);
}

/// out[i] = dropout(activation(x[i] + bias)) for rows [begin, end). A dropped
/// element becomes -0 and a kept one never does, so the result also is the mask
/// that backward needs. Different threads may compute different rows at once.
/// @param x [rows, columns] @param bias [columns], or null for none.
/// @param out [rows, columns]; may be `x` itself.
void activate(const_matrix x, const float* bias, activation kind,
              const dropout& drop, std::int64_t begin, std::int64_t end,
              matrix out);

/// The effect of `activate` on one element by dropout alone, except for the
/// sign of a zero.
float dropped_out(const dropout& drop, std::uint64_t row, std::uint32_t column,
                  float x);

/// Turns the gradient of `activate`'s result into that of x + bias, in place,
/// for rows [begin, end). It reads the result alone, so that x need not be
/// kept.
/// @param y [rows, columns] What `activate` has computed.
/// @param scale `dropout::scale` of the same dropout; 1 without dropout.
/// @param gradient [rows, columns]
void activate_backward(const_matrix y, activation kind, float scale,
                       std::int64_t begin, std::int64_t end, matrix gradient);

/// out[i] = x times the share of a normal distribution below x (Hendrycks and
/// Gimpel, "Gaussian error linear units", 2016), for rows [begin, end).
/// @param x [rows, columns] @param out [rows, columns]; may be `x` itself.
void gelu(const_matrix x, std::int64_t begin, std::int64_t end, matrix out);

/// Turns the gradient of `share` times the result of `gelu` into that of x, in
/// place, for rows [begin, end). @param x, gradient [rows, columns]
void gelu_backward(const_matrix x, float share, std::int64_t begin,
                   std::int64_t end, matrix gradient);

/// sums[c] += x[i][c] over rows [begin, end). Sums are made per piece of 64
/// rows from `begin` on, and added in the order of the pieces.
/// @param sums [columns]
void add_column_sums(const_matrix x, std::int64_t begin, std::int64_t end,
                     float* sums);

} // namespace graphmill
