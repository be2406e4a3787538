#include "partition/importers/rmat/planted_labels.hpp"

#include "messages/base/random.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace graphmill {

namespace {

/// Streams of `purpose::generate`, told apart by the epoch of their key.
constexpr std::uint64_t feature_stream = 2;
constexpr std::uint64_t projection_stream = 3;
constexpr std::uint64_t class_stream = 4;

constexpr float neighbour_weight = 2;

/// Uniform with mean 0 and variance 1: no function of a mathematics library,
/// whose last bit differs between machines.
float standard_uniform(random_stream& draws) {
  constexpr float root_of_twelve = 3.4641016f;
  return (draws.uniform() - 0.5f) * root_of_twelve;
}

} // namespace

planted_labels::planted_labels(std::int64_t nodes, std::int64_t feature_width,
                               std::int64_t class_count, std::uint64_t seed)
  : nodes_(nodes),
    feature_key_(stream_key(seed, purpose::generate, feature_stream, 0)),
    projection_(feature_width * latent_width),
    classes_(class_count * latent_width), latent_(nodes * latent_width),
    sums_(nodes * latent_width), in_degrees_(nodes) {
  const auto scale = 1 / std::sqrt(static_cast<float>(feature_width));
  random_stream signs{stream_key(seed, purpose::generate, projection_stream, 0),
                      0};
  for (auto& entry : projection_)
    entry = (signs.next() >> 31) != 0 ? scale : -scale;

  random_stream draws{stream_key(seed, purpose::generate, class_stream, 0), 0};
  for (std::int64_t c = 0; c < class_count; ++c) {
    const auto row = std::span{classes_}.subspan(
      static_cast<std::size_t>(c) * latent_width, latent_width);
    float squares = 0;
    for (auto& entry : row) {
      // Three uniform draws are near enough to a normal one for directions
      // that favour no axis.
      entry = standard_uniform(draws) + standard_uniform(draws)
              + standard_uniform(draws);
      squares += entry * entry;
    }
    for (auto& entry : row)
      entry /= std::sqrt(squares);
  }
}

void planted_labels::draw_features(node_id node, std::span<float> row) {
  random_stream draws{feature_key_, static_cast<std::uint64_t>(node)};
  std::array<float, latent_width> sum{};
  const auto* entries = projection_.data();
  for (auto& x : row) {
    x = standard_uniform(draws);
    for (std::size_t k = 0; k < latent_width; ++k)
      sum[k] += x * entries[k];
    entries += latent_width;
  }
  for (std::size_t k = 0; k < latent_width; ++k)
    latent_[node * latent_width + k] = sum[k];
}

std::vector<std::int64_t> planted_labels::labels() const {
  std::vector<std::int64_t> out(nodes_);
  for (node_id node = 0; node < nodes_; ++node) {
    const auto degree = in_degrees_[node];
    const auto weight =
      degree == 0 ? 0.0f : neighbour_weight / static_cast<float>(degree);
    std::array<float, latent_width> point{};
    for (std::size_t k = 0; k < latent_width; ++k)
      point[k] = latent_[node * latent_width + k]
                 + weight * sums_[node * latent_width + k];
    auto best = -std::numeric_limits<float>::infinity();
    for (std::size_t c = 0; c * latent_width < classes_.size(); ++c) {
      float score = 0;
      for (std::size_t k = 0; k < latent_width; ++k)
        score += classes_[c * latent_width + k] * point[k];
      if (score > best) {
        best = score;
        out[node] = static_cast<std::int64_t>(c);
      }
    }
  }
  return out;
}

} // namespace graphmill
