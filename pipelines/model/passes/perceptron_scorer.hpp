#pragma once

#include "pipelines/model/passes/edge_scorer.hpp"

#include <span>
#include <vector>

namespace graphmill {

/// relu(h A + t B + (h t) C + b) O, with the bias b of the edge type: a layer
/// over h, t and h t side by side. What a node gives as source and as
/// destination is computed once for each node; h t and its product for each
/// pair, in pieces, of which backward computes them again.
class perceptron_scorer final : public edge_scorer {
public:
  explicit perceptron_scorer(const setting& how);

  void forward(matrix out) override;
  void backward(const_matrix gradient, const gradients& into,
                matrix nodes) override;

  void begin_ranking(const link_rows::full_list& list) override;
  void score_nodes(std::span<const std::int32_t> rows, std::int64_t begin,
                   matrix out) const override;
  void score_own_nodes(std::span<const std::int32_t> rows,
                       float* out) const override;

private:
  /// One pair, and where its logits are.
  struct pair {
    local_id source;
    local_id destination;
    std::int32_t row;
    std::int32_t slot;
  };

  void add_pair(local_id source, local_id destination, std::int64_t row,
                std::int64_t slot);
  void list_pairs();
  std::int64_t inside() const { return set_.values.hidden_bias.columns; }
  const_matrix weight_of(int part) const;
  void hide(std::int64_t begin, std::int64_t end, matrix products,
            matrix hidden) const;
  void activate(const pair& one, float* z) const;
  void score_classes(matrix out);
  void score_alike(matrix out);
  void make_all_panels();
  owned_matrix panels_of_part(int part) const;
  void score_pairs(std::span<const pair> pairs, float* out) const;
  void pair_gradients(const_matrix gradient, std::int64_t begin,
                      std::int64_t end, matrix products, matrix hidden,
                      const gradients& into) const;

  setting set_;
  std::vector<pair> pairs_;
  owned_matrix as_sources_; ///< [nodes, inside], or for panels filled up.
  owned_matrix as_destinations_;
  owned_matrix as_edges_; ///< [rows, inside] Of features of edges, or empty.
  const link_rows::full_list* ranked_ = nullptr; ///< The present list.
  owned_matrix mixing_; ///< Of one class: panels of the columns of C,
  owned_matrix output_; ///< and of O, filled up with zeros.
};

} // namespace graphmill
