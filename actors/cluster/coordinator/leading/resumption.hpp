#pragma once

#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/runs/checkpoint_uploads.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"

#include <memory>
#include <optional>

namespace graphmill {

/// What a run that is submitted goes on with, if anything: another run, or what
/// its client has uploaded.
struct resumption {
  resume_request wanted;
  checkpoint_uploads::folder_ptr uploaded; ///< Instead of a run.
  std::shared_ptr<void> place;             ///< Among those that do.
};

/// The checkpoint that a run goes on from, checked; none: it begins anew. Takes
/// as long as reading it.
result<std::optional<checkpoint>>
checkpoint_before(const coordinator_config& config,
                  const partitioned_graph& graph, const definition& def,
                  const resumption& from);

} // namespace graphmill
