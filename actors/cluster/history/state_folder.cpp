#include "actors/cluster/history/state_folder.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/history/stand_ins.hpp"

#include <spdlog/logger.h>

#include <string>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Waits for the lock of a folder. Says for whose end it waits, once for each.
/// Nothing after a signal, or if that one has ended its whole cluster. Whoever
/// gets the lock at once was not there then: it was started to begin anew.
result<std::optional<state_lock>> await_lock(const fs::path& runs,
                                             const std::string& name,
                                             signal_watch& signals,
                                             spdlog::logger& log) {
  std::optional<stand_in_sign> sign;
  for (std::string told; signals.count() == 0;) {
    auto tried = state_lock::try_take(runs, !told.empty());
    if (!tried && tried.error().code == ec::cancelled) {
      log.info("{}: ends, too", tried.error().message);
      break;
    }
    GRAPHMILL_TRY(auto taken, std::move(tried));
    if (taken)
      return taken;
    if (told.empty()) {
      auto made = stand_in_sign::put_up(runs, name);
      if (made)
        sign.emplace(std::move(made).value());
      else
        log.warn("`graphmill status` will not list this stand-in: {}",
                 made.error().message);
    }
    if (auto holder = state_lock::holder(runs); holder != told) {
      log.info("stands by: {} is led by {}", runs.string(), holder);
      told = std::move(holder);
    }
    signals.wait(timeouts::lock_look);
  }
  return std::optional<state_lock>{};
}

/// The runs that this coordinator has had, beside their folders.
result<std::shared_ptr<run_history>>
open_history(const fs::path& runs, const state_folder_options& options,
             spdlog::logger& log) {
  GRAPHMILL_TRY(auto there, run_history::open(runs / "runs.sqlite",
                                              options.keep, options.take_up));
  if (!there.set_aside().empty())
    log.warn("{}", there.set_aside());
  // The coordinator before may have been killed while it saved weights.
  for (const auto& run : there.interrupted())
    if (run_journal::is_plain_name(run))
      remove_left_scratch_files(runs / run);
  return std::make_shared<run_history>(std::move(there));
}

} // namespace

result<std::optional<state_folder>>
take_state_folder(const fs::path& runs, const state_folder_options& options,
                  signal_watch& signals, spdlog::logger& log) {
  std::optional<state_lock> lock;
  if (options.standby) {
    GRAPHMILL_TRY(lock, await_lock(runs, options.name, signals, log));
    if (!lock)
      return std::optional<state_folder>{};
    log.info("takes over {}", runs.string());
  } else {
    GRAPHMILL_TRY(auto taken, state_lock::take(runs));
    lock = std::move(taken);
  }
  state_folder out;
  out.lock = std::make_shared<const state_lock>(std::move(*lock));
  GRAPHMILL_TRY(out.history, open_history(runs, options, log));
  return std::optional{std::move(out)};
}

} // namespace graphmill
