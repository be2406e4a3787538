#pragma once

#include "messages/error.hpp"
#include "partition/partitioners/graph_view.hpp"
#include "partition/partitioners/loads.hpp"
#include "partition/partitioners/monitor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// How nodes are spread over parts.
enum class partition_method : std::uint8_t {
  metis, ///< Few cut edges; memory for the whole graph. See metis.hpp.
  ldg,   ///< Streaming, memory for the nodes only. See ldg.hpp.
  random ///< Balanced, regardless of edges. See random_parts.hpp.
};

std::string_view to_string(partition_method method);
std::optional<partition_method> method_of(std::string_view name);

struct assign_options {
  part_id parts = 2;
  partition_method method = partition_method::metis;
  std::uint64_t seed = 0;
  std::uint64_t metis_memory_bytes = 0; ///< 0 = no limit.
};

/// Who owns which node, and how that came about.
struct assigned_parts {
  std::vector<part_id> assignment; ///< [vertices]
  /// Constraints that were too small for METIS and dealt out afterwards.
  std::vector<int> dealt;
  std::vector<std::string> notes; ///< Sentences for the report.
};

/// Assigns every node to a part by the method that was asked for, then moves
/// nodes until parts are balanced (see rebalance.hpp). One part needs no
/// method, and graphs too small for METIS are placed by `partition_by_ldg` over
/// edges in both directions.
result<assigned_parts> assign_parts(const graph_view& graph,
                                    const vertex_loads& loads,
                                    const assign_options& options,
                                    monitor& watch);

} // namespace graphmill
