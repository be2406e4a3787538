#pragma once

#include "messages/base/ids.hpp"
#include "messages/base/work_report.hpp"
#include "messages/definition/definition.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <cstddef>
#include <memory>

namespace graphmill {

struct disk_counters;

/// The stages of a member of a run with their counters, in pipeline order.
struct stage_table {
  std::shared_ptr<stage_counters> sampling_service, sampler, batch_proxy,
    feature_service, fetcher, batcher, trainer, gradient_group;
  std::shared_ptr<disk_counters> disk; ///< Null: all is in memory.

  /// @param parts, trainers How many of them this process has.
  static stage_table of(const definition& def, std::size_t parts,
                        std::size_t trainers);

  /// @param samplers In this process, whoever they sample for.
  /// @param proxies In this process, of samplers of other daemons.
  static stage_table of(const definition& def, std::size_t parts,
                        std::size_t trainers, std::size_t samplers,
                        std::size_t proxies);

  /// What they did, and what came from disk. Leaves out `batch_proxy` if there
  /// are no proxies.
  work_report report() const;
};

} // namespace graphmill
