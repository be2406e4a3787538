#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// When it is worth an event that nothing is heard of daemons of a run, or that
/// they are heard again: so that whoever looks later sees that a machine hung,
/// which has logged nothing of it. Once in `repeat` at the most, of all that
/// has changed meanwhile. Used in the COORDINATOR's handlers alone.
class silence_watch {
public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds repeat{10};

  struct news {
    std::string who;  ///< A daemon; empty: several.
    std::string text; ///< A sentence.
  };

  /// @param silent The daemons, by name, about once a second. @returns what is
  /// to be told.
  std::optional<news> change(const std::vector<std::string>& silent,
                             clock::time_point at);

private:
  std::vector<std::string> told_;
  std::optional<clock::time_point> told_at_;
};

} // namespace graphmill
