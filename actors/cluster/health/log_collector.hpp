#pragma once

#include "actors/process/logs/log_ring.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// Part of the COORDINATOR's state: collects the lines that all other daemons
/// have logged, in rounds. In a round each daemon that is not lost is asked
/// once for what it has had since the last one, an answer's worth at the most;
/// a round ends when all have answered, or their calls have failed. Pure: its
/// owner asks the daemons, and tells it the time.
class log_collector {
public:
  using clock = std::chrono::steady_clock;

  /// Rounds begin so often; and at once if somebody asks for lines, but no more
  /// often than this.
  static constexpr std::chrono::milliseconds usual{1000};
  static constexpr std::chrono::milliseconds hurried{100};

  /// @param to Gets the lines; null: there are no rounds.
  explicit log_collector(std::shared_ptr<log_ring> to) : to_(std::move(to)) {}

  /// Somebody wants to see what there is now.
  void hurry() { is_wanted_ = true; }

  bool due(clock::time_point now) const;

  struct question {
    std::string daemon;
    std::string address;
    log_request request;
  };
  /// Begins a round. Each question is to be answered by `answered`, once.
  /// @param daemons All of the cluster. @param self Name of the coordinator's
  /// own, whose lines are there already.
  std::vector<question> begin(const std::vector<daemon_status>& daemons,
                              const std::string& self, clock::time_point now);

  /// Takes what a daemon has answered. Lines are not believed to be of anybody
  /// else, and are made printable.
  void answered(const question& asked, const result<log_reply>& answer);

  /// A daemon of this name begins its lines anew, for it was started anew.
  void forget(const std::string& daemon) { next_.erase(daemon); }

  std::uint64_t begun() const { return begun_; }
  /// The last round after which nobody had more.
  std::uint64_t collected() const { return collected_; }

private:
  void take(const question& asked, const result<log_reply>& answer);
  void end_if_done();

  std::shared_ptr<log_ring> to_;
  std::map<std::string, std::uint64_t> next_; ///< Cursor of each daemon.
  std::uint64_t begun_ = 0;
  std::size_t open_ = 0; ///< Questions of the round that is on.
  std::uint64_t collected_ = 0;
  bool has_more_ = false; ///< One of the round that is on.
  bool is_wanted_ = false;
  clock::time_point last_{}; ///< When the last round began.
};

} // namespace graphmill
