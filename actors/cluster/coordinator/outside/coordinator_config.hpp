#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/role.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

class audit_log;
class chaos_tool;
class cluster_feed;
class log_ring;
class members_watch;
class figures_board;
class partitioned_graph;
class run_history;
class state_lock;
class transport;

/// What the COORDINATOR needs.
struct coordinator_config {
  join_request offer; ///< Of its own daemon: all must have the same dataset.
  std::filesystem::path data; ///< Its partitioned dataset.
  std::filesystem::path runs; ///< Where run folders are made.
  std::shared_ptr<run_history> history;
  /// Of the folder where that lies. A coordinator that has lost it ends.
  std::shared_ptr<const state_lock> lock;
  std::uint32_t runs_at_once = 1; ///< At the most; see `deployment`.
  std::shared_ptr<audit_log> audit;
  std::shared_ptr<const partitioned_graph> graph;
  std::shared_ptr<transport> net;
  /// Where keys have roles: their holders, which `net` lets in already, and the
  /// file that tells when they change. Else empty and null.
  std::vector<key_holder> members;
  std::shared_ptr<members_watch> watch;
  /// Of its own daemon; null: it does not let itself be harmed.
  std::shared_ptr<chaos_tool> chaos;
  /// Where it leaves the figures of the cluster; null: nobody looks at them.
  std::shared_ptr<figures_board> figures{};
  /// Where it leaves what becomes of them, and what happens, which numbers that
  /// are above those of coordinators before; null: nobody asks.
  std::shared_ptr<cluster_feed> feed{};
  /// The lines of its own log, to which it adds those of all other daemons;
  /// null: nobody asks for them.
  std::shared_ptr<log_ring> logs{};
  /// Called once when the whole cluster is stopped, or another coordinator
  /// leads it by now, which is an error.
  std::function<void(std::optional<error>)> on_stop;
  std::shared_ptr<spdlog::logger> log;
};

} // namespace graphmill
