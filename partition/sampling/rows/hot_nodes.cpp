#include "partition/sampling/rows/hot_nodes.hpp"

#include "partition/sampling/rows/packed_rows.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace graphmill {

namespace {

struct candidate {
  float score = 0;
  node_type_id type = 0;
  node_id id = 0;

  /// Whether it is to be kept rather than the other.
  bool operator<(const candidate& other) const {
    return std::tuple{-score, type, id}
           < std::tuple{-other.score, other.type, other.id};
  }
};

} // namespace

bool kept_as_half(const node_type_info& type, bool half) {
  return !row_form::of(type).packed()
         && (half || type.feature_type == dtype::float16);
}

bool kept_as_half(const edge_type_info& type, bool half) {
  return half || type.feature_type == dtype::float16;
}

std::uint64_t kept_row_bytes(const node_type_info& type, bool half) {
  return row_form::of(type).floats()
         * (kept_as_half(type, half) ? sizeof(std::uint16_t) : sizeof(float));
}

result<void> add_inclusion(const partitioned_graph& graph,
                           std::span<const std::shared_ptr<const shard>> shards,
                           const sampling_scheme& scheme,
                           std::span<const seed_chance> seeds,
                           node_scores& scores,
                           const inclusion_limits& limits) {
  inclusion work{graph, scheme, seeds};
  for (; !work.done(); work.finish_hop())
    for (auto& task : work.tasks())
      for (auto over = false; !over;) {
        const auto& owner = *shards[static_cast<std::size_t>(task.part)];
        GRAPHMILL_TRY(const auto reply,
                      spread(owner, work.request(task), limits));
        GRAPHMILL_TRY(over, work.accept(task, reply));
      }
  work.add_to(scores);
  return ok();
}

void add_degrees(const shard& part, node_scores& scores) {
  const auto& types = part.info().edge_types;
  for (std::size_t e = 0; e < types.size(); ++e) {
    const auto begin = part.nodes(types[e].source).begin;
    const auto& degrees = part.edges(static_cast<edge_type_id>(e)).out_degrees;
    for (std::size_t i = 0; i < degrees.size(); ++i)
      scores[types[e].source][static_cast<std::size_t>(begin) + i] +=
        static_cast<float>(degrees[i]);
  }
}

hot_nodes choose_hot_nodes(const partitioned_graph& graph,
                           std::span<const part_id> here,
                           const node_scores& scores, std::uint64_t budget,
                           bool half) {
  const auto& info = graph.info();
  hot_nodes out;
  out.half = half;
  std::vector<std::uint64_t> row_bytes; // Per type.
  for (const auto& type : info.node_types)
    row_bytes.push_back(kept_row_bytes(type, half));
  std::priority_queue<candidate> kept; // The one to give up first on top.
  const auto consider = [&](const candidate& node) {
    kept.push(node);
    out.bytes += row_bytes[node.type];
    for (; out.bytes > budget; kept.pop())
      out.bytes -= row_bytes[kept.top().type];
  };
  for (std::size_t t = 0; t < scores.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    if (info.node_types[t].feature_width == 0)
      continue;
    const auto offsets = graph.offsets(type);
    for (part_id part = 0; part < graph.part_count(); ++part)
      if (std::find(here.begin(), here.end(), part) == here.end())
        for (auto id = offsets[part]; id < offsets[part + 1]; ++id)
          consider({scores[t][static_cast<std::size_t>(id)], type, id});
  }
  out.ids.resize(scores.size());
  for (; !kept.empty(); kept.pop())
    out.ids[kept.top().type].push_back(kept.top().id);
  for (auto& ids : out.ids)
    std::sort(ids.begin(), ids.end());
  return out;
}

} // namespace graphmill
