#pragma once

#include "messages/base/ids.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Features and labels for a graph that has none, made so that a graph neural
/// network can learn them and nothing without the graph can learn them well.
///
/// The features x of a node are independent, uniform, of mean 0 and variance 1.
/// Its label is the class c with the largest
///     w_c . (P x + 2 * mean over in-edges of P x[source]),
/// where P is a random matrix of 16 rows and w_c are random unit vectors: a
/// linear function of what one layer of GraphSAGE sees. Without in-edges the
/// mean is 0. Only 16 numbers per node are kept for the sums, so edges can be
/// streamed; in a fixed order they give the same labels everywhere.
class planted_labels {
public:
  static constexpr std::size_t latent_width = 16;
  static constexpr std::size_t bytes_per_node =
    2 * latent_width * sizeof(float) + sizeof(std::int32_t);

  planted_labels(std::int64_t nodes, std::int64_t feature_width,
                 std::int64_t class_count, std::uint64_t seed);

  /// Draws the features of a node into `row` (of the feature width). To be
  /// called once per node before the first edge.
  void draw_features(node_id node, std::span<float> row);

  /// Adds an edge to the sums of its destination. All features must have been
  /// drawn before, for the sums are of what they have been projected to.
  void add_edge(node_id source, node_id destination) {
    const auto* from = latent_.data() + source * latent_width;
    auto* sum = sums_.data() + destination * latent_width;
    for (std::size_t k = 0; k < latent_width; ++k)
      sum[k] += from[k];
    ++in_degrees_[destination];
  }

  /// The labels of all nodes, once all edges are there.
  std::vector<std::int64_t> labels() const;

private:
  std::int64_t nodes_;
  std::uint64_t feature_key_;
  std::vector<float> projection_; ///< P transposed: [feature width, latent]
  std::vector<float> classes_;    ///< [classes, latent], unit rows.
  std::vector<float> latent_;     ///< P x: [nodes, latent]
  std::vector<float> sums_;       ///< Of P x over in-edges: [nodes, latent]
  std::vector<std::int32_t> in_degrees_;
};

} // namespace graphmill
