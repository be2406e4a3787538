#include "partition/partitioners/methods/refinement.hpp"

#include "partition/partitioners/graph/adjacency.hpp"
#include "partition/partitioners/graph/undirected_view.hpp"

#include <vector>

namespace graphmill {

namespace {

constexpr int most_refinement_sweeps = 10;

/// A sweep that spares no more than one in so many cut edges is the last one.
constexpr std::int64_t least_gain = 500;

template <class Graph, class Loads>
class refiner {
public:
  refiner(const Graph& graph, basic_part_loads<Loads>& held,
          std::span<part_id> assignment, monitor& watch)
    : graph_(graph), held_(held), assignment_(assignment), watch_(watch),
      links_(held.parts()) {}

  result<void> run() {
    for (int sweep = 0; sweep < most_refinement_sweeps; ++sweep) {
      gain_ = 0;
      cut_twice_ = 0;
      for (vertex_id v = 0; v < graph_.size(); ++v) {
        move(v);
        if (v % monitor::interval == 0
            && !watch_.tell("refine parts", static_cast<std::uint64_t>(v),
                            static_cast<std::uint64_t>(graph_.size())))
          return watch_.check();
      }
      if (gain_ <= cut_twice_ / 2 / least_gain)
        break;
    }
    return ok();
  }

private:
  void move(vertex_id v) {
    const auto from = assignment_[v];
    std::int64_t outside = 0;
    graph_.for_each_neighbour(v, [&](vertex_id u, std::int64_t weight) {
      const auto p = assignment_[u];
      if (links_[p] == 0)
        touched_.push_back(p);
      links_[p] += weight;
      outside += p == from ? 0 : weight;
    });
    cut_twice_ += outside;
    if (outside != 0)
      if (const auto to = best_part(v, from); to != from) {
        gain_ += links_[to] - links_[from];
        held_.remove(v, from);
        held_.add(v, to);
        assignment_[v] = to;
      }
    for (auto p : touched_)
      links_[p] = 0;
    touched_.clear();
  }

  /// Among parts with as many links, the one with more room.
  part_id best_part(vertex_id v, part_id from) const {
    auto best = from;
    auto most = held_.is_overfull(v, from) ? -1 : links_[from];
    auto slack = held_.slack(v, from);
    for (auto p : touched_) {
      if (p == from || links_[p] < most || !held_.fits(v, p))
        continue;
      const auto room = held_.slack(v, p);
      if (links_[p] > most || room > slack) {
        best = p;
        most = links_[p];
        slack = room;
      }
    }
    return best;
  }

  const Graph& graph_;
  basic_part_loads<Loads>& held_;
  std::span<part_id> assignment_;
  monitor& watch_;
  std::vector<std::int64_t> links_; ///< Of a vertex to each part; else 0.
  std::vector<part_id> touched_;    ///< Parts with links.
  std::int64_t gain_ = 0;           ///< Edges spared in this sweep.
  std::int64_t cut_twice_ = 0;      ///< As each vertex saw it in this sweep.
};

} // namespace

template <class Graph, class Loads>
result<void> refine(const Graph& graph, basic_part_loads<Loads>& held,
                    std::span<part_id> assignment, monitor& watch) {
  return refiner<Graph, Loads>{graph, held, assignment, watch}.run();
}

template result<void> refine(const undirected_view&,
                             basic_part_loads<vertex_loads>&,
                             std::span<part_id>, monitor&);
template result<void> refine(const adjacency&, basic_part_loads<cluster_loads>&,
                             std::span<part_id>, monitor&);

} // namespace graphmill
