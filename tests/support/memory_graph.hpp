#pragma once

#include "partition/dataset/shard.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace graphmill::test {

/// A small graph as a test writes it down, in original ids.
struct memory_graph {
  struct node_type {
    std::string name;
    std::int64_t count = 0;
    std::int64_t width = 0;           ///< Of features; 0: none.
    std::vector<float> features;      ///< [count, width]
    std::vector<std::int64_t> labels; ///< Empty or [count]
    std::vector<node_id> train;
    std::int64_t label_width = 0; ///< Of several labels; 0: there are none.
    std::vector<std::uint8_t> label_rows; ///< [count, label_width]
  };
  struct edge_type {
    node_type_id source = 0;
    std::string name;
    node_type_id destination = 0;
    std::vector<std::vector<node_id>> in; ///< Per destination, in list order.
    std::vector<std::vector<float>> weights{}; ///< Likewise; empty: none.
    /// Likewise, rows side by side; empty: none.
    std::vector<std::vector<float>> features{};
    std::int64_t feature_width = 0;
    /// Likewise, ascending in each list; empty: all are 0.
    std::vector<std::vector<edge_level>> levels{};
    /// Likewise, ascending within a level; empty: there are none.
    std::vector<std::vector<std::int64_t>> times{};
  };
  std::vector<node_type> nodes;
  std::vector<edge_type> edges;
  node_type_id target = 0;

  /// Original id of the first in-edge of a node.
  edge_id first_edge(edge_type_id type, node_id destination) const;
};

/// A graph cut into parts in memory: what a partitioned dataset opens as.
struct cut_graph {
  std::shared_ptr<const partitioned_graph> graph;
  std::vector<std::shared_ptr<const shard>> shards;
  std::vector<std::vector<node_id>> original;  ///< Per type: by global id.
  std::vector<std::vector<node_id>> to_global; ///< Per type: by original id.
};

/// The part of each node: [node type][original id].
using assignment = std::vector<std::vector<part_id>>;

struct cut_options {
  bool wide = false; ///< 8-byte ids in index arrays.
  bool half = false; ///< Features as float16.
};

/// Cuts a graph into `parts` parts. Nodes of a part keep their order.
cut_graph cut(const memory_graph& graph, part_id parts, const assignment& owner,
              cut_options options = {});

/// The graph in one part with unchanged ids, as a plain dataset opens.
cut_graph whole(const memory_graph& graph, cut_options options = {});

/// A random assignment of all nodes to `parts` parts.
assignment random_assignment(const memory_graph& graph, part_id parts,
                             std::uint64_t seed);

/// Node i has in-neighbours i - 1 and i + 1.
memory_graph cycle(std::int64_t nodes);

/// Writes over an element of an array of a part, as damage to its file would.
template <class T>
void damage(std::span<const T> array, std::size_t i, T value) {
  const_cast<T&>(array[i]) = value; // Behind a part are vectors.
}

} // namespace graphmill::test
