#pragma once

#include "partition/dataset/dataset.hpp"

#include <cstdint>

namespace graphmill::test {

/// Of a dataset with one type of nodes, without values, and one of edges.
inline dataset_info one_type_info(std::int64_t nodes, std::int64_t edges,
                                  std::int64_t max_in_degree) {
  dataset_info out;
  node_type_info node;
  node.name = "node";
  node.count = nodes;
  out.node_types.push_back(node);
  edge_type_info to;
  to.name = "to";
  to.count = edges;
  to.max_in_degree = max_in_degree;
  out.edge_types.push_back(to);
  return out;
}

} // namespace graphmill::test
