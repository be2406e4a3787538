#pragma once

#include "actors/cluster/history/state_folder.hpp"

#include <caf/fwd.hpp>
#include <spdlog/fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace graphmill {

struct admission;
class audit_log;
class data_guard;
struct daemon_options;
class end_note;
class event_journal;
struct join_request;
class log_ring;
struct monitoring;
class orphan_threads;
class partitioned_graph;
class peer_flows;
class rank_inboxes;
class request_router;
class transport;

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
  struct actors; // Their interfaces are half of all headers.
  const std::unique_ptr<actors> actors_;
};

} // namespace graphmill
