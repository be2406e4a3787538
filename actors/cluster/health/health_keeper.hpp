#pragma once

#include "actors/cluster/health/conductor_health.hpp"
#include "actors/cluster/health/health_warnings.hpp"
#include "actors/cluster/health/limit_watch.hpp"
#include "actors/cluster/health/progress_gauge.hpp"
#include "actors/cluster/health/report_paces.hpp"
#include "actors/cluster/health/silence_watch.hpp"
#include "messages/wire/health.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What the COORDINATOR keeps of the health of the run that is on: the last
/// report of each of its daemons, and the average of all, and of the CONDUCTOR
/// what it did when its daemon told last. Used in the COORDINATOR's handlers
/// alone.
class health_keeper {
public:
  using clock = std::chrono::steady_clock;

  /// Forgets what it knows. @param daemons Of the run, by name. @param attempt
  /// Of the run, from 1. @param trainers Of this attempt.
  void begin(const std::string& run, std::vector<std::string> daemons,
             std::uint32_t attempt, std::uint32_t trainers);
  /// All daemons have their shares, and the run goes on from here. What has
  /// been told before is of an earlier attempt, or of the begin: it is
  /// forgotten.
  void led(std::shared_ptr<const progress_gauge> gauge, clock::time_point now);

  /// Has the CONDUCTOR's observer tell of it from now on. It is told of among
  /// the actors of `daemon`. After `led`.
  void follow(run_observer& conductor, const std::string& daemon);

  /// Whether a report of one of the run's daemons is worth decoding.
  result<void> admit(const std::string& daemon, std::size_t bytes,
                     clock::time_point now) {
    return paces_.admit(daemon, bytes, now);
  }

  /// A report of one of the run's daemons. @returns what in it is worth an
  /// event.
  std::vector<std::string> take(daemon_health report, clock::time_point now);

  /// What a daemon of the cluster tells of itself alone. Of the one that the
  /// CONDUCTOR is at it is told, if that has no share of the run.
  void take_own(const daemon_health& report, clock::time_point now);

  /// What is known, with a verdict. Nobody is silent before the run is led: a
  /// daemon that prepares its share has nothing to tell.
  run_health tell_all(clock::time_point now) const;

  /// The same as far as it fits in an answer, or of one daemon.
  run_health tell(const health_request& wanted, clock::time_point now) const;

  /// What limits the run from now on, when that is worth an event. To be told
  /// the verdict about once a second.
  std::optional<std::string> change_of_limit(const verdict& now,
                                             clock::time_point at) {
    return limit_.change(now, at);
  }

  /// Of whom nothing is heard from now on, or is again, when that is worth an
  /// event. To be told about once a second whom `tell_all` calls silent.
  std::optional<silence_watch::news>
  change_of_silence(const std::vector<std::string>& silent,
                    clock::time_point at) {
    return silence_.change(silent, at);
  }

  /// The average of all reports: how the actors were over the whole run.
  run_health whole() const;

private:
  struct heard {
    daemon_health report;
    clock::time_point at;
    daemon_health average; ///< Of all reports.
    std::size_t reports = 0;
  };

  std::string run_;
  std::vector<std::string> daemons_;
  std::uint32_t attempt_ = 0;
  std::uint32_t trainers_ = 0;
  std::optional<clock::time_point> led_; ///< Since when.
  std::map<std::string, heard> reports_; ///< By daemon.
  report_paces paces_;
  health_warnings warnings_;
  limit_watch limit_;
  silence_watch silence_;
  std::shared_ptr<const progress_gauge> progress_;

  std::shared_ptr<conductor_health> conductor_; ///< Null: nobody follows it.
  std::string conducts_at_;                     ///< The daemon.
  std::optional<actor_health> conducting_;      ///< When that told last.
  /// What that told last, if it has no share of the run.
  struct told_apart {
    daemon_health report;
    clock::time_point at;
  };
  std::optional<told_apart> apart_;
};

/// Leaves out daemons until the others fit in an answer: first those that are
/// well.
void cut_to_answer(run_health& run);

} // namespace graphmill
