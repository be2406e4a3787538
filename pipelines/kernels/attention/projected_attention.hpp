#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/attention/attention.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// Attention by products of queries and keys over the sources of all relations
/// into one node type together (Hu et al., "Heterogeneous graph transformer",
/// WWW'20), fused: the softmax of a row is made and used while the row is in
/// the cache, and what is kept per edge is one number per head.
///
///   e[r,i,j]   = queries_r[i] . keys_r[j]
///   sums_r[i] = sum over j of softmax(e[:, i, :])[r,j] * values_r[j]
///
/// j goes over the sources of i in relation r, and the softmax over those in
/// all of them. Where edges have features, their products with queries of their
/// own are added to scores, and they are summed beside the values. Logarithms
/// of weights of edges are added to scores as `attention` has it. Heads lie
/// side by side in the columns and are computed independently. What a relation
/// does to keys is left to its queries, and what it does to values to its sums,
/// so that no row of a source is made for each relation. Borrows all arrays.
/// Sums are made in the order of relations and edges, so the result is the same
/// for any number of threads, which may compute different rows at once.
struct projected_attention {
  struct relation {
    const std::int64_t* indptr = nullptr; ///< [rows + 1]
    const local_id* columns = nullptr;    ///< [edges] Rows of keys and values.
    const_matrix keys;                    ///< [sources, width of all heads]
    const_matrix values;                  ///< The same.
    const_matrix queries;                 ///< [rows, width of all heads]
    float* weights = nullptr;             ///< [edges, heads] The softmax, kept.
    dropout drop;                         ///< Of weights, by (edge; head).
    /// [edges, heads] As they are summed with; null if nothing is dropped.
    float* dropped_weights = nullptr;
    matrix sums;                        ///< [rows, width of all heads]
    const float* log_weights = nullptr; ///< [edges] Null: all weigh 1.
    /// [edges, any] No data: edges have none.
    const_matrix features = {};
    const_matrix edge_queries = {}; ///< [rows, heads, any]
    matrix feature_sums = {};       ///< [rows, heads, any] Filled.

    const float* shares() const {
      return dropped_weights != nullptr ? dropped_weights : weights;
    }
  };

  std::span<const relation> relations;
  std::int64_t rows = 0;
  std::int64_t heads = 1; ///< Divides the width.
};

/// Fills rows [begin, end) of the sums of all relations, zeros where a relation
/// has no edges, and the weights of their edges.
void attend_across(const projected_attention& task, std::int64_t begin,
                   std::int64_t end);

/// What flows back through one relation. Borrows the arrays.
struct projected_gradients {
  const_matrix sums;       ///< [rows, width] Of its sums.
  float* scores = nullptr; ///< [edges, heads] Of e.
  matrix queries;          ///< [rows, width] Of its queries.
  /// Likewise, where edges have features; not read otherwise.
  const_matrix feature_sums = {};
  matrix edge_queries = {};
};

/// Backward of rows [begin, end): the gradients of scores and queries of all
/// relations. @param gradients One for each relation, sums filled for all rows.
void attend_across_backward(const projected_attention& task, std::int64_t begin,
                            std::int64_t end,
                            std::span<const projected_gradients> gradients);

/// Adds what one relation has of rows [begin, end) of the gradients of keys and
/// values. @param gradients As `attend_across_backward` has filled them.
/// @param keys, values [sources, width]
void attend_across_sources_backward(
  const projected_attention::relation& relation, std::int64_t heads,
  const transposed_edges& back, const projected_gradients& gradients,
  std::int64_t begin, std::int64_t end, matrix keys, matrix values);

} // namespace graphmill
