#include "actors/commands/options/cli.hpp"

#include "actors/process/say.hpp"
#include "messages/base/printable.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

/// What was shown last, to show no more than needed.
struct progress_display {
  bool terminal = isatty(STDERR_FILENO) == 1;
  clock::time_point start = clock::now();
  clock::time_point last{};
  std::string phase;
  /// Phases may come again, one for each of many types: they get one line.
  std::set<std::string, std::less<>> seen;
};

double seconds_since(clock::time_point then) {
  return std::chrono::duration<double>(clock::now() - then).count();
}

std::string bar(const progress& now) {
  constexpr int width = 30;
  const auto fraction = std::min(1.0, double(now.done) / double(now.total));
  const auto full = static_cast<int>(fraction * width);
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %", "", full, "", width - full,
                     fraction * 100);
}

std::string line(const progress_display& state, const progress& now) {
  auto text =
    fmt::format("{:<24} {:6.1f} s", now.phase, seconds_since(state.start));
  if (now.estimate_seconds > 0)
    text += fmt::format(" of about {:.0f} s", now.estimate_seconds);
  if (now.total != 0)
    text += ' ' + bar(now);
  return text;
}

/// Goes to the terminal as it is.
void draw(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

} // namespace

progress_callback show_progress(bool quiet) {
  if (quiet)
    return {};
  auto state = std::make_shared<progress_display>();
  return [state](const progress& now) {
    const auto fresh = !state->seen.contains(now.phase);
    const auto interval = state->terminal ? 0.1 : 10.0;
    const auto finished = now.total != 0 && now.done >= now.total;
    if (!fresh && !(finished && state->terminal && state->phase == now.phase)
        && seconds_since(state->last) < interval)
      return;
    if (state->terminal) {
      const auto* lead = fresh && !state->phase.empty() ? "\n" : "";
      draw(fmt::format("{}\r\x1b[K{}{}", lead, printable(line(*state, now)),
                       now.phase == "done" ? "\n" : ""));
    } else {
      say(stderr, "{}\n", line(*state, now));
    }
    std::fflush(stderr);
    state->phase = now.phase;
    state->seen.insert(state->phase);
    state->last = clock::now();
  };
}

void clear_terminal() {
  const auto* kind = std::getenv("TERM");
  const auto obeys = kind != nullptr && std::string_view{kind} != "dumb";
  if (obeys && isatty(STDOUT_FILENO) == 1)
    std::fputs("\033[H\033[2J", stdout);
}

} // namespace graphmill
