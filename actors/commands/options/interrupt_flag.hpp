#pragma once

#include <atomic>
#include <csignal>
#include <utility>
#include <vector>

namespace graphmill {

/// Turns the first Ctrl-C or SIGTERM into a flag; the second one of its kind
/// ends the process. A terminal that goes away sends SIGHUP several times, so
/// that never does, and what is still said there is lost without a SIGPIPE;
/// where SIGHUP was ignored from the start, as by nohup, it still is. The flag
/// is the only state that a signal handler can reach.
class interrupt_flag {
public:
  interrupt_flag();
  ~interrupt_flag();
  interrupt_flag(const interrupt_flag&) = delete;
  interrupt_flag& operator=(const interrupt_flag&) = delete;

  static std::atomic<bool>& raised();

private:
  void handle(int number, void (*handler)(int), unsigned flags);

  std::vector<std::pair<int, struct sigaction>> before_;
};

} // namespace graphmill
