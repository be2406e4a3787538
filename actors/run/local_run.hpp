#pragma once

#include "actors/process/signals.hpp"
#include "actors/run/member_setup.hpp"
#include "actors/run/run_summary.hpp"
#include "messages/base/error.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace graphmill {

struct local_run_config : run_setup {
  std::filesystem::path data; ///< A dataset or partitioned dataset.
  bool verify = true;         ///< Compare the data with the digests on record.
  std::shared_ptr<spdlog::logger> log;
  run_observer observer; ///< Without `on_end`.
  /// Called once all is prepared, before anything is trained. An error of it is
  /// one of the set-up. Without it, nothing is.
  std::function<result<void>()> on_prepared = {};
};

/// Runs a definition with all its actors in this process, and waits for the
/// end. SIGINT, SIGTERM and SIGHUP: the first lets the step finish, the second
/// ends at once; both give an outcome that is `cancelled`. Data are verified
/// meanwhile: damage ends the run, and it succeeds only once all was found
/// sound. Errors are those of the set-up: data that does not fit the
/// definition, files that cannot be opened.
/// Ends in order at `pause_at`, with what another call goes on from.
/// @param signals Begins with the run, unless an attempt before it has begun
/// it; while the caller keeps it, no signal ends the process, so that results
/// can be saved. Before the run, signals end it at once: preparing may take
/// long, and leaves nothing worth saving.
result<run_result> run_locally(local_run_config config,
                               std::optional<signal_watch>& signals);

} // namespace graphmill
