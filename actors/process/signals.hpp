#pragma once

#include <chrono>

namespace graphmill {

/// While it exists, turns SIGINT, SIGTERM and SIGHUP into something that a
/// thread can wait for. The handler only writes to an eventfd: OpenBLAS has
/// threads of its own before main, which rules out sigwait and signalfd. At
/// most one at a time.
///
/// A closed terminal sends SIGHUP several times, so SIGHUP counts as a first
/// signal and never as a second one. If it was ignored from the start, as by
/// nohup, it stays ignored. Writing to a terminal or pipe that is gone fails,
/// but ends nothing: SIGPIPE is ignored.
class signal_watch {
public:
  signal_watch();
  ~signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

  /// Waits until a signal or `wake` comes, at most `timeout`.
  void wait(std::chrono::milliseconds timeout);

  /// Ends a `wait`; from any thread.
  void wake();

  /// Counts the hangup of a terminal that is gone. Its signal may come a moment
  /// later, and then counts no more.
  void hang_up();

  /// Signals that came so far.
  int count() const;

private:
  int event_ = -1;
};

} // namespace graphmill
