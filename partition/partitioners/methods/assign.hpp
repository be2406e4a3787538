#pragma once

#include "messages/base/error.hpp"
#include "partition/partitioners/graph/graph_view.hpp"
#include "partition/partitioners/graph/loads.hpp"
#include "partition/partitioners/graph/monitor.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// How nodes are spread over parts.
enum class partition_method : std::uint8_t {
  metis, ///< Few cut edges. See `coarsening` for the memory.
  ldg,   ///< Streaming, memory for the nodes only. See ldg.hpp.
  random ///< Balanced, regardless of edges. See random_parts.hpp.
};

std::string_view to_string(partition_method method);
std::optional<partition_method> method_of(std::string_view name);

/// Whether METIS gets the whole graph, which takes about 100 bytes per edge and
/// ends at 2^30 edges, or a coarsened one (see multilevel.hpp), which takes
/// about 200 bytes per node and half the time.
enum class coarsening : std::uint8_t {
  automatic, ///< A coarsened one above `largest_whole_graph` edges.
  always,
  never
};

std::optional<coarsening> coarsening_of(std::string_view name);

/// Edges up to which METIS gets the whole graph by itself: about 0.8 GB and 15
/// seconds.
inline constexpr std::int64_t largest_whole_graph = std::int64_t{1} << 23;

/// Whether a graph of so many edges is coarsened.
bool is_coarsened(coarsening which, std::int64_t edges);

struct assign_options {
  part_id parts = 2;
  partition_method method = partition_method::metis;
  coarsening coarsen = coarsening::automatic; ///< For METIS.
  std::uint64_t seed = 0;
  std::uint64_t metis_memory_bytes = 0; ///< 0 = no limit.
  /// An existing folder for files that are gone when the work is done; a
  /// coarsened graph needs one.
  std::filesystem::path folder;
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
