#include "partition/sampling/node_budget.hpp"

#include "messages/base/random.hpp"
#include "partition/sampling/draws.hpp"
#include "partition/sampling/keyed_draws.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

constexpr std::uint64_t one = std::uint64_t{1} << 32; ///< Of sums.

/// Of the key of what is drawn of nodes; it decides batches, so it must not
/// change.
constexpr std::uint64_t own_key(std::uint64_t key) {
  return mix64(key ^ 0x6867745f6e6f6465ull);
}

} // namespace

node_budget::node_budget(std::int64_t universe,
                         std::shared_ptr<buffer_pool> pool)
  : table_(universe, pool), ids_(std::move(pool)) {}

std::span<const local_id> node_budget::places(std::span<const node_id> ids) {
  places_.resize(ids.size());
  table_.number(ids, places_.data(), ids_);
  nodes_.resize(ids_.size());
  return places_;
}

void node_budget::hold(std::span<const node_id> ids) {
  for (const auto place : places(ids))
    nodes_[static_cast<std::size_t>(place)].held = true;
}

void node_budget::propose(edge_type_id type, std::span<const node_id> sources,
                          std::span<const edge_id> edges) {
  if (sources.empty())
    return;
  const auto share = one / sources.size();
  const auto of = places(sources);
  for (std::size_t i = 0; i < of.size(); ++i) {
    auto& node = nodes_[static_cast<std::size_t>(of[i])];
    if (node.sum == 0
        || std::tie(type, edges[i]) < std::tie(node.type, node.edge)) {
      node.type = type;
      node.edge = edges[i];
    }
    node.sum += share;
  }
}

std::vector<node_id> node_budget::take(std::int64_t count, std::uint64_t key,
                                       int hop) {
  struct candidate {
    double key = 0;
    edge_type_id type = 0;
    edge_id edge = 0;
    std::size_t place = 0;
    auto order() const { return std::tie(key, type, edge); }
  };
  std::vector<candidate> all;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto& node = nodes_[i];
    if (node.held)
      continue;
    const auto words =
      philox4x32(counter_of(static_cast<std::uint64_t>(node.edge),
                            draw_middle(hop, node.type), 0),
                 own_key(key));
    const auto sum = static_cast<double>(node.sum);
    const auto log =
      static_cast<double>(minus_log2(std::uint64_t{words[0]} << 32 | words[1]));
    all.push_back({log / (sum * sum), node.type, node.edge, i});
  }
  if (std::cmp_less(count, all.size())) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(
      all.begin(), end, all.end(),
      [](const auto& a, const auto& b) { return a.order() < b.order(); });
    all.erase(end, all.end());
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
  std::vector<node_id> out;
  for (const auto& taken : all) {
    nodes_[taken.place].held = true;
    out.push_back(ids_[taken.place]);
  }
  return out;
}

} // namespace graphmill
