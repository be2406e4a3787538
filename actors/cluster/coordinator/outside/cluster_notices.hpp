#pragma once

#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/process/logger.hpp"
#include "actors/transport/sockets/complaint_log.hpp"
#include "pipelines/figures/event_ring.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// What a COORDINATOR tells people: lines of its log, and events of the feed.
class cluster_notices {
public:
  using clock = std::chrono::steady_clock;

  /// @param self The name of the coordinator's daemon.
  cluster_notices(const coordinator_config& config, std::string self);

  // -- the log

  spdlog::logger& log() const { return *log_; }
  /// The same for lines about a run.
  std::shared_ptr<spdlog::logger> log_of(const std::string& run) const;
  /// Where the log of a run goes beside its file.
  log_outlets outlets_of(const std::string& run) const;
  /// A warning about a peer. A peer that repeats it does not fill the log.
  void complain(const std::string& sentence);
  complaint_log& complaints() { return complaints_; }
  /// Logs what was held back. To be called now and then.
  void look(clock::time_point now);

  // -- events

  /// @param daemon, run That it is about; may be empty.
  void event(event_kind kind, const std::string& daemon, std::string text,
             const std::string& run = {});
  /// An event of each of these runs, or of none if there are none.
  void event_of(const std::vector<std::string>& runs, event_kind kind,
                const std::string& daemon, const std::string& text);
  /// A daemon comes or goes, which is logged, too. @param what Follows its
  /// name.
  void coming(event_kind kind, const std::string& daemon,
              const std::string& what);
  /// The state of a run. It is an event if it has changed.
  void run(const run_record& record);
  /// Has the feed know runs of former times. @param most How many of them.
  void recall_runs(run_history& from, std::uint32_t most);
  /// For the thread that writes checkpoints of a run: reports them. Short
  /// epochs do not push all other events out. Empty: nobody reads events.
  std::function<void(const std::string& name)>
  checkpoint_reporter(const std::string& run) const;
  /// Answers a request for events.
  result<payload> events(const payload& request) const;

private:
  std::string self_;
  std::shared_ptr<spdlog::logger> log_;
  std::shared_ptr<log_ring> lines_;
  std::shared_ptr<cluster_feed> feed_;
  complaint_log complaints_;
  complaint_log comings_;
};

} // namespace graphmill
