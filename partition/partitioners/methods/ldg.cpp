#include "partition/partitioners/methods/ldg.hpp"

#include <tuple>
#include <vector>

namespace graphmill {

namespace {

/// Where a vertex with `links[p]` edges to each part should go.
part_id best_part(vertex_id v, const part_loads& held,
                  const std::vector<double>& links) {
  part_id best = -1;
  std::tuple<double, double> best_score;
  for (part_id p = 0; p < held.parts(); ++p) {
    if (!held.fits(v, p))
      continue;
    const auto slack = held.slack(v, p);
    const std::tuple score{links[p] * slack, slack};
    if (best < 0 || score > best_score) {
      best = p;
      best_score = score;
    }
  }
  if (best >= 0)
    return best;
  // No part has room, so it goes to where it adds least to the excess, and
  // among equals to where it has most neighbours.
  best_score = {};
  for (part_id p = 0; p < held.parts(); ++p) {
    const std::tuple score{-held.excess_of_adding(v, p), links[p]};
    if (best < 0 || score > best_score) {
      best = p;
      best_score = score;
    }
  }
  return best;
}

} // namespace

std::vector<part_id>
partition_by_ldg(const neighbour_lists& neighbours, const vertex_loads& loads,
                 part_id parts,
                 const std::function<bool(vertex_id)>& on_vertex) {
  std::vector<part_id> assignment(loads.size(), -1);
  place_by_ldg(neighbours, loads, parts, assignment, on_vertex);
  return assignment;
}

void place_by_ldg(const neighbour_lists& neighbours, const vertex_loads& loads,
                  part_id parts, std::vector<part_id>& assignment,
                  const std::function<bool(vertex_id)>& on_vertex) {
  part_loads held{loads, parts};
  for (vertex_id v = 0; v < loads.size(); ++v)
    if (assignment[v] >= 0)
      held.add(v, assignment[v]);
  std::vector<double> links(parts);
  std::vector<neighbour> around;
  for (vertex_id v = 0; v < loads.size(); ++v) {
    if (assignment[v] >= 0)
      continue;
    if (on_vertex && !on_vertex(v))
      break;
    neighbours(v, around);
    for (const auto& [u, weight] : around)
      if (assignment[u] >= 0)
        links[assignment[u]] += static_cast<double>(weight);
    const auto p = best_part(v, held, links);
    assignment[v] = p;
    held.add(v, p);
    for (const auto& [u, weight] : around)
      if (assignment[u] >= 0)
        links[assignment[u]] = 0;
  }
}

} // namespace graphmill
