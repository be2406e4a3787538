#include "partition/importers/mutual_pairs.hpp"

#include "messages/base/random.hpp"
#include "partition/dataset/shard.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

namespace graphmill {

namespace {

constexpr std::int64_t most_pairs_kept = std::int64_t{1} << 20;
constexpr std::size_t most_types_told = 5;

/// A pair of nodes, and whether an edge goes from the lower to the higher.
struct directed_pair {
  node_id low;
  node_id high;
  bool up;
  friend auto operator<=>(const directed_pair&, const directed_pair&) = default;
};

/// Sorted, each once: those whose hash ends with zeros under the mask.
std::vector<directed_pair> pairs_in(const dataset::edge_arrays& edges,
                                    std::uint64_t mask) {
  std::vector<directed_pair> kept;
  const auto* begin =
    reinterpret_cast<const std::int64_t*>(edges.indptr.data());
  const id_span sources{edges.indices.data(), edges.indices.size(),
                        edges.indices.type() == dtype::int64};
  for (node_id v = 0; v + 1 < edges.indptr.size(); ++v)
    for (auto i = begin[v]; i < begin[v + 1]; ++i) {
      const auto low = std::min(sources[i], v);
      const auto high = std::max(sources[i], v);
      const auto hash = mix64(mix64(static_cast<std::uint64_t>(low))
                              + static_cast<std::uint64_t>(high));
      if (low != high && (hash & mask) == 0)
        kept.push_back({low, high, low != v});
    }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

std::string share_text(const std::string& name, const pair_counts& counts) {
  const auto share = 100.0 * static_cast<double>(counts.mutual)
                     / static_cast<double>(counts.pairs);
  return fmt::format("{}{:.1f} % of {}", counts.sampled ? "about " : "", share,
                     name);
}

} // namespace

pair_counts count_pairs(const dataset::edge_arrays& edges) {
  const auto times = edges.indices.size() / most_pairs_kept;
  const auto mask = std::bit_ceil(static_cast<std::uint64_t>(times) + 1) - 1;
  const auto kept = pairs_in(edges, mask);
  pair_counts out{.sampled = mask != 0};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto again = i > 0 && kept[i].low == kept[i - 1].low
                       && kept[i].high == kept[i - 1].high;
    ++(again ? out.mutual : out.pairs);
  }
  return out;
}

result<void> note_mutual_pairs(const std::filesystem::path& folder,
                               const edge_plan& plan,
                               const note_callback& on_note) {
  GRAPHMILL_TRY(const auto data, dataset::open(folder));
  std::string told;
  std::size_t types = 0;
  for (std::size_t t = 0; t < plan.reverse.size(); ++t) {
    const auto id = static_cast<edge_type_id>(t);
    const auto& type = data.info().edge_types[t];
    if (type.source != type.destination || plan.rules[t].both_ways
        || plan.reverse[t] >= 0)
      continue;
    const auto counts = count_pairs(data.edges(id));
    if (counts.pairs == counts.mutual || ++types > most_types_told)
      continue;
    told += told.empty() ? "" : ", ";
    told += share_text(data.info().edge_type_name(id), counts);
  }
  if (types > most_types_told)
    told += fmt::format(" and {} more types", types - most_types_told);
  if (types > 0)
    tell_note(on_note,
              "pairs of nodes with edges both ways: {}; edges are directed as "
              "they are listed, and --undirected makes them go both ways",
              told);
  return ok();
}

} // namespace graphmill
