#pragma once

#include "actors/transport/sessions/token_bucket.hpp"
#include "messages/wire/health.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace graphmill {

/// What in the reports of a run's daemons is worth an event, for whoever looks
/// later: workers that were replaced, actors that have failed, work that takes
/// too long. A trouble that lasts is told of once in `repeat`, and a run tells
/// of some at once and then of one in a few seconds, so that it does not push
/// all else out of the events: the others come later. Keeps a word for each
/// actor that was in trouble, and forgets all of them when a member has made up
/// too many. Used in the COORDINATOR's handlers alone.
class health_warnings {
public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds repeat{30};
  static constexpr double at_once = 8;
  static constexpr double per_second = 1.0 / 3;
  static constexpr std::size_t most_actors = 10'000;

  /// A sentence for each.
  std::vector<std::string> in(const daemon_health& report,
                              clock::time_point now);

private:
  struct trouble {
    std::uint64_t restarts = 0; ///< That were told of.
    bool failed = false;        ///< That was told of.
    clock::time_point quiet_until = clock::time_point::min();
  };
  struct long_work {
    std::string told;
    clock::time_point quiet_until = clock::time_point::min();
  };

  void look_at(const daemon_health& report, const actor_health& actor,
               clock::time_point now, std::vector<std::string>& out);

  token_bucket pace_{per_second, at_once};
  std::map<std::string, trouble> actors_;   ///< By title.
  std::map<std::string, long_work> delays_; ///< By daemon.
};

} // namespace graphmill
