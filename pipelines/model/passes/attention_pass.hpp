#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/attention/attention.hpp"
#include "pipelines/kernels/attention/joint_attention.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/model/passes/attended_edges.hpp"
#include "pipelines/model/passes/joint_edges.hpp"
#include "pipelines/model/passes/message_pass.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace graphmill {

/// y = beta y + what the heads of each row give, times `share`: where y is as
/// wide as all of them, side by side, as they are; where it is as wide as one,
/// their sum.
void join_heads(const_matrix joined, float share, float beta, matrix y);

/// Where each entry of a transposed CSR stands in the forward one, of which it
/// has the first `rows` rows: both list the edges of a source by ascending
/// destination.
pod_vector<std::int64_t>
transposed_positions(const csr& forward, std::int64_t rows, const csr& back,
                     const std::shared_ptr<buffer_pool>& pool);

/// The logarithms of the weights of edges, which attention adds to scores;
/// empty if they have none.
pod_vector<float> logs_of_weights(const csr& edges,
                                  const std::shared_ptr<buffer_pool>& pool);

/// A graph attention layer (Velickovic et al., "Graph attention networks",
/// ICLR'18): all sources are transformed, then attended to. Heads lie side by
/// side in the output, or are averaged (in the last layer). With a weight
/// matrix for destinations, scores are those of `joint_attention`.
class attention_pass final : public message_pass {
public:
  struct setting : message_pass::setting {
    const_matrix source; ///< [heads, width of one]
    /// [heads, width of one], or as `own` says; no data: joint scores.
    const_matrix destination;
    /// h of the destination type, where it is scored by a matrix [its width,
    /// heads], and no node is a source of itself; no columns: as in GAT.
    layer_input own;
    const_matrix destination_weight; ///< Of joint scores; else no data.
    dropout drop;                    ///< Of weights of edges,
    dropout drop_self;               ///< and of nodes for themselves.
    dropout drop_messages;           ///< Of what is summed, behind the scores.
    bool average = false;
    /// Of edges that have features: [edges, any], and what they are multiplied
    /// by, [any, heads * width of one], to be added to rows of sources. No
    /// data: they have none.
    const_matrix edge_features = {};
    const_matrix edge_weight = {};
    const_matrix edge_scores = {};      ///< [heads, width of one] Not if joint.
    const float* log_weights = nullptr; ///< [edges] Null: they weigh 1.
  };

  explicit attention_pass(const setting& options);

  void add_output(std::int64_t begin, std::int64_t end, float beta,
                  matrix y) override;
  void backward(const_matrix gradient, bool input_gradient,
                const targets& into) override;
  void add_input_gradient(std::int64_t begin, std::int64_t end,
                          std::int64_t filled, matrix x) override;
  void add_destination_gradient(std::int64_t begin, std::int64_t end,
                                matrix x) override;

private:
  bool with_self() const { return set_.own.rows.columns == 0; }
  bool joint() const { return set_.destination_weight.data != nullptr; }
  attention task();
  joint_attention joint_task();
  void make_scores();
  void make_messages();
  void make_edges();
  void attend_rows(std::int64_t begin, std::int64_t end, matrix out);
  void scores_backward(const_matrix gradient, const score_gradients& scores,
                       const targets& into);
  void joint_rows_backward(joint_attention work, const_matrix gradient,
                           std::int64_t begin, std::int64_t end,
                           joint_gradients out, matrix of_edges,
                           const targets& into) const;
  void joint_backward(const_matrix gradient, const score_gradients& scores,
                      const targets& into);
  owned_matrix spread_to_heads(const_matrix gradient) const;
  pod_vector<std::int64_t> positions() const;
  transposed_edges transposed(const pod_vector<std::int64_t>& positions) const;
  void add_vector_gradient(const float* scale, std::int64_t rows, float* into);
  void add_pieces_of_vector(const owned_matrix& sums, float* into) const;

  setting set_;
  std::int64_t heads_;
  owned_matrix z_;
  owned_matrix source_scores_;
  owned_matrix destination_scores_;
  owned_matrix weights_;
  owned_matrix self_weights_;
  owned_matrix dropped_weights_; ///< As they are summed with, after dropout.
  owned_matrix dropped_self_;
  owned_matrix messages_; ///< z after dropout, if there is any.
  std::optional<attended_edges> attended_edges_; ///< What edges bring:
  std::optional<joint_edges> joint_edges_;       ///< with joint scores.
  owned_matrix y_;          ///< Of joint scores: the rows of destinations,
  owned_matrix y_gradient_; ///< and their gradient.
  owned_matrix destination_gradients_; ///< Of `destination_scores_`.
  owned_matrix upstream_;              ///< Gradient of z.
};

} // namespace graphmill
