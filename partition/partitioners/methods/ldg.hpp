#pragma once

#include "partition/partitioners/graph/loads.hpp"

#include <functional>
#include <vector>

namespace graphmill {

/// Linear deterministic greedy streaming (Stanton and Kliot, "Streaming graph
/// partitioning for large distributed graphs", KDD'12): vertices arrive in
/// order, and each goes for good to the part that holds most of its neighbours
/// so far, weighted by how much room the part has left. Room is the least over
/// the vertex's own constraints (the paper has one: vertices); a part without
/// room is not considered unless none has any. Memory is O(vertices), whatever
/// the number of edges.
///
/// Which edges it sees: those that `neighbours` reports whose other end has
/// been placed already. A dataset's CSC gives the in-edges of the streamed
/// node. So an edge u -> v counts when v comes after u; when u comes after v,
/// it counts only if the reverse edge v -> u is in the dataset, too. Add
/// reverse edge types at import (`--reverse`) for types without in-edges: they
/// are dealt out evenly otherwise, wherever their neighbours are.
///
/// Ties go to the part with more room, then to the lower number.
/// @param on_vertex Called for each vertex; returning false ends the stream
/// early with what is placed so far. May be empty.
/// @returns The part of each vertex.
std::vector<part_id>
partition_by_ldg(const neighbour_lists& neighbours, const vertex_loads& loads,
                 part_id parts,
                 const std::function<bool(vertex_id)>& on_vertex = {});

/// The same of the vertices that have no part yet: -1 in `assignment`. Those
/// that have one keep it.
void place_by_ldg(const neighbour_lists& neighbours, const vertex_loads& loads,
                  part_id parts, std::vector<part_id>& assignment,
                  const std::function<bool(vertex_id)>& on_vertex = {});

} // namespace graphmill
