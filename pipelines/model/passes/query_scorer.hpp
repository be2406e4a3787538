#pragma once

#include "pipelines/kernels/links/link_queries.hpp"
#include "pipelines/kernels/links/link_scores.hpp"
#include "pipelines/model/passes/edge_scorer.hpp"

#include <vector>

namespace graphmill {

/// One score of each pair, as a comparison of a query of one end with the other
/// end: dot, cosine, distmult, complex, transe, rotate, and bilinear with one
/// class. The query of a row's source meets the destination and all wrong ones;
/// that of its destination meets wrong sources. So a row costs two queries and
/// one comparison for each slot. Joint negatives are compared with all queries
/// at once, where products are meant by a product of matrices.
///
/// What wrong sources give is shifted by what rounding has made of the
/// difference between both ways to score the edge. So a wrong source with the
/// output of the true one ties with it.
class query_scorer final : public edge_scorer {
public:
  explicit query_scorer(const setting& how);

  void forward(matrix out) override;
  void backward(const_matrix gradient, const gradients& into,
                matrix nodes) override;

  void begin_ranking(const link_rows::full_list& list) override;
  void score_nodes(std::span<const std::int32_t> rows, std::int64_t begin,
                   matrix out) const override;
  void score_own_nodes(std::span<const std::int32_t> rows,
                       float* out) const override;

private:
  const_matrix nodes() const;
  link_queries task_of(query_side side) const;
  owned_matrix make_queries(query_side side) const;
  void map_queries(query_side side, const_matrix ends, matrix out) const;
  void score_own(matrix out) const;
  void score_joint(const link_rows::joint_list& list, matrix out) const;
  void add_own_gradients(const_matrix gradient, matrix nodes);
  void add_joint_gradients(const link_rows::joint_list& list,
                           const_matrix gradient, matrix nodes);
  void add_query_gradients(query_side side, const gradients& into,
                           matrix nodes);
  void add_map_gradients(query_side side, const gradients& into);
  const owned_matrix& ranking_queries() const;

  setting set_;
  comparison how_;
  owned_matrix normalised_; ///< The stack, for cosine.
  std::vector<float> inverse_lengths_;
  owned_matrix turned_; ///< Of the angles of rotate.
  /// [rows, width]; the second only if there are negatives of sources.
  owned_matrix from_sources_;
  owned_matrix from_destinations_;
  owned_matrix source_gradients_;
  owned_matrix destination_gradients_;
  const link_rows::full_list* ranked_ = nullptr; ///< The present list.
  pod_vector<float> panels_; ///< Its nodes, if products are meant.
};

} // namespace graphmill
