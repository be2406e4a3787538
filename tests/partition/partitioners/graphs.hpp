#pragma once

#include "partition/dataset/dataset.hpp"
#include "partition/partitioners/graph/adjacency.hpp"
#include "partition/partitioners/graph/loads.hpp"

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace graphmill::test {

using pair_list = std::vector<std::pair<vertex_id, vertex_id>>;

/// The adjacency of a small graph; a pair given twice weighs 2.
adjacency adjacency_of(vertex_id vertices, const pair_list& pairs);

/// A path 0 - 1 - ... - (n - 1).
pair_list path_of(vertex_id n);

/// Two complete graphs of `n` vertices each, joined by one edge.
pair_list two_cliques(vertex_id n);

/// Loads of vertices of one type, named "node", whose in-edges are the weighted
/// degrees of a graph.
vertex_loads loads_of(const adjacency& graph,
                      std::vector<vertex_id> seeds = {});

/// Weight of the pairs between different parts.
std::int64_t cut_of(const adjacency& graph,
                    const std::vector<part_id>& assignment);

/// Sizes of a random typed dataset: papers (features, labels, splits) that cite
/// papers and are written by authors, published in venues; authors have
/// features of their own kind, venues nothing, and there may be few of them.
struct random_sizes {
  std::int64_t papers = 300;
  std::int64_t authors = 150;
  std::int64_t venues = 3;
  std::int64_t edges_per_paper = 6;
  std::int64_t train = 90;
};

/// Writes one, with parallel edges, self-loops, hubs and nodes without edges.
dataset_info write_random(const std::filesystem::path& folder,
                          std::uint64_t seed, random_sizes sizes = {});

} // namespace graphmill::test
