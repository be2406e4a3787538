#pragma once

#include "actors/cluster/base/chaos_tool.hpp"
#include "actors/cluster/base/interfaces.hpp"
#include "actors/cluster/daemon/shares/run_relay.hpp"
#include "actors/cluster/daemon/shares/share_access.hpp"
#include "actors/run/data_guard.hpp"
#include "actors/transport/sockets/connections/key_table.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <spdlog/fwd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// How a consumer's daemon takes part in the runs that feed it: its share is
/// the rank that takes their batches. Of other daemons all functions are empty,
/// and they take no such share.
struct feed_hooks {
  /// Opens the share, in the place of `open_share`. Called on a thread of its
  /// own.
  std::function<result<member_config>(const deployment&,
                                      data_guard::records& records)>
    open;
  /// All daemons of the run have their shares: passes may begin.
  std::function<void(const std::string& run, const member_actor&)> begun;
  /// The share can make no more batches. The coordinator then ends the run, as
  /// soon as it can be told.
  std::function<void(const std::string& run)> failed;
  /// The share of the run has ended here.
  std::function<void(const std::string& run)> ended;
};

/// What the AGENT of a daemon needs.
struct agent_config {
  join_request offer;      ///< What it tells the coordinator of itself.
  std::string coordinator; ///< Address, its own if it is the one.
  /// More addresses, at which coordinators may be that follow this one.
  std::vector<std::string> stand_ins{};
  /// Where keys have roles, of a daemon that is not the coordinator: the
  /// coordinator's. Those of the others it hears from there.
  std::optional<key_table> admitted;
  std::shared_ptr<const partitioned_graph> graph;
  std::filesystem::path data; ///< The folder of the graph.
  std::shared_ptr<data_guard> guard;
  std::shared_ptr<chaos_tool> chaos; ///< Null: none is allowed.
  /// Where it leaves its figures; null: nobody looks at them.
  std::shared_ptr<figures_board> figures{};
  share_surroundings around;
  feed_hooks feeds{};     ///< Of a consumer's daemon.
  storage_choice storage; ///< Of the parts here.
  /// Spawns the RUN RELAY of a share; tests look at what it spawns.
  std::function<run_reports_actor(caf::actor_system&, run_relay_config)> relay =
    spawn_run_relay;
  /// How long the coordinator may be out of reach before it is met at first.
  std::chrono::milliseconds join_timeout{60'000};
  /// How long shares of runs are kept when the coordinator is lost.
  std::chrono::milliseconds grace = std::chrono::minutes{1};
  /// Called once, when the coordinator has taken the daemon.
  std::function<void()> on_joined;
  /// Called once when the daemon is to end, with the reason if it has failed.
  std::function<void(std::optional<error>)> on_stop;
  std::shared_ptr<spdlog::logger> log;
};

} // namespace graphmill
