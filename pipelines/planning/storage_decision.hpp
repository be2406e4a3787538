#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/disk/storage.hpp"
#include "partition/files/memory_limit.hpp"
#include "pipelines/planning/run_plan.hpp"

#include <cstdint>
#include <string>

namespace graphmill {

/// Where parts are read from. A property of the machine: it changes only speed.
enum class storage_kind : std::uint8_t {
  automatic, ///< From disk if they do not fit into memory.
  memory,    ///< Mapped, and left to the kernel; slow if they do not fit.
  disk,
};
/// The choice of the user.
struct storage_choice {
  storage_kind where = storage_kind::automatic;
  std::uint64_t cache_bytes = 0;  ///< For rows from disk; 0 for what fits.
  std::uint64_t memory_bytes = 0; ///< Memory to use; 0 for all.
  /// Runs that may run here at once: each gets an equal share of that.
  std::uint32_t sharers = 1;
};

/// Where the parts of a process are read from, and the division of the memory.
struct storage_decision {
  bool from_disk = false;
  part_bytes data;               ///< Size of all parts here.
  memory_room room;              ///< Memory that it could use.
  std::uint64_t batch_bytes = 0; ///< For batches: `budget.bytes`, or less.
  disk_memory memory;            ///< Only if parts are read from disk.
  std::string reason;            ///< A sentence for people.
  /// A warning that a batch may take more than `budget.bytes`; empty: none.
  std::string oversize;
};

/// Decides what `choice` leaves open. If all parts fit into memory beside
/// batches, parameters and the rest of a run, they are mapped and left to the
/// kernel. Otherwise all of them are read from disk. Then batches in flight get
/// half of the memory at most, so fewer may be in flight than the definition
/// allows. No decision changes a result.
/// @param plan Of the same definition.
/// @param available Available memory; `choice` may allow less of it.
storage_decision decide_storage(const definition& def, const run_plan& plan,
                                const storage_choice& choice,
                                const part_bytes& data,
                                const memory_room& available);

/// Adds the decision to the memory of a run's plan.
void add_storage(run_plan& plan, const storage_decision& storage);

/// The decision and its reason.
std::string sentence(const storage_decision& decision);

} // namespace graphmill
