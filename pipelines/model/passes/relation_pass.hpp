#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/kernels/gather_sum.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/model/passes/message_pass.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// What a relation's sums are multiplied by, the same in all layers of a batch:
///
///   m[i] = row[i] * sum over sampled j of w[i, j] * column[j] * h[j]
///          + self[i] * h[i]
///
/// with the weights w of edges (`csr::weights`), or 1 where they have none.
/// With weights that are all 1 the bits are those without.
struct relation_scales {
  pod_vector<float> row;    ///< [destinations]
  pod_vector<float> column; ///< [sources]; empty: all one.
  pod_vector<float> self;   ///< [destinations]; empty: no such term.
};

/// Mean over the sampled in-neighbours, by the weights of edges; zero if there
/// are none, or if their weights add up to zero, or to so little that no normal
/// float is it.
relation_scales mean_scales(const csr& edges, std::int64_t rows);

/// Symmetric normalisation with self-loops (Kipf and Welling, ICLR'17) by the
/// in-degrees d of the full graph: neighbours weigh 1 / sqrt((d_i + 1) (d_j +
/// 1)), times d_i / k_i if only k_i of d_i were sampled (unbiased, and exact
/// with all of them); the node itself weighs 1 / (d_i + 1). Where edges have
/// weights, their sums over the in-edges of the full graph stand for degrees in
/// d + 1, and each neighbour weighs its edge's weight times as much.
/// @param in_weights These sums; empty: edges have no weights.
relation_scales symmetric_scales(const csr& edges, std::int64_t rows,
                                 const pod_vector<std::int32_t>& degrees,
                                 const pod_vector<float>& in_weights);

/// The same without the node itself, and for relations between any node types,
/// by the in-degrees over all relations: neighbours weigh 1 / sqrt(d_i d_j),
/// times d_i / k_i for k_i sampled ones of all relations into i. Where edges
/// have weights, their sums stand for the degrees under the root. What has no
/// in-edge weighs nothing, as a source neither. One for each relation.
std::vector<relation_scales> degree_scales(const model_layout& layout,
                                           const minibatch& batch);

/// The sum over the sampled in-neighbours. It is not scaled up to those that
/// were not sampled: a hub would then weigh as much as thousands of nodes.
relation_scales unit_scales(std::int64_t rows);

/// Those of each relation of a batch, for all destinations that have sampled
/// edges, with the relation's share in a mean over relations.
std::vector<relation_scales> scales_of(const model_layout& layout,
                                       const minibatch& batch);

/// Divides the scales of relations into the same rows by how many of them bring
/// something to a row, which are those with a scale that is not 0.
void average_present(std::span<relation_scales* const> relations);

/// Those of a relation for rows that are in no batch, but for
/// `average_present`.
/// @param degrees In-degrees as `symmetric_scales` takes them, and so
/// @param in_weights; else unused.
relation_scales scales_of(const model_layout& layout, std::size_t relation,
                          const csr& edges, std::int64_t rows,
                          const pod_vector<std::int32_t>& degrees,
                          const pod_vector<float>& in_weights);

/// The messages of one relation in one layer of one step, y += m(h) W, and
/// their gradients. The cheapest of three ways is chosen by counts of rows and
/// edges, when the pass is made: sum, then transform all rows; sum, then
/// transform only the rows that have in-edges; or transform all sources, then
/// sum, which is the same because sums are linear, and the only way of a sparse
/// input. No way makes a row per edge.
/// The choice depends on the batch and on whether gradients will flow back, and
/// never on threads or time, so that results are the same from run to run.
class relation_pass final : public message_pass {
public:
  struct setting : message_pass::setting {
    const relation_scales* scales = nullptr;
    /// What is learnt of the weight of the node itself, which is a term of
    /// weight 1 + epsilon in the place of `relation_scales::self`; null:
    /// nothing is.
    const float* epsilon = nullptr;
  };

  explicit relation_pass(const setting& options);

  void add_output(std::int64_t begin, std::int64_t end, float beta,
                  matrix y) override;
  void backward(const_matrix gradient, bool input_gradient,
                const targets& into) override;
  void add_input_gradient(std::int64_t begin, std::int64_t end,
                          std::int64_t filled, matrix x) override;

private:
  enum class way { sum_all, sum_some, transform_first };

  const pod_vector<float>& self_scales() const;
  void choose();
  void keep_rows_with_edges(std::int64_t count);
  void sum(const_matrix x, std::int64_t begin, std::int64_t end, bool add,
           matrix out) const;
  void transposed_sum(const_matrix x, std::int64_t begin, std::int64_t end,
                      std::int64_t filled, matrix out) const;
  void scatter_rows(std::int64_t begin, std::int64_t end, float beta, matrix y);
  void compact_backward(const_matrix gradient, bool input_gradient,
                        matrix weight_gradient);

  setting set_;
  pod_vector<float> learnt_self_; ///< With `epsilon`: what it comes to.
  way way_ = way::sum_all;
  owned_matrix sums_;                 ///< m(h), of all or of the kept rows.
  owned_matrix transformed_;          ///< h W.
  owned_matrix upstream_;             ///< Gradient of the sums, or of h W.
  pod_vector<local_id> kept_;         ///< sum_some: rows with in-edges.
  pod_vector<std::int64_t> indptr_;   ///< sum_some: of the kept rows.
  pod_vector<float> scales_;          ///< sum_some: row scales of kept rows.
  pod_vector<local_id> back_columns_; ///< sum_some: transposed, as kept rows.
};

} // namespace graphmill
