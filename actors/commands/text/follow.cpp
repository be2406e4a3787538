#include "actors/commands/text/follow.hpp"

#include "actors/commands/text/run_watcher.hpp"
#include "actors/process/say.hpp"

#include <chrono>
#include <utility>

namespace graphmill {

result<bool> follow(const std::function<result<bool>()>& look,
                    signal_watch& signals, follow_pace pace) {
  const auto now = std::chrono::steady_clock::now;
  // Not since the last success: this process may have been stopped for hours.
  auto since = now();
  for (auto fails = false; signals.count() == 0; signals.wait(pace.interval)) {
    const auto over = look();
    if (over) {
      GRAPHMILL_TRY(const auto reader, flush_output());
      if (over.value() || reader == output_reader::gone)
        return true;
      if (reader == output_reader::hung_up)
        signals.hang_up();
      fails = false;
      continue;
    }
    const auto failed_before = std::exchange(fails, true);
    const auto at = now();
    since = failed_before ? since : at;
    if (!may_pass(over.error()) || at - since >= pace.patience)
      return over.error();
    if (!failed_before)
      say(stderr, "graphmill: {}; trying again\n", over.error().message);
  }
  return false;
}

} // namespace graphmill
