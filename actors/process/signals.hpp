#pragma once

#include <chrono>

namespace graphmill {

/// Turns SIGINT, SIGTERM and SIGHUP into something a thread can wait for, while
/// it exists. The handler only writes to an eventfd: OpenBLAS has threads of
/// its own from before main, which rules sigwait and signalfd out. At most one
/// at a time.
///
/// A terminal that goes away sends SIGHUP, several times over, so that counts
/// as a first signal and never as a second one; where it was ignored from the
/// start, as by nohup, it still is. Writing to the terminal or pipe that is
/// gone fails, but ends nothing: SIGPIPE is ignored meanwhile.
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

  /// Counts the hangup of a terminal that is seen to be gone, whose signal may
  /// come a moment later: it does no more then.
  void hang_up();

  /// Signals that came so far.
  int count() const;

private:
  int event_ = -1;
};

} // namespace graphmill
