#include "actors/commands/options/cli.hpp"

#include "actors/process/say.hpp"
#include "messages/base/printable.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point then) {
  return std::chrono::duration<double>(clock::now() - then).count();
}

/// Columns of the terminal; a line of more would go on below, and could not be
/// drawn over.
std::size_t terminal_columns() {
  constexpr std::size_t usual = 80;
  winsize size{};
  const auto known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 1 ? size.ws_col : usual;
}

std::string bar(const progress& now) {
  constexpr int width = 30;
  const auto fraction = std::min(1.0, double(now.done) / double(now.total));
  const auto full = static_cast<int>(fraction * width);
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %", "", full, "", width - full,
                     fraction * 100);
}

std::string line(const progress& now, double seconds) {
  auto text = fmt::format("{:<24} {:6.1f} s", now.phase, seconds);
  if (now.estimate_seconds > 0)
    text += fmt::format(" of about {:.0f} s", now.estimate_seconds);
  if (now.total != 0)
    text += ' ' + bar(now);
  return text;
}

/// Goes to the terminal as it is.
void draw(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// What was shown last, to show no more than needed. On a terminal, the line of
/// the phase at hand is open: the cursor stands behind it. Used by one thread
/// at a time.
class progress_display {
public:
  progress_display() = default;
  /// What is printed next begins a line.
  ~progress_display() {
    if (open_)
      draw("\n");
  }
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  void show(const progress& now) {
    if (now.phase.empty())
      return erase();
    const auto fresh = !seen_.contains(now.phase);
    const auto interval = terminal_ ? 0.1 : 10.0;
    const auto finished = now.total != 0 && now.done >= now.total;
    const auto ends_phase =
      finished && phase_ == now.phase && (terminal_ || !finished_);
    if (!fresh && !ends_phase && seconds_since(last_) < interval)
      return;
    const auto text = line(now, seconds_since(start_));
    if (terminal_) {
      const auto ends = now.phase == "done";
      draw(fmt::format("{}\r\x1b[K{}{}", fresh && open_ ? "\n" : "",
                       shortened(printable(text), terminal_columns() - 1),
                       ends ? "\n" : ""));
      open_ = !ends;
    } else {
      say(stderr, "{}\n", text);
    }
    phase_ = now.phase;
    finished_ = finished;
    seen_.insert(phase_);
    last_ = clock::now();
  }

private:
  void erase() {
    if (std::exchange(open_, false))
      draw("\r\x1b[K");
  }

  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  const clock::time_point start_ = clock::now();
  clock::time_point last_{};
  std::string phase_;     ///< That was shown last.
  bool finished_ = false; ///< And whether it was at its end.
  /// Phases may come again, one for each of many types: they get one line.
  std::set<std::string, std::less<>> seen_;
  bool open_ = false;
};

} // namespace

progress_callback show_progress(bool quiet) {
  if (quiet)
    return {};
  return [display = std::make_shared<progress_display>()](const progress& now) {
    display->show(now);
  };
}

void clear_terminal() {
  const auto* kind = std::getenv("TERM");
  const auto obeys = kind != nullptr && std::string_view{kind} != "dumb";
  if (obeys && isatty(STDOUT_FILENO) == 1)
    std::fputs("\033[H\033[2J", stdout);
}

} // namespace graphmill
