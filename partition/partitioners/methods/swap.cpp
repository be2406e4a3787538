#include "partition/partitioners/methods/swap.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Vertices of overfull parts that look for partners in one round.
constexpr std::size_t most_tries = 4096;

/// Partners tried per part, and per seed and non-seed.
constexpr std::ptrdiff_t most_partners = 8;

class swapper {
public:
  swapper(const neighbour_lists& neighbours, const vertex_loads& loads,
          part_loads& held, std::span<part_id> assignment)
    : neighbours_(neighbours), loads_(loads), held_(held),
      assignment_(assignment) {}

  std::int64_t run(const std::function<bool()>& keep_going) {
    list_vertices();
    std::int64_t swaps = 0;
    for (auto v : tries()) {
      if (keep_going && !keep_going())
        break;
      swaps += held_.is_overfull(v, assignment_[v]) && swap(v);
    }
    return swaps;
  }

private:
  struct partner {
    vertex_id vertex = -1;
    double cost = std::numeric_limits<double>::infinity();
  };

  std::size_t list_of(vertex_id v, part_id p) const {
    const auto group = 2 * static_cast<std::size_t>(loads_.type_of(v))
                       + (loads_.is_seed(v) ? 1 : 0);
    return group * held_.parts() + p;
  }

  auto weight_order() const {
    return [this](vertex_id a, vertex_id b) {
      return std::pair{loads_.in_edges(a), a}
             < std::pair{loads_.in_edges(b), b};
    };
  }

  void list_vertices() {
    lists_.resize(2 * static_cast<std::size_t>(loads_.types()) * held_.parts());
    for (vertex_id v = 0; v < loads_.size(); ++v)
      lists_[list_of(v, assignment_[v])].push_back(v);
    for (auto& list : lists_)
      std::sort(list.begin(), list.end(), weight_order());
  }

  std::vector<vertex_id> tries() const {
    std::vector<vertex_id> out;
    for (vertex_id v = 0; v < loads_.size(); ++v)
      if (held_.is_overfull(v, assignment_[v]))
        out.push_back(v);
    std::sort(out.begin(), out.end(), [&](vertex_id a, vertex_id b) {
      return std::pair{-loads_.in_edges(a), a}
             < std::pair{-loads_.in_edges(b), b};
    });
    out.resize(std::min(out.size(), most_tries));
    return out;
  }

  bool swap(vertex_id v) {
    const auto p = assignment_[v];
    partner best;
    for (part_id q = 0; q < held_.parts(); ++q)
      if (q != p)
        for (auto seed : {0, 1})
          try_list(v, q, 2 * static_cast<std::size_t>(loads_.type_of(v)) + seed,
                   best);
    if (best.vertex < 0)
      return false;
    const auto q = assignment_[best.vertex];
    relocate(v, p, q);
    relocate(best.vertex, q, p);
    return true;
  }

  /// Tries the partners in part `q` whose in-edges are closest in number to
  /// what suits best: with them, `v`'s part would come down to its cap or the
  /// other part would fill up to its own, whichever takes less.
  void try_list(vertex_id v, part_id q, std::size_t group, partner& best) {
    const auto& list = lists_[group * held_.parts() + q];
    const auto p = assignment_[v];
    const auto c = loads_.edge_constraint();
    const auto less =
      std::clamp<std::int64_t>(std::min(held_.load(c, p) - held_.cap(c),
                                        held_.cap(c) - held_.load(c, q)),
                               0, loads_.in_edges(v));
    const auto wanted = loads_.in_edges(v) - less;
    const auto at = std::lower_bound(list.begin(), list.end(), wanted,
                                     [&](vertex_id u, std::int64_t weight) {
                                       return loads_.in_edges(u) < weight;
                                     })
                    - list.begin();
    const auto first = std::max<std::ptrdiff_t>(0, at - most_partners / 2);
    const auto last = std::min(std::ssize(list), first + most_partners);
    for (auto i = first; i < last; ++i)
      try_partner(v, p, list[i], q, best);
  }

  void try_partner(vertex_id v, part_id p, vertex_id u, part_id q,
                   partner& best) {
    const auto relief = -held_.excess_of_swapping(v, p, u, q);
    if (relief < least_relief)
      return;
    const auto cost = (loss_of(v, p, q) + loss_of(u, q, p)) / relief;
    if (std::tie(cost, u) < std::tie(best.cost, best.vertex))
      best = {u, cost};
  }

  /// Edges that are cut more when a vertex moves.
  double loss_of(vertex_id v, part_id from, part_id to) {
    neighbours_(v, around_);
    double loss = 0;
    for (const auto& [u, weight] : around_)
      if (u != v)
        loss += (assignment_[u] == from ? static_cast<double>(weight) : 0)
                - (assignment_[u] == to ? static_cast<double>(weight) : 0);
    return loss;
  }

  void relocate(vertex_id v, part_id from, part_id to) {
    auto& out = lists_[list_of(v, from)];
    out.erase(std::lower_bound(out.begin(), out.end(), v, weight_order()));
    auto& in = lists_[list_of(v, to)];
    in.insert(std::lower_bound(in.begin(), in.end(), v, weight_order()), v);
    held_.remove(v, from);
    held_.add(v, to);
    assignment_[v] = to;
  }

  const neighbour_lists& neighbours_;
  const vertex_loads& loads_;
  part_loads& held_;
  std::span<part_id> assignment_;
  std::vector<neighbour> around_;
  /// [type, seed or not, part]: vertices by ascending weight.
  std::vector<std::vector<vertex_id>> lists_;
};

} // namespace

std::int64_t swap_round(const neighbour_lists& neighbours,
                        const vertex_loads& loads, part_loads& held,
                        std::span<part_id> assignment,
                        const std::function<bool()>& keep_going) {
  return swapper{neighbours, loads, held, assignment}.run(keep_going);
}

} // namespace graphmill
