#include "partition/sampling/inclusion.hpp"

#include "partition/files/mapped_file.hpp"
#include "partition/files/page_requests.hpp"
#include "partition/sampling/id_table.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

/// Asks for the pages that `spread` will read, in case the part is on disk. The
/// request has been checked, but not the lists: their places are clamped, since
/// a hint must not fail.
void request_pages(const shard& part, const inclusion_request& request,
                   const inclusion_limits& limits) {
  const auto& edges = part.edges(request.edge_type);
  const auto type = part.info().edge_types[request.edge_type].destination;
  const auto first = request.first - part.nodes(type).begin;
  const auto lists = edges.indptr.subspan(static_cast<std::size_t>(first),
                                          request.chances.size() + 1);
  page_requests pages;
  pages.add(lists.data(), lists.size_bytes());
  pages.send();
  const auto size = edges.indices.size;
  const auto start = std::clamp<std::int64_t>(lists.front(), 0, size);
  const auto end = std::clamp<std::int64_t>(lists.back(), start, size);
  const auto begin =
    start + std::clamp<std::int64_t>(request.skip, 0, end - start);
  const std::int64_t width = edges.indices.wide ? 8 : 4;
  pages.add(
    edges.indices.data + begin * width,
    static_cast<std::size_t>(std::min(end - begin, limits.edges) * width));
  pages.send();
}

/// The most destinations of a request: their chances, 4 bytes each, fill a
/// frame of a message (`max_frame_bytes`).
constexpr std::int64_t most_destinations = std::int64_t{1} << 18;

/// How likely in-edges of a node are taken, in logarithms of their opposites.
class list_misses {
public:
  /// @param chance Of the node.
  /// @param begin, end Its list in the part, which is sound.
  list_misses(const edge_shard& edges, const draw_rule& rule, double chance,
              std::int64_t begin, std::int64_t end)
    : chance_(chance), fanout_(rule.fanout),
      equal_(std::log1p(-chance * rule.chance(end - begin))) {
    if (rule.takes_whole(end - begin) || edges.weights.empty()
        || without_weights(rule.kind) == rule.kind)
      return;
    for (auto i = begin; i < end; ++i)
      sum_ += edges.weights[static_cast<std::size_t>(i)];
    if (sum_ > 0)
      weights_ = edges.weights.data();
  }

  /// Of in-edge `i` of the part.
  double of(std::int64_t i) const {
    if (weights_ == nullptr)
      return equal_;
    const auto share = std::clamp(weights_[i] / sum_, 0.0, 1.0);
    return std::log1p(-chance_ * (1 - std::pow(1 - share, fanout_)));
  }

private:
  double chance_;
  double fanout_;
  double equal_;                   ///< Of each, unless they differ.
  const float* weights_ = nullptr; ///< Of the part; null: they do not differ.
  double sum_ = 0;
};

/// Adds up what edges say about their sources: per source, a sum of logarithms
/// in double precision. Sources are numbered as they come, so that memory grows
/// with what is reached and not with the graph.
class spreader {
public:
  spreader(const shard& part, const inclusion_request& request,
           const inclusion_limits& limits)
    : edges_(part.edges(request.edge_type)), limits_(limits),
      nodes_(part.info()
               .node_types[part.info().edge_types[request.edge_type].source]
               .count),
      table_(nodes_, nullptr) {}

  /// Takes in-edges [from, to) of the part's list, as far as the limits allow.
  /// @returns the first one that was not taken; an error if one of them comes
  /// from no node.
  result<std::int64_t> take(std::int64_t from, std::int64_t to,
                            const list_misses& misses) {
    const auto known = static_cast<std::int64_t>(reply.sources.size());
    const auto most = std::min(limits_.edges - taken_, limits_.sources - known);
    to = std::min(to, from + std::max<std::int64_t>(most, 0));
    const auto count = static_cast<std::size_t>(to - from);
    for (auto i = from; i < to; ++i)
      if (const auto id = edges_.indices[i]; id < 0 || id >= nodes_)
        return fail(ec::invalid_data,
                    "an edge comes from node {}, but there are {} nodes; "
                    "`graphmill inspect` says what else is broken",
                    id, nodes_);
    places_.resize(count);
    if (edges_.indices.wide)
      number<std::int64_t>(from, count);
    else
      number<std::int32_t>(from, count);
    sums_.resize(reply.sources.size(), 0.0);
    for (std::size_t i = 0; i < count; ++i)
      sums_[static_cast<std::size_t>(places_[i])] +=
        misses.of(from + static_cast<std::int64_t>(i));
    taken_ += to - from;
    return to;
  }

  inclusion_reply finish() {
    reply.misses.resize(sums_.size());
    std::transform(sums_.begin(), sums_.end(), reply.misses.begin(),
                   [](double sum) { return static_cast<float>(sum); });
    return std::move(reply);
  }

  inclusion_reply reply;

private:
  template <class Id>
  void number(std::int64_t from, std::size_t count) {
    const auto* ids = reinterpret_cast<const Id*>(edges_.indices.data) + from;
    table_.number(std::span{ids, count}, places_.data(), reply.sources);
  }

  const edge_shard& edges_;
  inclusion_limits limits_;
  std::int64_t nodes_; ///< Of the type of the sources.
  id_table table_;
  pod_vector<local_id> places_;
  std::vector<double> sums_;
  std::int64_t taken_ = 0;
};

result<void> check(const shard& part, const inclusion_request& request) {
  const auto types = part.info().edge_types.size();
  if (request.edge_type < 0
      || static_cast<std::size_t>(request.edge_type) >= types)
    return fail(ec::invalid_argument, "there is no edge type {}",
                request.edge_type);
  GRAPHMILL_TRYV(request.rule.check());
  const auto type = part.info().edge_types[request.edge_type].destination;
  const auto& owned = part.nodes(type);
  const auto count = static_cast<std::int64_t>(request.chances.size());
  if (request.first < owned.begin || request.first > owned.end
      || count > owned.end - request.first)
    return fail(ec::invalid_argument,
                "nodes {} and {} more of type \"{}\" are not in part {}, which "
                "owns [{}, {})",
                request.first, count, part.info().node_types[type].name,
                part.part(), owned.begin, owned.end);
  for (auto chance : request.chances)
    if (!(chance >= 0 && chance <= 1))
      return fail(ec::invalid_argument, "{} is no probability", chance);
  return ok();
}

} // namespace

result<inclusion_reply> spread(const shard& part,
                               const inclusion_request& request,
                               const inclusion_limits& limits) {
  GRAPHMILL_TRYV(check(part, request));
  request_pages(part, request, limits);
  spreader work{part, request, limits};
  auto& [nodes, edges, sources, misses] = work.reply;
  const auto type = part.info().edge_types[request.edge_type].destination;
  const auto* list = part.edges(request.edge_type).indptr.data()
                     + (request.first - part.nodes(type).begin);
  const auto total = part.edges(request.edge_type).indices.size;
  edges = std::clamp<std::int64_t>(request.skip, 0, total);
  for (auto chance : request.chances) {
    const auto begin = list[nodes];
    const auto end = list[nodes + 1];
    const auto sound = begin >= 0 && begin <= end && end <= total;
    // A file that was truncated while mapped reads as zeros; that is no error
    // here, for who asks reports it by the file's name.
    if (chance > 0 && !sound && !mapped_file::first_fault())
      return fail(ec::invalid_data,
                  "the list of in-edges of node {} goes from {} to {} of {} "
                  "edges; `graphmill inspect` says what else is broken",
                  request.first + nodes, begin, end, total);
    if (chance > 0 && sound && begin + edges < end) {
      const list_misses changes{part.edges(request.edge_type), request.rule,
                                chance, begin, end};
      GRAPHMILL_TRY(const auto taken, work.take(begin + edges, end, changes));
      edges = taken - begin;
      if (begin + edges < end)
        break; // The limits are reached; the next request goes on here.
    }
    ++nodes;
    edges = 0;
  }
  return work.finish();
}

// -- inclusion

node_scores no_scores(const dataset_info& info) {
  node_scores out;
  for (const auto& type : info.node_types)
    out.emplace_back(static_cast<std::size_t>(type.count), 0.0F);
  return out;
}

inclusion::inclusion(const partitioned_graph& graph,
                     const sampling_scheme& scheme,
                     std::span<const seed_chance> seeds)
  : graph_(graph), scheme_(scheme), chances_(no_scores(graph.info())),
    never_(no_scores(graph.info())) {
  for (const auto& type : graph.info().node_types)
    misses_.emplace_back(static_cast<std::size_t>(type.count), 0.0);
  for (const auto& seed : seeds) {
    const auto type =
      seed.type == seed_chance::target ? graph.info().target : seed.type;
    chances_[type][seed.id] = seed.chance;
    never_[type][seed.id] = std::log1p(-seed.chance);
  }
}

std::vector<inclusion::task> inclusion::tasks() const {
  std::vector<task> out;
  const auto& info = graph_.info();
  for (part_id part = 0; part < graph_.part_count(); ++part)
    for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
      if (scheme_.fanouts[hop_][e] == 0)
        continue;
      const auto type = info.edge_types[e].destination;
      const auto& chances = chances_[type];
      const auto offsets = graph_.offsets(type);
      for (auto from = offsets[part]; from < offsets[part + 1];
           from += most_destinations) {
        const auto begin = chances.begin() + from;
        const auto end =
          begin + std::min(most_destinations, offsets[part + 1] - from);
        const auto reached = [](float chance) { return chance > 0; };
        const auto first = std::find_if(begin, end, reached);
        const auto last = std::find_if(std::reverse_iterator{end},
                                       std::reverse_iterator{first}, reached)
                            .base();
        if (first != last)
          out.push_back({part, static_cast<edge_type_id>(e),
                         first - chances.begin(), last - first, 0});
      }
    }
  return out;
}

inclusion_request inclusion::request(const task& next) const {
  const auto type = graph_.info().edge_types[next.edge_type].destination;
  return {
    next.edge_type, scheme_.rule(hop_, next.edge_type), next.first, next.skip,
    std::span{chances_[type]}.subspan(static_cast<std::size_t>(next.first),
                                      static_cast<std::size_t>(next.count))};
}

result<bool> inclusion::accept(task& next, const inclusion_reply& reply) {
  const auto moves =
    reply.nodes > 0 || (next.count > 0 && reply.edges > next.skip);
  if (reply.nodes < 0 || reply.nodes > next.count || reply.edges < 0 || !moves
      || (reply.nodes == next.count && reply.edges != 0)
      || reply.sources.size() != reply.misses.size())
    return fail(ec::invalid_data,
                "an answer about {} nodes is about {}, and {} edges",
                next.count, reply.nodes, reply.edges);
  auto& to = misses_[graph_.info().edge_types[next.edge_type].source];
  for (std::size_t i = 0; i < reply.sources.size(); ++i) {
    const auto id = reply.sources[i];
    if (id < 0 || static_cast<std::size_t>(id) >= to.size()
        || !(reply.misses[i] <= 0))
      return fail(ec::invalid_data, "node {} came with the chance exp({})", id,
                  reply.misses[i]);
    to[static_cast<std::size_t>(id)] += reply.misses[i];
  }
  next.first += reply.nodes;
  next.count -= reply.nodes;
  next.skip = reply.edges;
  return next.count == 0;
}

void inclusion::finish_hop() {
  ++hop_;
  for (std::size_t t = 0; t < misses_.size(); ++t)
    for (std::size_t i = 0; i < misses_[t].size(); ++i) {
      const auto miss = std::exchange(misses_[t][i], 0.0);
      never_[t][i] += static_cast<float>(miss);
      chances_[t][i] = static_cast<float>(-std::expm1(miss));
    }
}

void inclusion::add_to(node_scores& scores) const {
  for (std::size_t t = 0; t < never_.size(); ++t)
    for (std::size_t i = 0; i < never_[t].size(); ++i)
      scores[t][i] += -std::expm1(never_[t][i]);
}

} // namespace graphmill
