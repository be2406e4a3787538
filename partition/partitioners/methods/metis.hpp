#pragma once

#include "messages/base/error.hpp"
#include "partition/partitioners/graph/adjacency.hpp"
#include "partition/partitioners/graph/loads.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace graphmill {

/// A constraint with fewer units per part than this is kept from METIS, for it
/// would ruin the balance of all the others. `rebalance` deals it out.
inline constexpr std::int64_t least_units_per_part = 20;

/// The constraints of `loads` that are large enough for METIS.
std::vector<int> metis_constraints(const vertex_loads& loads, part_id parts);

struct metis_options {
  part_id parts = 2;
  std::uint64_t seed = 0;
  std::uint64_t memory_bytes = 0; ///< METIS may allocate; 0 = no limit.
  /// Called in the parent with the seconds that METIS has been at work; false
  /// kills it. May be empty.
  std::function<bool(double)> on_wait;
};

struct metis_outcome {
  std::vector<part_id> assignment; ///< [vertices]
  double seconds = 0;
  std::uint64_t peak_memory_bytes = 0; ///< Of the child process.
};

/// Partitions with METIS_PartGraphKway (Karypis and Kumar, "Multilevel
/// algorithms for multi-constraint graph partitioning", SC'98), which cuts few
/// edges and balances several constraints at once. It runs in a child process,
/// so that it can be killed, and a crash or lack of memory ends it alone. The
/// seed makes it reproducible. Its balance is a wish: check it.
/// @param graph Must have an entry; at least two parts.
/// @param constraints Which of `loads` to balance; at least one.
/// @tparam Loads `vertex_loads` or `cluster_loads`.
template <class Loads>
result<metis_outcome> partition_by_metis(const adjacency& graph,
                                         const Loads& loads,
                                         const std::vector<int>& constraints,
                                         const metis_options& options);

} // namespace graphmill
