#include "partition/sampling/rows/row_census.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace graphmill {

namespace {

/// A node id has fewer bits than where the type begins.
constexpr unsigned type_bit = 48;

/// `mix64` leaves 0 as it is.
constexpr std::uint64_t census_offset = 0x9e3779b97f4a7c15ull;

/// Of what the largest cache would have spared.
constexpr double enough_spared = 0.8;
constexpr double worth_a_word = 0.1;

/// Offers are not finer than that, nor larger than memory can be.
constexpr std::uint64_t least_offer = std::uint64_t{1} << 20;
constexpr std::uint64_t most_offer = std::uint64_t{1} << 62;

bool is_counted(std::uint64_t hash, unsigned halvings) {
  return hash <= std::numeric_limits<std::uint64_t>::max() >> halvings;
}

} // namespace

void row_census::add(node_type_id type, std::span<const node_id> ids,
                     std::uint64_t row_bytes) {
  const auto of_type = static_cast<std::uint64_t>(type) << type_bit;
  std::lock_guard lock{mutex_};
  for (const auto id : ids) {
    const auto hash =
      mix64((of_type ^ static_cast<std::uint64_t>(id)) + census_offset);
    if (!is_counted(hash, halvings_))
      continue;
    auto& node = nodes_[hash];
    ++node.times;
    node.bytes = row_bytes;
    if (nodes_.size() > most_nodes)
      forget_half();
  }
}

void row_census::forget_half() {
  ++halvings_;
  std::erase_if(nodes_, [this](const auto& node) {
    return !is_counted(node.first, halvings_);
  });
}

cache_offer row_census::offer() const {
  std::vector<wanted> nodes;
  unsigned halvings = 0;
  {
    std::lock_guard lock{mutex_};
    nodes.reserve(nodes_.size());
    for (const auto& [hash, node] : nodes_)
      nodes.push_back(node);
    halvings = halvings_;
  }
  std::ranges::sort(nodes, std::greater<>{}, &wanted::times);
  double asked = 0;
  double most = 0;
  for (const auto& node : nodes) {
    asked += double(node.times);
    most += double(node.times - 1);
  }
  if (asked == 0 || most / asked < worth_a_word)
    return {};
  // The sample stands for all nodes.
  const auto of_all = [halvings](std::uint64_t bytes) {
    return std::ldexp(double(bytes), static_cast<int>(halvings));
  };
  cache_offer out{least_offer, 0};
  double spared = 0;
  std::uint64_t bytes = 0;
  for (const auto& node : nodes) {
    bytes += node.bytes;
    while (double(out.bytes) < of_all(bytes)) {
      if (spared >= enough_spared * most || out.bytes > most_offer / 2)
        return out;
      out.bytes *= 2;
    }
    spared += double(node.times - 1);
    out.spared = spared / asked;
  }
  return out;
}

} // namespace graphmill
