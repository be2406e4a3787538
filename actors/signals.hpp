#pragma once

#include <chrono>

namespace graphmill {

/// Turns SIGINT and SIGTERM into something a thread can wait for, while it
/// exists. The handler only writes to an eventfd: OpenBLAS has threads of its
/// own from before main, which rules sigwait and signalfd out. At most one at a
/// time.
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

  /// Signals that came so far.
  int count() const;

private:
  int event_ = -1;
};

} // namespace graphmill
