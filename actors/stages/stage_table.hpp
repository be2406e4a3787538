#pragma once

#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "messages/work/work_report.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/flow/stage_list.hpp"

#include <array>
#include <cstddef>
#include <memory>

namespace graphmill {

struct disk_counters;

/// The stages of a member of a run with their counters.
struct stage_table {
  /// By `stage_kind`; null as long as the member has not been prepared.
  std::array<std::shared_ptr<stage_counters>, stage_kinds> stages;
  std::shared_ptr<disk_counters> disk; ///< Null: all is in memory.

  /// @param parts, trainers How many of them this process has.
  static stage_table of(const definition& def, std::size_t parts,
                        std::size_t trainers);

  /// @param samplers In this process, whoever they sample for.
  /// @param proxies In this process, of samplers of other daemons.
  static stage_table of(const definition& def, std::size_t parts,
                        std::size_t trainers, std::size_t samplers,
                        std::size_t proxies);

  const std::shared_ptr<stage_counters>& operator[](stage_kind which) const {
    return stages[static_cast<std::size_t>(which)];
  }

  /// What they did, and what came from disk. Leaves out `batch_proxy` if there
  /// are no proxies.
  work_report report() const;
};

} // namespace graphmill
