#pragma once

#include "messages/base/error.hpp"

#include <chrono>
#include <optional>

namespace graphmill {

/// Where a daemon stands with the coordinator: when it is to ask to be taken,
/// and what an answer means. Pure: told of events and of the time.
class registration {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @param patience How long the coordinator may be unreachable at first.
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

  /// It is heard no more. @returns whether the daemon was in the cluster.
  bool lost();

private:
  std::optional<time_point> ask_at_;
  time_point give_up_at_;
  bool asking_ = false;
  bool outdated_ = false; ///< What was told last is true no more.
  bool ever_taken_ = false;
  bool member_ = false;
};

} // namespace graphmill
