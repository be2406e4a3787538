#pragma once

#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/history/run_records.hpp"
#include "actors/transport/sessions/responder.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace graphmill {

/// The records of runs: keeps those of runs that are not over, writes changes
/// to the history, and answers from both. The history has a thread of its own,
/// for its disk may be slow or full. Of the COORDINATOR's state, used in its
/// handlers alone.
class run_archive {
public:
  using clock = std::chrono::steady_clock;
  using run_question = std::function<result<payload>(run_record)>;

  struct hooks {
    std::function<void()> changed; ///< A record has changed.
    /// A batch of changes is in the history, or could not be written.
    std::function<void(bool done)> written;
  };

  run_archive(cluster_port& port, cluster_notices& notices, lead_guard& lead,
              std::shared_ptr<run_history> history,
              std::shared_ptr<const state_lock> lock, hooks tell);

  /// Null: the run is over, if there is one.
  const run_record* find(const std::string& id) const {
    return records_.find(id);
  }

  /// Adds a run that is in the history.
  void add(run_record run) { records_.add(std::move(run)); }

  /// A run has changed. @param standing What another coordinator would need to
  /// go on with it, if that has changed, too.
  void note(const run_record& record,
            std::optional<run_standing> standing = {});

  /// Tries again to write what could not be written.
  void look(clock::time_point now);

  bool all_written() const { return records_.all_written(); }
  /// Why the last changes could not be written; nothing if they were.
  const std::optional<error>& failure() const { return records_.failure(); }

  /// Runs that are over since this coordinator began, by state from `finished`.
  const std::array<std::uint64_t, 3>& over() const { return over_; }

  /// Answers a question about a run. Fails if there is no such run.
  void ask(const std::string& id, const responder& reply, run_question asked);

  /// Answers a request for runs.
  void list(const payload& request, const responder& reply);

private:
  using question = std::function<result<payload>(run_history&)>;

  void ask_history(const responder& reply, question asked);
  void write();
  void take(const result<void>& written);

  cluster_port& port_;
  cluster_notices& notices_;
  lead_guard& lead_;
  std::shared_ptr<run_history> history_;
  std::shared_ptr<const state_lock> lock_;
  hooks tell_;
  run_records records_;
  std::array<std::uint64_t, 3> over_{};
  clock::time_point write_at_{}; ///< Not before: the disk may be full.
};

/// A record that fits in an answer.
run_record fitting(run_record run);

} // namespace graphmill
