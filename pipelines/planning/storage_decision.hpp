#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/disk/storage.hpp"
#include "partition/files/memory_limit.hpp"
#include "pipelines/planning/run_plan.hpp"

#include <cstdint>
#include <string>

namespace graphmill {

/// Where parts are read from. A property of a machine, not of what is computed:
/// it changes speed alone.
enum class storage_kind : std::uint8_t {
  automatic, ///< From disk if memory does not hold them.
  memory,    ///< Mapped, and left to the kernel; slow if they do not fit.
  disk,
};
/// What whoever starts a process has said about it.
struct storage_choice {
  storage_kind where = storage_kind::automatic;
  std::uint64_t cache_bytes = 0;  ///< For rows from disk; 0 for what fits.
  std::uint64_t memory_bytes = 0; ///< To count on; 0 for all that there is.
  /// Runs that may be on at once here: each counts on as large a part of that.
  std::uint32_t sharers = 1;
};

/// Where the parts that a process serves are read from, and how the memory
/// there is is divided for that.
struct storage_decision {
  bool from_disk = false;
  part_bytes data;               ///< How much all parts here have together.
  memory_room room;              ///< What it could count on.
  std::uint64_t batch_bytes = 0; ///< For batches: `budget.bytes`, or less.
  disk_memory memory;            ///< Only if parts are read from disk.
  std::string reason;            ///< A sentence for people.
};

/// Decides what `choice` leaves open. If all parts fit into memory beside
/// batches, parameters and the rest of a run, they are mapped and left to the
/// kernel; else all of them are read from disk. From disk, batches in flight
/// get half of the memory at the most, so that fewer may be in flight than the
/// definition allows. No decision changes a result.
/// @param plan Of the same definition.
/// @param available Memory that there is; `choice` may allow less of it.
storage_decision decide_storage(const definition& def, const run_plan& plan,
                                const storage_choice& choice,
                                const part_bytes& data,
                                const memory_room& available);

/// Takes what has been decided into the memory that a run is said to take.
void add_storage(run_plan& plan, const storage_decision& storage);

/// What has been decided, and why.
std::string sentence(const storage_decision& decision);

} // namespace graphmill
