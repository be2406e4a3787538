#include "partition/partitioners/methods/multilevel.hpp"

#include "messages/base/random.hpp"
#include "partition/partitioners/methods/clustering.hpp"
#include "partition/partitioners/methods/contraction.hpp"
#include "partition/partitioners/methods/refinement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace graphmill {

namespace {

/// Entries that METIS cuts in a few seconds.
constexpr std::int64_t few_entries = std::int64_t{1} << 21;

/// Entries per vertex that coarse graphs may have, and the bounds of all their
/// entries: fewer than the lower one would save nothing worth having, and more
/// than the upper one METIS could not add up in 32 bits.
constexpr std::int64_t entries_per_vertex = 8;
constexpr std::int64_t least_entries = std::int64_t{1} << 20;
constexpr std::int64_t most_entries = std::int64_t{1} << 30;

/// How many clusters of the largest size make up a part: so many that METIS can
/// balance parts within its tolerance by moving clusters.
constexpr std::int64_t clusters_per_part = 20;

/// Coarsening ends with a level that has more than this share of the vertices
/// of the one before: further levels would shrink as little.
constexpr double least_shrinking = 0.9;

/// The weight of all vertices together in one constraint, for `sizes_of`: large
/// enough for shares of single vertices to be whole numbers.
constexpr double unit = 1LL << 40;

/// A graph on the way from the vertices to the one that METIS cuts.
struct level {
  clustering clusters; ///< Of the level before, or of the vertices.
  cluster_loads loads;
  adjacency graph;
};

/// What each vertex weighs: its shares of all constraints, added up, so that a
/// cluster that is small by this weight is small in each of them.
template <class Loads>
std::vector<std::int64_t> sizes_of(const Loads& loads,
                                   const std::vector<int>& constraints) {
  std::vector<double> scale(loads.constraints());
  for (auto c : constraints)
    scale[c] = unit / static_cast<double>(loads.total(c));
  std::vector<std::int64_t> out(loads.size());
  for (vertex_id v = 0; v < loads.size(); ++v)
    for (const auto& [c, weight] : loads.items(v))
      out[v] += std::llround(static_cast<double>(weight) * scale[c]);
  return out;
}

class multilevel {
public:
  multilevel(const undirected_view& graph, const vertex_loads& loads,
             const std::vector<int>& constraints, const metis_options& options,
             monitor& watch)
    : graph_(graph), loads_(loads), constraints_(constraints),
      options_(options), watch_(watch) {}

  result<multilevel_outcome> run() {
    GRAPHMILL_TRYV(add_level(graph_, loads_));
    while (levels_.back().graph.entries() > few_entries) {
      const auto before = static_cast<double>(levels_.back().graph.size());
      GRAPHMILL_TRYV(add_level(levels_.back().graph, levels_.back().loads));
      if (static_cast<double>(levels_.back().graph.size())
          > least_shrinking * before)
        break;
    }
    GRAPHMILL_TRY(auto out, cut_coarsest());
    GRAPHMILL_TRYV(refine_levels(out.assignment));
    return out;
  }

private:
  template <class Graph, class Loads>
  result<void> add_level(const Graph& graph, const Loads& loads) {
    const auto key =
      stream_key(options_.seed, purpose::partition, levels_.size(), 0);
    GRAPHMILL_TRY(
      auto clusters,
      find_clusters(graph,
                    {.weights = sizes_of(loads, constraints_),
                     .most_weight = static_cast<std::int64_t>(unit)
                                    / (clusters_per_part * options_.parts),
                     .key = key},
                    watch_));
    GRAPHMILL_TRY(auto coarse,
                  contract(graph, clusters,
                           std::clamp(entries_per_vertex * graph_.size(),
                                      least_entries, most_entries),
                           key, watch_));
    cluster_loads sums{loads, clusters.of, clusters.count};
    levels_.push_back(
      {std::move(clusters), std::move(sums), std::move(coarse)});
    return ok();
  }

  result<multilevel_outcome> cut_coarsest() {
    const auto& coarsest = levels_.back();
    GRAPHMILL_TRY(auto found, partition_by_metis(coarsest.graph, coarsest.loads,
                                                 constraints_, options_));
    return multilevel_outcome{
      std::move(found.assignment), coarsest.graph.size(),
      coarsest.graph.entries() / 2, found.peak_memory_bytes};
  }

  result<void> refine_levels(std::vector<part_id>& assignment) {
    for (; !levels_.empty(); levels_.pop_back()) {
      const auto& [clusters, loads, graph] = levels_.back();
      basic_part_loads<cluster_loads> held{loads, options_.parts, assignment};
      GRAPHMILL_TRYV(refine(graph, held, assignment, watch_));
      std::vector<part_id> finer(clusters.of.size());
      for (std::size_t v = 0; v < finer.size(); ++v)
        finer[v] = assignment[clusters.of[v]];
      assignment = std::move(finer);
    }
    part_loads held{loads_, options_.parts, assignment};
    return refine(graph_, held, assignment, watch_);
  }

  const undirected_view& graph_;
  const vertex_loads& loads_;
  const std::vector<int>& constraints_;
  const metis_options& options_;
  monitor& watch_;
  std::vector<level> levels_; ///< From fine to coarse.
};

} // namespace

result<multilevel_outcome>
partition_by_multilevel(const undirected_view& graph, const vertex_loads& loads,
                        const std::vector<int>& constraints,
                        const metis_options& options, monitor& watch) {
  return multilevel{graph, loads, constraints, options, watch}.run();
}

} // namespace graphmill
