#include "partition/partitioners/methods/clustering.hpp"

#include "messages/base/random.hpp"
#include "partition/partitioners/graph/adjacency.hpp"
#include "partition/partitioners/graph/undirected_view.hpp"

#include <algorithm>
#include <numeric>

namespace graphmill {

namespace {

constexpr int most_clustering_sweeps = 3;

/// A sweep that moves less than one in so many vertices is the last one.
constexpr std::int64_t least_moved = 50;

/// A vertex with more than this many times the mean degree is a hub.
constexpr std::int64_t hub_factor = 32;

/// Degrees of a class reach up to this many times its least one. Vertices are
/// taken class by class instead of being sorted by degree, which would take
/// memory for their order.
constexpr std::int64_t class_factor = 4;

constexpr cluster_id no_cluster = most_clustered;

template <class Graph>
class clusterer {
public:
  clusterer(const Graph& graph, const clustering_options& options,
            monitor& watch)
    : graph_(graph), options_(options), watch_(watch), of_(graph.size()),
      held_(options.weights.begin(), options.weights.end()),
      links_(graph.size()) {
    std::iota(of_.begin(), of_.end(), cluster_id{0});
    hub_degree_ =
      std::max<std::int64_t>(1, hub_factor * graph.entries()
                                  / std::max<std::int64_t>(1, graph.size()));
  }

  result<clustering> run() {
    for (int sweep = 0; sweep < most_clustering_sweeps; ++sweep) {
      GRAPHMILL_TRY(const auto moved, run_sweep());
      if (moved < graph_.size() / least_moved)
        break;
    }
    GRAPHMILL_TRYV(join_left_over());
    return numbered();
  }

private:
  /// The cluster that most edges of a vertex lead to, with room and without.
  struct choice {
    cluster_id with_room = no_cluster;
    cluster_id any = no_cluster;
  };

  result<vertex_id> run_sweep() {
    vertex_id moved = 0;
    for (std::int64_t from = 0; from <= hub_degree_;) {
      const auto to = std::min(std::max(from, std::int64_t{1}) * class_factor,
                               hub_degree_ + 1);
      for (vertex_id v = 0; v < graph_.size(); ++v) {
        GRAPHMILL_TRYV(tell(v));
        if (const auto degree = graph_.degree(v); degree >= from && degree < to)
          moved += move(v, choose(v).with_room);
      }
      from = to;
    }
    return moved;
  }

  /// Vertices whose favourite cluster has no room, and those without edges, are
  /// joined to others like them.
  result<void> join_left_over() {
    std::vector<std::uint8_t> is_shared(of_.size());
    for (vertex_id v = 0; v < graph_.size(); ++v)
      if (of_[v] != v)
        is_shared[of_[v]] = 1;
    // By favourite cluster, which vertex left over is to be joined next; the
    // last element is for vertices without a favourite.
    std::vector<cluster_id> open(of_.size() + 1, no_cluster);
    for (vertex_id v = 0; v < graph_.size(); ++v) {
      GRAPHMILL_TRYV(tell(v));
      if (of_[v] != v || is_shared[v] || graph_.degree(v) > hub_degree_)
        continue;
      const auto favourite = choose(v).any;
      auto& target = open[favourite == no_cluster ? of_.size() : favourite];
      if (target != no_cluster && has_room(target, v))
        move(v, target);
      else
        target = static_cast<cluster_id>(v);
    }
    return ok();
  }

  choice choose(vertex_id v) {
    const auto own = of_[v];
    graph_.for_each_neighbour(v, [&](vertex_id u, std::int64_t weight) {
      const auto cluster = of_[u];
      if (links_[cluster] == 0)
        touched_.push_back(cluster);
      links_[cluster] += weight;
    });
    choice best;
    best.with_room = own;
    const auto key = options_.key ^ mix64(static_cast<std::uint64_t>(v));
    // A cluster is better with more links, or with as many if it comes first in
    // an order of chance that differs from vertex to vertex: by their numbers,
    // the same few clusters would win all ties. A vertex leaves its own cluster
    // for more links only.
    const auto is_better = [&](cluster_id a, cluster_id b) {
      return links_[a] > links_[b]
             || (links_[a] == links_[b] && b != own
                 && mix64(key ^ a) < mix64(key ^ b));
    };
    for (auto cluster : touched_) {
      if (cluster == own)
        continue;
      if (best.any == no_cluster || is_better(cluster, best.any))
        best.any = cluster;
      if (is_better(cluster, best.with_room) && has_room(cluster, v))
        best.with_room = cluster;
    }
    for (auto cluster : touched_)
      links_[cluster] = 0;
    touched_.clear();
    return best;
  }

  bool has_room(cluster_id cluster, vertex_id v) const {
    return held_[cluster] + options_.weights[v] <= options_.most_weight;
  }

  bool move(vertex_id v, cluster_id to) {
    if (to == of_[v])
      return false;
    held_[of_[v]] -= options_.weights[v];
    held_[to] += options_.weights[v];
    of_[v] = to;
    return true;
  }

  clustering numbered() {
    clustering out;
    std::vector<cluster_id> numbers(of_.size(), no_cluster);
    for (auto& cluster : of_) {
      auto& number = numbers[cluster];
      if (number == no_cluster)
        number = out.count++;
      cluster = number;
    }
    out.of = std::move(of_);
    return out;
  }

  result<void> tell(vertex_id v) {
    if (v % monitor::interval == 0
        && !watch_.tell("cluster nodes", static_cast<std::uint64_t>(v),
                        static_cast<std::uint64_t>(graph_.size())))
      return watch_.check();
    return ok();
  }

  const Graph& graph_;
  const clustering_options& options_;
  monitor& watch_;
  std::int64_t hub_degree_ = 0;
  std::vector<cluster_id> of_;
  std::vector<std::int64_t> held_;  ///< Per cluster: its weight.
  std::vector<std::int64_t> links_; ///< Of a vertex to each cluster; else 0.
  std::vector<cluster_id> touched_; ///< Clusters with links.
};

} // namespace

template <class Graph>
result<clustering> find_clusters(const Graph& graph,
                                 const clustering_options& options,
                                 monitor& watch) {
  if (graph.size() >= most_clustered)
    return fail(ec::invalid_argument,
                "the graph has {} nodes, and {} can be clustered; partition it "
                "with --method ldg",
                graph.size(), most_clustered - 1);
  return clusterer<Graph>{graph, options, watch}.run();
}

template result<clustering> find_clusters(const undirected_view&,
                                          const clustering_options&, monitor&);
template result<clustering> find_clusters(const adjacency&,
                                          const clustering_options&, monitor&);

} // namespace graphmill
