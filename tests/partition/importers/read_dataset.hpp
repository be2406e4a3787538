#pragma once

#include "partition/dataset/dataset.hpp"
#include "tests/support/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

/// Source and destination.
using edge_pair = std::pair<node_id, node_id>;

/// The edges of a type, by destination and in list order.
inline std::vector<edge_pair> edges_of(const dataset& from, edge_type_id type) {
  const auto& arrays = from.edges(type);
  const auto indptr = value_of(arrays.indptr.as<std::int64_t>());
  const auto wide = arrays.indices.type() == dtype::int64;
  std::vector<edge_pair> out;
  for (std::size_t v = 0; v + 1 < indptr.size(); ++v)
    for (auto e = indptr[v]; e < indptr[v + 1]; ++e)
      out.emplace_back(wide ? value_of(arrays.indices.as<std::int64_t>())[e]
                            : value_of(arrays.indices.as<std::int32_t>())[e],
                       static_cast<node_id>(v));
  return out;
}

inline std::vector<edge_pair> edges_of(const dataset& from,
                                       const std::string& name) {
  const auto type = from.info().find_edge_type(name);
  CATCH_REQUIRE(type.has_value());
  return edges_of(from, *type);
}

inline std::vector<std::int64_t> labels_of(const dataset& from) {
  const auto view =
    value_of(from.nodes(from.info().target).labels->as<std::int64_t>());
  return {view.begin(), view.end()};
}

inline std::vector<node_id> split_of(const dataset& from, split which) {
  const auto& arrays = from.nodes(from.info().target);
  const auto view = value_of(
    arrays.splits[static_cast<std::size_t>(which)]->as<std::int64_t>());
  return {view.begin(), view.end()};
}

inline std::vector<float> features_of(const dataset& from) {
  const auto view =
    value_of(from.nodes(from.info().target).features->as<float>());
  return {view.begin(), view.end()};
}

} // namespace graphmill::test
