#pragma once

#include "messages/base/error.hpp"
#include "partition/partitioners/graph/loads.hpp"
#include "partition/partitioners/graph/monitor.hpp"

#include <span>

namespace graphmill {

/// Moves vertices, one after the other in a few sweeps, to the part that most
/// of their edges lead to, as long as that part stays within its caps: the
/// size-constrained label propagation of clustering.hpp with parts for
/// clusters. Lowers the cut and never raises a load above its cap; vertices of
/// overfull parts go to where they fit even if that cuts more. Deterministic;
/// memory of O(parts).
/// @tparam Graph `undirected_view` with `vertex_loads` for Loads, or
/// `adjacency` with `cluster_loads`.
/// @param assignment [vertices] Changed in place, and `held` with it.
template <class Graph, class Loads>
result<void> refine(const Graph& graph, basic_part_loads<Loads>& held,
                    std::span<part_id> assignment, monitor& watch);

} // namespace graphmill
