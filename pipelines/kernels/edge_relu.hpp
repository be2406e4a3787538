#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/transposed_edges.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

/// Rows of sources and what features of edges bring, added up and cut off below
/// 0 (GINE), fused:
///
///   out[i] = self * x[i] + sum over e, that leads to j, in row i of
///                          values[e] * relu(x[j] + features[e] E + b)
///
/// Products of edges stay in registers. What is kept of them is a bit for each
/// column, so that backward need not make them again.
/// Borrows all arrays. Sums are made in the order of the edges, so that the
/// result is the same for any number of threads, which may compute different
/// rows at once.
struct edge_relu {
  const std::int64_t* indptr = nullptr; ///< [rows + 1], rows of `features`.
  const local_id* columns = nullptr;    ///< [edges] Rows of `x`.
  const_matrix x;
  const_matrix features;         ///< [edges, any]
  const_matrix weight;           ///< What `edge_relu_weight` gives.
  const float* values = nullptr; ///< [edges]; null: all one.
  float self = 1;
  /// [edges, `edge_relu_bytes`] Which columns are above 0: filled by `run`,
  /// read by backward. Null: there is no backward.
  std::uint8_t* signs = nullptr;
};

/// E with b as a further row, and with zeros behind it up to a multiple of 16
/// columns. @param weight E @param bias [columns of E] b
owned_matrix edge_relu_weight(const_matrix weight, const float* bias,
                              const std::shared_ptr<buffer_pool>& pool);

/// The bytes of an edge in `edge_relu::signs`. @param width Columns of `x`.
std::int64_t edge_relu_bytes(std::int64_t width);

/// Computes rows [begin, end). @param out [rows, columns of x]
void run(const edge_relu& task, std::int64_t begin, std::int64_t end,
         matrix out);

/// Adds what rows [begin, end) have of the gradients of E and b.
/// @param gradient [rows, columns of x] Of the output.
/// @param sums Shaped as `task.weight`.
void edge_relu_backward(const edge_relu& task, const_matrix gradient,
                        std::int64_t begin, std::int64_t end, matrix sums);

/// Adds what rows [begin, end) have of the gradient of features from number
/// `first` on. @param gradient [rows, columns of x] Of the output.
/// @param into [edges, these features]
void edge_relu_features_backward(const edge_relu& task, const_matrix gradient,
                                 std::int64_t first, std::int64_t begin,
                                 std::int64_t end, matrix into);

/// What edges have of rows [begin, end) of the gradient of x.
/// @param gradient [rows, columns of x] Of the output.
/// @param filled It is added to rows before this one, and replaces the others.
/// @param out [end - begin, columns of x], for these rows alone.
void edge_relu_sources_backward(const edge_relu& task,
                                const transposed_edges& back,
                                const_matrix gradient, std::int64_t begin,
                                std::int64_t end, std::int64_t filled,
                                matrix out);

} // namespace graphmill
