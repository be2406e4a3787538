#pragma once

#include "pipelines/definition/model_traits.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// Which elements to drop. Element (row, column) is decided by 16 bits of
/// Philox, whatever thread or order computes it. The counter is (row; stream;
/// block); so that the bits need no shuffling in vector registers, column c
/// takes block c / 128 * 16 + c % 16 and therein half word c % 128 / 16 (lower
/// halves first). One block thus decides eight elements.
struct dropout {
  std::uint64_t key = 0;
  std::uint32_t stream = 0;    ///< Layer, node type and rank: `stream_of`.
  std::uint32_t threshold = 0; ///< Dropped if the 16 bits are below; 0 = none.

  /// What survivors are multiplied by: exactly the inverse of the share that
  /// survives, so that the expectation is kept.
  float scale() const {
    return 65536.0f / (65536.0f - static_cast<float>(threshold));
  }
};

/// The threshold for a probability in [0, 1), to the nearest 1/65536.
std::uint32_t dropout_threshold(double probability);

/// The middle word of the counter. Ranks must not share masks.
inline std::uint32_t stream_of(int layer, int node_type, int rank) {
  return static_cast<std::uint32_t>(layer) << 24
         | static_cast<std::uint32_t>(node_type) << 16
         | static_cast<std::uint32_t>(rank);
}

/// out[i] = dropout(activation(x[i] + bias)) for rows [begin, end); `out` may
/// be `x` itself, `bias` may be null. A dropped element becomes -0 and a kept
/// one never does, so the result also is the mask that backward needs.
void activate(const_matrix x, const float* bias, activation kind,
              const dropout& drop, std::int64_t begin, std::int64_t end,
              matrix out);

/// Turns the gradient of `activate`'s result into that of its argument, in
/// place: `y` is the result, `scale` the dropout's (1 without).
void activate_backward(const_matrix y, activation kind, float scale,
                       std::int64_t begin, std::int64_t end, matrix gradient);

/// sums[c] += x[i][c] over rows [begin, end), in a fixed order of pieces.
void add_column_sums(const_matrix x, std::int64_t begin, std::int64_t end,
                     float* sums);

} // namespace graphmill
