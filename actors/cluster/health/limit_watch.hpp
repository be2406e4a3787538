#pragma once

#include "messages/wire/health.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace graphmill {

/// When what limits a run is worth an event: once it has been another than was
/// told of for `settled`, so that whoever looks later sees what a slow hour was
/// due to. Verdicts that go back and forth are told of once in `repeat`. Used
/// in the COORDINATOR's handlers alone.
class limit_watch {
public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds settled{10};
  static constexpr std::chrono::seconds repeat{60};

  /// @param now The verdict, about once a second. @returns the sentence to be
  /// told.
  std::optional<std::string> change(const verdict& now, clock::time_point at);

private:
  std::string seen_; ///< The limit; empty: none yet.
  clock::time_point seen_since_{};
  std::string told_;
  std::optional<clock::time_point> told_at_;
};

} // namespace graphmill
