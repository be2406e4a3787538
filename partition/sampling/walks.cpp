#include "partition/sampling/walks.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

/// What is drawn besides the steps, where walks are kept: by a key of its own,
/// and a stream for each walk and step. It decides batches, so it must not
/// change.
random_stream own_draws(std::uint64_t key, std::int64_t token, int step) {
  return {mix64(key ^ 0x70696e5f77616c6bull), static_cast<std::uint64_t>(token),
          static_cast<std::uint32_t>(step)};
}

} // namespace

// -- visit_walks

visit_walks::visit_walks(const walk_rule& rule, std::uint64_t key,
                         std::span<const node_id> starts, bool alternates)
  : rule_(rule), key_(key), starts_(starts.begin(), starts.end()),
    alternates_(alternates), places_(starts_) {}

void visit_walks::take(std::span<const std::int64_t> ends,
                       std::span<const node_id> sources,
                       std::span<const edge_id> edges) {
  const auto counts = !turns();
  const auto before = std::exchange(origins_, {});
  const auto tokens = std::exchange(tokens_, {});
  places_.clear();
  std::int64_t at = 0;
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (const auto first = at; at < ends[i]; ++at) {
      const auto source = sources[static_cast<std::size_t>(at)];
      const auto start = step_ == 1 ? static_cast<std::int32_t>(i) : before[i];
      // A node is no neighbour of its own.
      if (counts
          && (alternates_
              || starts_[static_cast<std::size_t>(start)] != source))
        visits_.push_back({start, source});
      places_.push_back(source);
      origins_.push_back(start);
      tokens_.push_back(step_ == 1
                          ? edges[static_cast<std::size_t>(at)] * rule_.walks
                              + (at - first)
                          : tokens[i]);
    }
  go_on();
}

/// Ends walks before the next step.
void visit_walks::go_on() {
  ++step_;
  if (step_ > rule_.length)
    places_.clear();
  std::size_t left = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (own_draws(key_, tokens_[i], step_).next() < rule_.stop)
      continue;
    places_[left] = places_[i];
    origins_[left] = origins_[i];
    tokens_[left++] = tokens_[i];
  }
  places_.resize(left);
  origins_.resize(left);
  tokens_.resize(left);
}

visit_walks::visited visit_walks::most_visited(std::int32_t most) const {
  visited out;
  std::vector<std::size_t> begins(starts_.size() + 1);
  for (const auto& visit : visits_)
    ++begins[static_cast<std::size_t>(visit.start) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::pair<node_id, std::int64_t>> nodes(visits_.size());
  auto next = begins;
  for (std::size_t i = 0; i < visits_.size(); ++i)
    nodes[next[static_cast<std::size_t>(visits_[i].start)]++] = {
      visits_[i].node, static_cast<std::int64_t>(i)};
  struct counted {
    std::int64_t visits = 0;
    std::int64_t first = 0;
    node_id node = 0;
  };
  std::vector<counted> counts;
  for (std::size_t start = 0; start < starts_.size(); ++start) {
    const auto begin =
      nodes.begin() + static_cast<std::ptrdiff_t>(begins[start]);
    const auto end =
      nodes.begin() + static_cast<std::ptrdiff_t>(begins[start + 1]);
    std::sort(begin, end);
    counts.clear();
    for (auto at = begin; at != end; ++at) {
      if (at == begin || std::prev(at)->first != at->first)
        counts.push_back({0, at->second, at->first});
      ++counts.back().visits;
    }
    std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
      return a.visits != b.visits ? a.visits > b.visits : a.first < b.first;
    });
    if (most >= 0 && std::cmp_greater(counts.size(), most))
      counts.resize(static_cast<std::size_t>(most));
    for (const auto& one : counts) {
      out.nodes.push_back(one.node);
      out.visits.push_back(static_cast<float>(one.visits));
    }
    out.ends.push_back(std::ssize(out.nodes));
  }
  return out;
}

// -- root_walks

root_walks::root_walks(const dataset_info& info, const walk_rule& rule,
                       std::uint64_t key, std::vector<bool> used,
                       const std::vector<std::vector<node_id>>& seeds)
  : info_(info), rule_(rule), key_(key), used_(std::move(used)),
    visited_(info.node_types.size()) {
  for (std::size_t t = 0; t < seeds.size(); ++t)
    for (const auto id : seeds[t])
      walkers_.push_back({static_cast<node_type_id>(t), id});
  prepare();
}

void root_walks::prepare() {
  moves_.assign(info_.edge_types.size(), {});
  offers_.clear();
  for (std::size_t e = 0; e < moves_.size() && !over(); ++e)
    for (std::size_t w = 0; used_[e] && w < walkers_.size(); ++w) {
      const auto& walker = walkers_[w];
      if (walker.type != info_.edge_types[e].destination)
        continue;
      moves_[e].places.push_back(walker.node);
      moves_[e].walkers.push_back(w);
      if (step_ > 1)
        moves_[e].tokens.push_back(walker.token);
    }
}

void root_walks::offer(edge_type_id type, std::span<const std::int64_t> ends,
                       std::span<const node_id> sources,
                       std::span<const edge_id> edges) {
  const auto& walkers = moves_[static_cast<std::size_t>(type)].walkers;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (; at < ends[i]; ++at)
      offers_.push_back({walkers[i], type,
                         sources[static_cast<std::size_t>(at)],
                         step_ == 1 ? edges[static_cast<std::size_t>(at)] : 0});
}

void root_walks::follow(const offered& chosen) {
  auto& walker = walkers_[chosen.walker];
  const auto source =
    info_.edge_types[static_cast<std::size_t>(chosen.type)].source;
  if (step_ == 1)
    walker.token = chosen.edge * std::ssize(info_.edge_types) + chosen.type;
  walker.type = source;
  walker.node = chosen.source;
  visited_[static_cast<std::size_t>(source)].push_back(chosen.source);
}

void root_walks::finish_step() {
  // Offers came type by type, and a walk chooses among its own.
  std::stable_sort(
    offers_.begin(), offers_.end(),
    [](const auto& a, const auto& b) { return a.walker < b.walker; });
  std::vector<bool> moved(walkers_.size());
  for (std::size_t i = 0, end = 0; i < offers_.size(); i = end) {
    const auto& first = offers_[i];
    while (end < offers_.size() && offers_[end].walker == first.walker)
      ++end;
    const auto token =
      step_ == 1 ? first.edge * std::ssize(info_.edge_types) + first.type
                 : walkers_[first.walker].token;
    moved[first.walker] = true;
    follow(offers_[i
                   + own_draws(key_, token, step_)
                       .below(static_cast<std::uint32_t>(end - i))]);
  }
  std::size_t left = 0; // Walks end where no edge leads on.
  for (std::size_t w = 0; w < walkers_.size(); ++w)
    if (moved[w])
      walkers_[left++] = walkers_[w];
  walkers_.resize(left);
  ++step_;
  prepare();
}

} // namespace graphmill
