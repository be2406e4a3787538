#include "actors/commands/text/follow.hpp"

#include "actors/commands/text/run_watcher.hpp"
#include "actors/process/say.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace graphmill {

result<bool> follow(const std::function<result<bool>()>& look,
                    signal_watch& signals, follow_pace pace) {
  const auto now = std::chrono::steady_clock::now;
  // Not since the last success: this process may have been stopped for hours.
  std::optional<std::chrono::steady_clock::time_point> failing;
  for (auto told = false; signals.count() == 0; signals.wait(pace.interval)) {
    const auto over = look();
    if (over) {
      GRAPHMILL_TRY(const auto is_read, flush_output());
      if (over.value() || !is_read)
        return true;
      failing.reset();
      told = false;
      continue;
    }
    const auto at = now();
    const auto since = failing.value_or(at);
    failing = since;
    if (!may_pass(over.error()) || at - since >= pace.patience)
      return over.error();
    if (!std::exchange(told, true))
      say(stderr, "graphmill: {}; trying again\n", over.error().message);
  }
  return false;
}

} // namespace graphmill
