#include "partition/partitioners/methods/rebalance.hpp"

#include "partition/partitioners/methods/swap.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

namespace graphmill {

namespace {

/// Rounds of collecting candidates and moving them, at the most. Few are needed
/// as a rule; this bounds the time where each wins a little.
constexpr int most_rounds = 64;

/// Vertices between two questions whether to go on.
constexpr std::size_t check_interval = 4096;

struct move {
  vertex_id vertex = -1;
  part_id to = -1;
  double cost = 0; ///< Edges cut per unit of excess removed.

  bool operator<(const move& other) const {
    return std::tie(cost, vertex) < std::tie(other.cost, other.vertex);
  }
};

class rebalancer {
public:
  rebalancer(const neighbour_lists& neighbours, const vertex_loads& loads,
             part_loads& held, std::span<part_id> assignment,
             const std::function<bool()>& keep_going)
    : neighbours_(neighbours), loads_(loads), held_(held),
      assignment_(assignment), keep_going_(keep_going), links_(held.parts()) {}

  std::int64_t run() {
    std::int64_t moves = 0;
    for (int round = 0; round < most_rounds; ++round) {
      if (held_.excess() < least_relief)
        break;
      auto moved = run_round();
      if (moved == 0 && !stopped_)
        moved =
          swap_round(neighbours_, loads_, held_, assignment_, keep_going_);
      moves += moved;
      if (moved == 0 || stopped_)
        break;
    }
    return moves;
  }

private:
  std::int64_t run_round() {
    std::vector<move> candidates;
    for (vertex_id v = 0; v < loads_.size() && goes_on(v); ++v)
      if (held_.is_overfull(v, assignment_[v]))
        if (auto found = best_move(v); found.to >= 0)
          candidates.push_back(found);
    std::sort(candidates.begin(), candidates.end());
    std::int64_t moved = 0;
    for (std::size_t i = 0; i < candidates.size() && goes_on(i); ++i)
      moved += apply(candidates[i].vertex);
    return moved;
  }

  /// Moves a vertex, if that still helps. Earlier moves of the round may have
  /// changed what is best for it, or have relieved its part already, so its
  /// best move is looked for again.
  bool apply(vertex_id v) {
    if (!held_.is_overfull(v, assignment_[v]))
      return false;
    const auto found = best_move(v);
    if (found.to < 0)
      return false;
    held_.remove(v, assignment_[v]);
    held_.add(v, found.to);
    assignment_[v] = found.to;
    return true;
  }

  move best_move(vertex_id v) {
    const auto from = assignment_[v];
    neighbours_(v, around_);
    for (const auto& [u, weight] : around_)
      if (u != v)
        links_[assignment_[u]] += static_cast<double>(weight);
    move best{v, -1, std::numeric_limits<double>::infinity()};
    double best_slack = 0;
    for (part_id p = 0; p < held_.parts(); ++p) {
      if (p == from)
        continue;
      const auto relief = -held_.excess_of_moving(v, from, p);
      if (relief < least_relief)
        continue;
      const auto cost = (links_[from] - links_[p]) / relief;
      const auto slack = held_.slack(v, p);
      if (cost < best.cost || (cost == best.cost && slack > best_slack)) {
        best.to = p;
        best.cost = cost;
        best_slack = slack;
      }
    }
    for (const auto& [u, weight] : around_)
      links_[assignment_[u]] = 0;
    return best;
  }

  bool goes_on(std::size_t i) {
    if (i % check_interval == 0 && keep_going_ && !keep_going_())
      stopped_ = true;
    return !stopped_;
  }

  const neighbour_lists& neighbours_;
  const vertex_loads& loads_;
  part_loads& held_;
  std::span<part_id> assignment_;
  const std::function<bool()>& keep_going_;
  std::vector<double> links_; ///< Edges of a vertex to each part; else zeros.
  std::vector<neighbour> around_;
  bool stopped_ = false;
};

} // namespace

std::int64_t rebalance(const neighbour_lists& neighbours,
                       const vertex_loads& loads, part_loads& held,
                       std::span<part_id> assignment,
                       const std::function<bool()>& keep_going) {
  return rebalancer{neighbours, loads, held, assignment, keep_going}.run();
}

} // namespace graphmill
