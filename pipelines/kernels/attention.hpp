#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

/// Multi-head attention over sampled in-neighbours and the node itself
/// (Velickovic et al., "Graph attention networks", ICLR'18), fused: the softmax
/// of a row is made and used while the row is in the cache, and what is kept
/// per edge is one number per head.
///
///   e[i,j] = LeakyReLU(destination . z[i] + source . z[j]), slope 0.2
///   out[i] = sum over j of softmax(e[i, :])[j] * z[j]
///
/// Heads lie side by side in the columns of `z`.
struct attention {
  const std::int64_t* indptr = nullptr;
  const local_id* columns = nullptr;
  std::int64_t rows = 0; ///< Destinations: the first rows of z.
  const_matrix z;
  std::int64_t heads = 1;
  const float* source_scores = nullptr;      ///< [rows of z, heads]
  const float* destination_scores = nullptr; ///< [rows, heads]
  float* weights = nullptr;                  ///< [edges, heads], the softmax.
  float* self_weights = nullptr;             ///< [rows, heads]
};

/// out[i, h] = z[i] . vector within head h, for rows [begin, end).
void head_products(const_matrix z, const float* vector, std::int64_t heads,
                   std::int64_t begin, std::int64_t end, float* out);

/// Rows [begin, end) of the output, and the weights.
/// @param out [end - begin, columns of z]
void attend(const attention& task, std::int64_t begin, std::int64_t end,
            matrix out);

/// Gradients of the scores e before LeakyReLU.
struct score_gradients {
  float* edges = nullptr;        ///< [edges, heads]
  float* self = nullptr;         ///< [rows, heads]: of e[i, i].
  float* destinations = nullptr; ///< [rows, heads]: sum over the row.
};

/// Backward of the softmax for rows [begin, end).
/// @param gradient Of the output, all rows, [rows, columns of z].
void attend_backward(const attention& task, const_matrix gradient,
                     std::int64_t begin, std::int64_t end,
                     const score_gradients& out);

/// The transposed CSR, and where its entries stand in the forward one.
struct transposed_edges {
  const std::int64_t* indptr = nullptr;
  const local_id* columns = nullptr;
  const std::int64_t* positions = nullptr;
};

/// Gradient of z for rows [begin, end), and its part by way of the scores of
/// sources, summed: the gradient of `source_scores`.
/// @param source_vector, destination_vector [columns of z]
void attend_sources_backward(const attention& task,
                             const transposed_edges& back,
                             const score_gradients& scores,
                             const_matrix gradient, const float* source_vector,
                             const float* destination_vector,
                             std::int64_t begin, std::int64_t end,
                             float* source_gradient, matrix out);

/// sums[h, c] += scale[i, h] * z[i, h, c] over rows [begin, end).
void add_head_sums(const_matrix z, const float* scale, std::int64_t heads,
                   std::int64_t begin, std::int64_t end, float* sums);

} // namespace graphmill
