#pragma once

#include "actors/cluster/history/run_history.hpp"
#include "actors/cluster/history/state_lock.hpp"
#include "actors/process/signals.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace graphmill {

/// What a coordinator has in its folder of runs, besides those, as long as it
/// lives.
struct state_folder {
  std::shared_ptr<const state_lock> lock;
  std::shared_ptr<run_history> history;
};

struct state_folder_options {
  std::uint32_t keep = 10'000; ///< Runs that are over, in the history.
  bool take_up = true; ///< What another one has left there; else it has failed.
  bool standby = false; ///< Wait for the lock if somebody else has it.
  std::string name{};   ///< What others are told who it is that waits.
};

/// Takes a folder, which is made if need be. Nothing if a signal comes while it
/// waits for the lock, or if who had the lock has ended its whole cluster,
/// which the log says then. Without `standby` it fails with `unavailable` if
/// somebody else has that.
result<std::optional<state_folder>>
take_state_folder(const std::filesystem::path& runs,
                  const state_folder_options& options, signal_watch& signals,
                  spdlog::logger& log);

} // namespace graphmill
