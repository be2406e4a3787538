#pragma once

#include "actors/cluster/audit/audit_log.hpp"
#include "actors/cluster/base/admission.hpp"
#include "actors/cluster/base/chaos_tool.hpp"
#include "actors/cluster/coordinator/coordinator.hpp"
#include "actors/cluster/daemon/agent.hpp"
#include "actors/cluster/daemon/daemon.hpp"
#include "actors/cluster/daemon/end_note.hpp"
#include "actors/cluster/daemon/monitoring.hpp"
#include "actors/cluster/daemon/request_router.hpp"
#include "actors/cluster/health/event_journal.hpp"
#include "actors/cluster/history/state_folder.hpp"
#include "actors/remote/serving/data_server.hpp"
#include "pipelines/health/peer_flows.hpp"

#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// What a coordinator keeps beside its runs; of any other daemon: nothing.
struct leadership {
  state_folder state;
  std::shared_ptr<audit_log> audit;
  std::shared_ptr<event_journal> events;
};

/// What the actors of a daemon are made of. What it refers to outlives them.
struct household_setting {
  const daemon_options& options;
  const join_request& offer;
  std::shared_ptr<const partitioned_graph> graph;
  std::shared_ptr<data_guard> guard;
  const std::vector<std::string>& coordinators; ///< None: it leads.
  const leadership& lead;
  std::shared_ptr<transport> net;
  const admission& admitted;
  std::shared_ptr<rank_inboxes> inboxes;
  std::shared_ptr<peer_flows> flows;
  std::shared_ptr<orphan_threads> orphans;
  const monitoring& watched;
  unsigned processors; ///< That its trainers share.
  end_note& end;       ///< Written when one of them ends.
  std::shared_ptr<spdlog::logger> log;
  std::shared_ptr<log_ring> lines; ///< Of a coordinator: of all its daemons.
};

/// The actors of a daemon, from their begin to their end. A daemon without one
/// of them is of no use to anybody: then it ends, too. Used by the thread that
/// runs the daemon.
class household {
public:
  household(caf::actor_system& system, const household_setting& of);
  ~household();
  household(const household&) = delete;
  household& operator=(const household&) = delete;

  /// Hands what comes over the network to them.
  void connect(request_router& router);

  /// Begins to end what is on: a coordinator its run, any other its part in
  /// one, which the coordinator lets go of. The end is told.
  void begin_end(const household_setting& of);

private:
  std::shared_ptr<chaos_tool> chaos_; ///< Null unless it is allowed.
  data_server_actor data_;
  coordinator_actor coordinator_;
  agent_actor agent_;
};

} // namespace graphmill
