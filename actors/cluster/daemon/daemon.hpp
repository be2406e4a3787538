#pragma once

#include "actors/cluster/daemon/daemon_log.hpp"
#include "actors/cluster/daemon/monitoring.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/planning/storage_decision.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// How a node daemon is started.
struct daemon_options {
  std::filesystem::path data; ///< A partitioned dataset, or a plain one.
  /// Parts to serve, ascending; nothing: all that the dataset has.
  std::optional<std::vector<part_id>> parts;
  std::string listen = "tcp://127.0.0.1:7800";
  /// Address of the coordinator; empty: be it. There may be several, of those
  /// that may follow it, with commas between them.
  std::string join;
  /// Be the coordinator once the folder of runs is free: until then nothing
  /// else is done.
  bool standby = false;
  /// Of a daemon that joins: how long it keeps its shares of runs when the
  /// coordinator is lost.
  std::chrono::milliseconds grace = std::chrono::minutes{1};
  std::string name;                   ///< Empty: made from host and port.
  std::optional<std::uint32_t> slots; ///< Trainers it takes; or one per core.
  /// Processors that its trainers share; or all that it may run on.
  std::optional<unsigned> processors;
  storage_choice storage; ///< Where its parts are read from.
  /// Key file of the cluster; empty: that of the user.
  std::filesystem::path key;
  /// Of a coordinator whose keys have roles: who has one.
  std::filesystem::path members;
  bool insecure = false; ///< Without a key: let in whoever can connect.
  std::string interface_name;
  std::string advertise;
  std::filesystem::path runs = "runs"; ///< Of a coordinator: its run folders.
  /// Of a coordinator: how many runs that are over it keeps in its list.
  std::uint32_t keep_runs = 10'000;
  /// Of a coordinator: how many runs it has on at a time, at the most.
  std::uint32_t runs_at_once = 1;
  /// Seconds. Another daemon that gives no sign of life for that long is lost
  /// to this one, though nobody says that its process has ended.
  std::uint32_t lost_after = 15;
  bool chaos = false; ///< It harms itself if a client asks for it.
  bool verify = true; ///< Compare the data with the digests on record.
  /// Of a coordinator: go on with the runs that another one has left in the
  /// folder of runs; else they have failed.
  bool take_up = true;
  monitoring_maker monitor; ///< Makes what shows the daemon.
  log_options logs;
  std::filesystem::path ready_file; ///< Gets the address once it has joined.
  std::chrono::milliseconds join_timeout = std::chrono::minutes{2};
};

/// Runs a node daemon until it is told to stop: by the coordinator, or by
/// SIGINT, SIGTERM or SIGHUP. After a signal, a run that is on ends as when its
/// user cancels it, or fails if only this daemon ends, with the weights so far;
/// a second signal waits for nothing. A coordinator leaves its queue to the
/// next one with the same folder of runs. Fails if another coordinator has that
/// (unless `standby`), if the dataset cannot be opened, if its address cannot
/// be bound (one for HTTP is done without), or if the coordinator does not take
/// the daemon.
result<void> run_daemon(const daemon_options& options);

} // namespace graphmill
