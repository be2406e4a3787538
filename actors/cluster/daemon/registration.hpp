#pragma once

#include "actors/base/missed_time.hpp"
#include "messages/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace graphmill {

/// Where a daemon stands with the coordinator: when it is to ask to be taken,
/// and what an answer means.
///
///                   taken              lost
///     applying --------> registered <----------> cut_off
///         |                  |         taken        |
///         '------------------'----------------------'--> refused
///
/// It also keeps whether a question is under way, and when the next one is due.
/// A daemon that applies asks until it is taken. A member asks again when what
/// it tells of itself has changed, or when the coordinator was started anew.
/// One that is cut off asks when the coordinator is heard again.
///
/// The AGENT calls it from its handlers, one member function per event, and
/// does the asking when it is `due`. It knows nothing but these events and the
/// time, and ignores those that come too late: an answer to no question, and
/// all that comes after a refusal, which is the daemon's end.
class registration {
public:
  using time_point = std::chrono::steady_clock::time_point;

  enum class state : std::uint8_t {
    applying,   ///< Has never been taken.
    registered, ///< Has been taken, and hears the coordinator.
    cut_off,    ///< Was registered.
    refused,    ///< For good; or it was never taken and its patience is over.
  };

  /// @param patience How long the coordinator may be unreachable at first. Time
  /// in which nobody asked whether it is `due` does not count.
  registration(time_point now, std::chrono::milliseconds patience)
    : ask_at_(now), give_up_at_(now + patience) {}

  /// Whether to ask now. True once per question.
  bool due(time_point now);

  /// @returns why the daemon is to end: it was refused for good, or has never
  /// been taken for longer than `patience`. Otherwise it asks again by itself.
  std::optional<error> answered(const result<void>& answer, time_point now);

  /// What the daemon tells of itself has changed.
  void changed(time_point now);

  /// The coordinator is heard again. One that was started anew knows nobody.
  void heard(bool started_anew, time_point now);

  /// The coordinator is lost. @returns whether the daemon was in the cluster.
  bool lost();

  state now() const { return now_; }

private:
  std::optional<time_point> ask_at_;
  time_point give_up_at_;
  missed_time missed_;
  state now_ = state::applying;
  bool asking_ = false;   ///< A question is under way.
  bool outdated_ = false; ///< What was told last has changed since.
};

} // namespace graphmill
