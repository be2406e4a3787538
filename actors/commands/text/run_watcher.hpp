#pragma once

#include "actors/cluster/client/client.hpp"
#include "actors/run/run_reporter.hpp"

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

namespace graphmill {

/// Shows how a run of a cluster goes, as `train` shows its own: a bar per
/// phase, a table row per epoch. Survives breaks of the connection.
class run_watcher {
public:
  struct settings {
    std::string run;
    std::FILE* table = stdout; ///< Null: no rows.
    bool quiet = false;        ///< No bar.
    /// Asked between requests; an error ends the watch.
    std::function<result<void>()> check;
    /// How long the coordinator may be out of reach, once it has not answered.
    std::chrono::milliseconds patience = std::chrono::seconds{60};
  };

  /// @param client Must outlive this.
  run_watcher(cluster_client& client, settings with);

  /// Follows the run to its end. A signal ends it with `ec::cancelled`; it may
  /// then be called again.
  result<run_record> follow();

private:
  void hide_bar() const;
  result<watch_reply> ask(std::chrono::milliseconds wait);
  result<void> show(const watch_reply& news);

  cluster_client& client_;
  settings with_;
  progress_callback bar_;
  run_reporter reporter_;
  run_observer observer_;
  std::uint64_t cursor_ = 0;
  std::string waits_; ///< What the run waits for, as it was shown last.
};

/// Whether the coordinator could not be reached, which may be over soon.
bool may_pass(const error& reason);

/// The end of a phase from a line of metrics.jsonl.
result<phase_result> read_metrics(const std::string& line);

/// Ends a command that waited for a run: prints the summary, for people unless
/// `quiet`, and as JSON if `json`.
/// @returns the exit code that `train` has for a run that ends like this.
result<int> conclude_run(const run_record& run, bool json, bool quiet);

} // namespace graphmill
