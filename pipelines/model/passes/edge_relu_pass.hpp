#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/edge_relu.hpp"
#include "pipelines/model/passes/message_pass.hpp"

#include <cstdint>

namespace graphmill {

/// The messages of a graph isomorphism network over edges with features (GINE;
/// Hu et al., "Strategies for pre-training graph neural networks", ICLR'20):
///
///   m[i] = (1 + epsilon) h[i] + sum over sampled j of
///                               w[i, j] relu(h[j] + e[i, j] E + b)
///
/// and y += m W. Keeps a bit for each edge and column of h.
class edge_relu_pass final : public message_pass {
public:
  struct setting : message_pass::setting {
    const_matrix features;            ///< [edges, any] e
    const_matrix edge_weight;         ///< [any, columns of h] E
    const float* edge_bias = nullptr; ///< [columns of h] b
    const float* epsilon = nullptr;
    bool training = false; ///< There is a backward.
  };

  explicit edge_relu_pass(const setting& options);

  void add_output(std::int64_t begin, std::int64_t end, float beta,
                  matrix y) override;
  void backward(const_matrix gradient, bool input_gradient,
                const targets& into) override;
  void add_input_gradient(std::int64_t begin, std::int64_t end,
                          std::int64_t filled, matrix x) override;

private:
  edge_relu task();
  void edges_backward(const targets& into);

  setting set_;
  owned_matrix weight_; ///< `edge_relu_weight`
  owned_matrix sums_;   ///< m
  pod_vector<std::uint8_t>
    signs_;               ///< `edge_relu::signs`, if there is backward.
  owned_matrix upstream_; ///< Gradient of m.
  pod_vector<std::int64_t> positions_; ///< `transposed_positions`
};

} // namespace graphmill
