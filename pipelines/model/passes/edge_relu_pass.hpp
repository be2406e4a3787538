#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/kernels/edge_rows.hpp"
#include "pipelines/model/passes/message_pass.hpp"

#include <cstdint>

namespace graphmill {

/// The messages of a graph isomorphism network over edges with features (GINE;
/// Hu et al., "Strategies for pre-training graph neural networks", ICLR'20):
///
///   m[i] = (1 + epsilon) h[i] + sum over sampled j of
///                               w[i, j] relu(h[j] + e[i, j] E + b)
///
/// and y += m W. Keeps a row for each edge, as wide as h.
class edge_relu_pass final : public message_pass {
public:
  struct setting : message_pass::setting {
    const_matrix features;            ///< [edges, any] e
    const_matrix edge_weight;         ///< [any, columns of h] E
    const float* edge_bias = nullptr; ///< [columns of h] b
    const float* epsilon = nullptr;
  };

  explicit edge_relu_pass(const setting& options);

  void add_output(std::int64_t begin, std::int64_t end, float beta,
                  matrix y) override;
  void backward(const_matrix gradient, bool input_gradient,
                const targets& into) override;
  void add_input_gradient(std::int64_t begin, std::int64_t end,
                          std::int64_t filled, matrix x) override;

private:
  edge_relu task() const;

  setting set_;
  owned_matrix edges_;    ///< e E + b, and in backward its gradient.
  owned_matrix sums_;     ///< m
  owned_matrix upstream_; ///< Gradient of m.
  pod_vector<std::int64_t> positions_; ///< `transposed_positions`
};

} // namespace graphmill
