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

/// Where gradients go, and what is kept of edges for those of sources. Borrows
/// all arrays.
struct joint_gradients {
  /// As scores are before the softmax; destinations may be null.
  score_gradients scores;
  matrix y;                ///< [rows, columns of z]
  float* vector = nullptr; ///< [columns of z] Added to in the order of rows.
  /// The memory of `attention::edges`: what edges bring is replaced by its
  /// gradient, as what is summed and by scores. No data: they bring nothing.
  matrix edges;
  /// [edges, `joint_sign_bytes`] Where the sums under LeakyReLU are above 0.
  std::uint8_t* signs = nullptr;
};

/// The bytes of an edge in `joint_gradients::signs`.
/// @param columns Of z, all heads.
std::int64_t joint_sign_bytes(std::int64_t columns, std::int64_t heads);

/// Backward of rows [begin, end).
/// @param gradient [rows, columns of z] Of the output, all rows.
void attend_jointly_backward(const joint_attention& task, const_matrix gradient,
                             std::int64_t begin, std::int64_t end,
                             const joint_gradients& out);

/// Computes rows [begin, end) of the gradient of z, as what is summed and by
/// the scores. @param known What `attend_jointly_backward` has filled: scores
/// and signs. @param out [rows of z, columns of z]
void attend_jointly_sources_backward(const joint_attention& task,
                                     const transposed_edges& back,
                                     const joint_gradients& known,
                                     const_matrix gradient, std::int64_t begin,
                                     std::int64_t end, matrix out);

} // namespace graphmill
