#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/transposed_edges.hpp"

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
/// where edges with weights w add log(w) to e: an edge of weight 2 counts as
/// two edges, and one of weight 0 as none. i itself weighs 1. j goes over the
/// in-neighbours of i and i itself. Heads lie side by side in the columns of
/// `z`, each of width columns / heads, and are computed independently. Each
/// layer of a batch is one such task: `head_products` makes the scores, then
/// `attend` fills the weights and the output, and backward goes by
/// `attend_backward`, then `attend_sources_backward`, both of which read the
/// weights. It borrows all arrays. Sums are made in the order of the edges, so
/// the result is the same for any number of threads, which may compute
/// different rows at once.
struct attention {
  const std::int64_t* indptr = nullptr; ///< [rows + 1], positions in `columns`.
  const local_id* columns = nullptr;    ///< [edges] Sources: rows of z.
  std::int64_t rows = 0;                ///< Destinations: the first rows of z.
  const_matrix z;                       ///< The input times the weight matrix.
  std::int64_t heads = 1;               ///< Divides the columns of z.
  const float* source_scores = nullptr; ///< [rows of z, heads]
  const float* destination_scores = nullptr; ///< [rows, heads]
  float* weights = nullptr; ///< [edges, heads] The softmax, kept.
  /// [rows, heads] The same of e[i, i]; null: i is none of its own sources, and
  /// rows without edges are zero.
  float* self_weights = nullptr;
  /// With dropout of weights: which are dropped, by (edge; head) and by (row;
  /// head), and where they are kept as they are summed with, shaped as those
  /// above. These hold them if nothing is dropped, and are null; so is that of
  /// rows where these are no sources of themselves.
  dropout drop;
  dropout drop_self;
  float* dropped_weights = nullptr;
  float* dropped_self = nullptr;
  /// What `activate` has made of z by dropout alone, and `dropout::scale` of
  /// it: these rows are summed, while scores are of z. No data: z is summed.
  const_matrix messages;
  float message_scale = 1;
  /// [edges, columns of z or more] What edges bring to joint scores, and to
  /// z[j] as it is summed, behind dropout: of the edges of the rows at hand. No
  /// data: nothing. The node itself has none.
  const_matrix edges;
  /// [edges, any] Without joint scores: what is summed apart, by the weights
  /// that z[j] is summed with. No data: edges have no features.
  const_matrix features;
  const float* log_weights = nullptr;  ///< [edges] Null: all weigh 1.
  const float* edge_scores = nullptr;  ///< [edges, heads] Added to those of j.
  float* feature_sums = nullptr;       ///< [rows, heads, any] Filled.
  const float* sum_gradient = nullptr; ///< The same; read by backward.

  /// What is summed of row j.
  const float* message(std::int64_t j) const {
    return messages.data != nullptr ? messages.row(j) : z.row(j);
  }
  /// What rows of z are summed with.
  const float* shares() const {
    return dropped_weights != nullptr ? dropped_weights : weights;
  }
  const float* self_shares() const {
    return dropped_self != nullptr ? dropped_self : self_weights;
  }
  /// What is added to the score of an edge as it enters the softmax.
  float log_weight(std::int64_t e) const {
    return log_weights == nullptr ? 0.0f : log_weights[e];
  }
};

/// out[i, h] = z[i] . vector within head h, for rows [begin, end).
/// @param vector [columns of z] @param out [`end` rows or more, heads]
void head_products(const_matrix z, const float* vector, std::int64_t heads,
                   std::int64_t begin, std::int64_t end, float* out);

/// Computes rows [begin, end) of the output, and the weights of their edges.
/// @param out [end - begin, columns of z], for these rows alone.
void attend(const attention& task, std::int64_t begin, std::int64_t end,
            matrix out);

/// Where the gradients of the scores go, as they are before LeakyReLU. Borrows
/// the arrays.
struct score_gradients {
  float* edges = nullptr; ///< [edges, heads]
  float* self = nullptr;  ///< [rows, heads] Of the score of i with itself; null
                          ///< as `attention::self_weights` is.
  /// [rows, heads] The sum of a row's, the one with itself included: the
  /// gradient of `attention::destination_scores`.
  float* destinations = nullptr;
};

/// Backward of the softmax for rows [begin, end). If g is the gradient of
/// out[i], that of e[i,j] is softmax(e[i, :])[j] * (g . z[j] - mean), where the
/// mean is that of all g . z[j] of the row, weighed by the softmax; the slope
/// of LeakyReLU leads on to the score before it.
/// @param gradient [rows, columns of z] Of the output, all rows.
void attend_backward(const attention& task, const_matrix gradient,
                     std::int64_t begin, std::int64_t end,
                     const score_gradients& out);

/// Computes rows [begin, end) of two gradients: of `source_scores`, and of z by
/// all three ways in which z enters, as what is summed and by both scores.
/// @param scores What `attend_backward` has filled, for all rows.
/// @param gradient [rows, columns of z] Of the output, all rows.
/// @param source_vector, destination_vector [columns of z] What the scores were
/// made with by `head_products`; the latter is read only with `self_weights`,
/// for else destinations are no rows of z.
/// @param source_gradient [rows of z, heads] Receives that of `source_scores`.
/// @param out [rows of z, columns of z] Receives that of z.
void attend_sources_backward(const attention& task,
                             const transposed_edges& back,
                             const score_gradients& scores,
                             const_matrix gradient, const float* source_vector,
                             const float* destination_vector,
                             std::int64_t begin, std::int64_t end,
                             float* source_gradient, matrix out);

/// into[e, c] += the sum over heads h of scale[e, h] * x[i, h, first + c], for
/// the edges e of rows i in [begin, end): the gradient of what is summed by
/// heads, if x is that of the sums.
/// @param scale [edges, heads] @param x [rows, heads, any]
/// @param into [edges, some of these columns]
void add_shares_of_rows(const std::int64_t* indptr, const float* scale,
                        std::int64_t heads, const_matrix x, std::int64_t first,
                        std::int64_t begin, std::int64_t end, matrix into);

/// sums[h, c] += scale[i, h] * z[i, h, c] over rows [begin, end), in the order
/// of rows: the gradient of the vector of `head_products`, if `scale` is the
/// gradient of its result.
/// @param scale [rows of z, heads] @param sums [columns of z]
void add_head_sums(const_matrix z, const float* scale, std::int64_t heads,
                   std::int64_t begin, std::int64_t end, float* sums);

} // namespace graphmill
