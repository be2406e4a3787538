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
#include <set>
#include <string>
#include <vector>

namespace graphmill {

/// Part of the COORDINATOR's state: collects the lines that all other daemons
/// have logged, in rounds. In a round each daemon that is not lost is asked
/// once for what it has had since it was asked before, an answer's worth at the
/// most; but for those who have not answered yet, whom the others do not wait
/// for. Of those of whom a full answer is expected, as of all daemons when a
/// coordinator has just been started, a few are asked at a time, whoever was
/// asked the longest ago first. Pure: its owner asks the daemons, and tells it
/// the time.
class log_collector {
public:
  using clock = std::chrono::steady_clock;

  /// Rounds begin so often; and at once if somebody asks for lines, but no more
  /// often than this.
  static constexpr std::chrono::milliseconds usual{1000};
  static constexpr std::chrono::milliseconds hurried{100};

  /// Questions under way to daemons that are behind: that have not been asked
  /// before, or had more than their last answer took. Such answers have 256 KiB
  /// each. Who does not answer has a place until its question has failed.
  static constexpr std::size_t most_behind = 16;

  /// @param to Gets the lines; null: there are no rounds.
  explicit log_collector(std::shared_ptr<log_ring> to) : to_(std::move(to)) {}

  /// Somebody wants to see what there is now.
  void hurry() { is_wanted_ = true; }

  bool due(clock::time_point now) const;

  struct question {
    std::string daemon;
    std::string address;
    std::uint64_t round = 0;
    log_request request;
  };
  /// Begins a round. Each question is to be answered by `answered`, once.
  /// @param daemons All of the cluster. @param self Name of the coordinator's
  /// own, whose lines are there already.
  std::vector<question> begin(const std::vector<daemon_status>& daemons,
                              const std::string& self, clock::time_point now);

  /// Takes what a daemon has answered. Lines are not believed to be of anybody
  /// else, and are made printable.
  void answered(const question& asked, result<log_reply> answer);

  /// A daemon of this name begins its lines anew, for it was started anew.
  void forget(const std::string& daemon) { sources_.erase(daemon); }

  std::uint64_t begun() const { return begun_; }
  /// Nobody has more of what there was when this round began, and those before
  /// it, as far as it could be asked for.
  std::uint64_t collected() const { return collected_; }

private:
  /// What is known of a daemon that is asked.
  struct source {
    std::uint64_t next = 0;  ///< Its cursor.
    std::uint64_t open = 0;  ///< Round of a question without answer; 0: none.
    std::uint64_t all = 0;   ///< The last round after which it had no more.
    std::uint64_t asked = 0; ///< The last round in which it was asked.
    bool is_behind = true;
    bool is_lost = false;
  };

  void renew(const std::vector<daemon_status>& daemons,
             const std::string& self);
  std::set<std::string> turns() const;
  void take(source& from, const std::string& daemon, log_reply page);
  void note_collected();

  std::shared_ptr<log_ring> to_;
  std::map<std::string, source> sources_; ///< By name.
  std::uint64_t begun_ = 0;
  std::uint64_t collected_ = 0;
  bool is_answered_ = false; ///< Somebody has, since the last round began.
  bool is_wanted_ = false;
  clock::time_point last_{}; ///< When the last round began.
};

} // namespace graphmill
