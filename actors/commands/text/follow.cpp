#include "actors/commands/text/follow.hpp"

#include "actors/commands/text/run_watcher.hpp"
#include "actors/process/say.hpp"

#include <utility>

namespace graphmill {

result<bool> follow(const std::function<result<bool>()>& look,
                    signal_watch& signals, follow_pace pace) {
  const auto now = std::chrono::steady_clock::now;
  auto reached = now();
  for (auto told = false; signals.count() == 0; signals.wait(pace.interval)) {
    const auto over = look();
    if (over) {
      GRAPHMILL_TRY(const auto is_read, flush_output());
      if (over.value() || !is_read)
        return true;
      reached = now();
      told = false;
    } else if (!may_pass(over.error()) || now() - reached >= pace.patience) {
      return over.error();
    } else if (!std::exchange(told, true)) {
      say(stderr, "graphmill: {}; trying again\n", over.error().message);
    }
  }
  return false;
}

} // namespace graphmill
