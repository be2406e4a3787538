#pragma once

#include "messages/base/error.hpp"
#include "partition/partitioners/graph/adjacency.hpp"
#include "partition/partitioners/graph/monitor.hpp"
#include "partition/partitioners/methods/clustering.hpp"

#include <cstdint>

namespace graphmill {

/// The graph whose vertices are the clusters of another one: a pair weighs what
/// all edges between the two clusters weigh together.
///
/// When there are more entries between clusters than `most_entries`, each edge
/// is kept with the same probability, by a keyed draw of its ends, such that
/// about that many are left: cuts then are what they were in proportion, on
/// average. So memory is 8 bytes per entry of `most_entries` at most, however
/// many edges there are.
/// @tparam Graph `undirected_view` or `adjacency`.
template <class Graph>
result<adjacency> contract(const Graph& graph, const clustering& clusters,
                           std::int64_t most_entries, std::uint64_t key,
                           monitor& watch);

} // namespace graphmill
