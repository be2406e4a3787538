#include "partition/hot_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace graphmill {

namespace {

node_scores zeros(const dataset_info& info) {
  node_scores out;
  for (const auto& type : info.node_types)
    out.emplace_back(static_cast<std::size_t>(type.count), 0.0);
  return out;
}

/// The probability that one of `degree` in-edges is among those drawn.
double draw_probability(const sampling_plan& plan, std::int32_t fanout,
                        std::int64_t degree) {
  if (fanout < 0)
    return 1;
  const auto share = 1.0 / static_cast<double>(degree);
  if (plan.replace)
    return 1 - std::pow(1 - share, fanout);
  return std::min(1.0, fanout * share);
}

/// One hop over the in-edges that a part has of a type. Adds, for each source,
/// the logarithm of the probability that this edge does not lead to it.
void add_hop(const shard& part, edge_type_id type, const sampling_plan& plan,
             int hop, const node_scores& before, node_scores& not_reached) {
  const auto& about = part.info().edge_types[type];
  const auto fanout = plan.fanouts[hop][type];
  if (fanout == 0)
    return;
  const auto& edges = part.edges(type);
  const auto& owned = part.nodes(about.destination);
  auto& to = not_reached[about.source];
  for (auto id = owned.begin; id < owned.end; ++id) {
    const auto row = id - owned.begin;
    const auto begin = edges.indptr[row];
    const auto end = edges.indptr[row + 1];
    const auto known = before[about.destination][id];
    if (known == 0 || begin == end)
      continue;
    const auto change =
      std::log1p(-known * draw_probability(plan, fanout, end - begin));
    for (auto e = begin; e < end; ++e)
      to[edges.indices[e]] += change;
  }
}

} // namespace

node_scores
inclusion_probabilities(const partitioned_graph& graph,
                        std::span<const std::shared_ptr<const shard>> shards,
                        const sampling_plan& plan,
                        std::span<const node_id> seeds,
                        std::int64_t batch_seeds) {
  const auto& info = graph.info();
  auto before = zeros(info);
  const auto share =
    static_cast<double>(batch_seeds)
    / static_cast<double>(std::max<std::size_t>(seeds.size(), 1));
  for (auto id : seeds)
    before[info.target][id] = std::clamp(share, 0.0, 1.0);
  auto never = zeros(info); // Logarithms, summed over hops.
  for (std::size_t t = 0; t < never.size(); ++t)
    std::transform(before[t].begin(), before[t].end(), never[t].begin(),
                   [](double p) { return std::log1p(-p); });
  for (int hop = 0; hop < plan.hops(); ++hop) {
    auto not_reached = zeros(info);
    for (const auto& part : shards)
      for (std::size_t e = 0; e < info.edge_types.size(); ++e)
        add_hop(*part, static_cast<edge_type_id>(e), plan, hop, before,
                not_reached);
    for (std::size_t t = 0; t < never.size(); ++t)
      for (std::size_t i = 0; i < never[t].size(); ++i) {
        never[t][i] += not_reached[t][i];
        before[t][i] = -std::expm1(not_reached[t][i]);
      }
  }
  for (auto& of_type : never)
    for (auto& value : of_type)
      value = -std::expm1(value);
  return never;
}

node_scores
degree_scores(const partitioned_graph& graph,
              std::span<const std::shared_ptr<const shard>> shards) {
  const auto& info = graph.info();
  auto out = zeros(info);
  for (const auto& part : shards)
    for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
      const auto source = info.edge_types[e].source;
      const auto begin = part->nodes(source).begin;
      const auto& degrees =
        part->edges(static_cast<edge_type_id>(e)).out_degrees;
      for (std::size_t i = 0; i < degrees.size(); ++i)
        out[source][static_cast<std::size_t>(begin) + i] += degrees[i];
    }
  return out;
}

hot_nodes choose_hot_nodes(const partitioned_graph& graph, part_id part,
                           const node_scores& scores, std::uint64_t budget) {
  struct candidate {
    double score;
    node_type_id type;
    node_id id;
  };
  const auto& info = graph.info();
  std::vector<candidate> all;
  for (std::size_t t = 0; t < scores.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    if (info.node_types[t].feature_width == 0)
      continue;
    const auto offsets = graph.offsets(type);
    for (node_id id = 0; id < info.node_types[t].count; ++id)
      if (scores[t][id] > 0 && (id < offsets[part] || id >= offsets[part + 1]))
        all.push_back({scores[t][id], type, id});
  }
  std::sort(all.begin(), all.end(), [](const candidate& a, const candidate& b) {
    return std::tuple{-a.score, a.type, a.id}
           < std::tuple{-b.score, b.type, b.id};
  });
  hot_nodes out;
  out.ids.resize(scores.size());
  for (const auto& one : all) {
    const auto bytes =
      static_cast<std::uint64_t>(info.node_types[one.type].feature_width)
      * sizeof(float);
    if (out.bytes + bytes > budget)
      break;
    out.bytes += bytes;
    out.ids[one.type].push_back(one.id);
  }
  for (auto& ids : out.ids)
    std::sort(ids.begin(), ids.end());
  return out;
}

} // namespace graphmill
