#pragma once

#include "pipelines/kernels/attention/attention.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// Attention as `attention` has it, with scores that are a function of both
/// ends together (Brody et al., "How attentive are graph attention networks?",
/// ICLR'22):
///
///   e[i,j] = vector . LeakyReLU(y[i] + z[j]), slope 0.2, head by head
///
/// where edges that have features add what they bring to z[j], and edges with
/// weights their logarithms to e.
///
/// y is the destinations' input times a weight matrix of its own. Scores are no
/// sums of one number for each end, so they are made edge by edge and again in
/// backward, which keeps one number per edge and head, too. Of `base`, both
/// kinds of scores stay null. Borrows all arrays.
struct joint_attention {
  attention base;
  const_matrix y;                ///< [rows, columns of z]
  const float* vector = nullptr; ///< [columns of z]
};

/// As `attend`.
void attend_jointly(const joint_attention& task, std::int64_t begin,
                    std::int64_t end, matrix out);

/// Backward of rows [begin, end): the gradients of scores as they are before
/// the softmax, of y, and of the vector.
/// @param gradient [rows, columns of z] Of the output, all rows.
/// @param out Receives edges and selves; destinations may be null.
/// @param y_gradient [rows, columns of z] Receives the rows.
/// @param vector_sum [columns of z] Is added to, in the order of rows.
void attend_jointly_backward(const joint_attention& task, const_matrix gradient,
                             std::int64_t begin, std::int64_t end,
                             const score_gradients& out, matrix y_gradient,
                             float* vector_sum);

/// Replaces what edges of rows [begin, end) bring by its gradient, as what is
/// summed and by its scores. After all that reads `base.edges`.
/// @param scores What `attend_jointly_backward` has filled.
/// @param gradient [rows, columns of z] Of the output.
/// @param edges The memory of `base.edges`.
void attend_jointly_edges_backward(const joint_attention& task,
                                   const score_gradients& scores,
                                   const_matrix gradient, std::int64_t begin,
                                   std::int64_t end, matrix edges);

/// Computes rows [begin, end) of the gradient of z, as what is summed and by
/// the scores. @param scores What `attend_jointly_backward` has filled.
/// @param out [rows of z, columns of z]
void attend_jointly_sources_backward(const joint_attention& task,
                                     const transposed_edges& back,
                                     const score_gradients& scores,
                                     const_matrix gradient, std::int64_t begin,
                                     std::int64_t end, matrix out);

} // namespace graphmill
