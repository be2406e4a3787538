#include "actors/process/signals.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace graphmill {

namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> signal_event{-1};
std::atomic<int> signal_count{0};

void add_one(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] auto written = write(event, &one, sizeof one);
}

void on_signal(int number) {
  const auto saved = errno;
  auto none = 0;
  if (number != SIGHUP)
    ++signal_count;
  else
    signal_count.compare_exchange_strong(none, 1);
  if (const auto event = signal_event.load(); event >= 0)
    add_one(event);
  errno = saved;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction now {};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

} // namespace

signal_watch::signal_watch() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  signal_count = 0;
  signal_event = event_;
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  if (!is_ignored(SIGHUP))
    handle(SIGHUP, on_signal);
  handle(SIGPIPE, SIG_IGN);
}

signal_watch::~signal_watch() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  // After a signal, what is left is to save: no hangup may disturb that.
  if (signal_count > 0)
    handle(SIGHUP, SIG_IGN);
  else if (!is_ignored(SIGHUP))
    handle(SIGHUP, SIG_DFL);
  handle(SIGPIPE, SIG_DFL);
  signal_event = -1;
  close(event_);
}

void signal_watch::wait(std::chrono::milliseconds timeout) {
  pollfd waited{event_, POLLIN, 0};
  if (poll(&waited, 1, static_cast<int>(timeout.count())) > 0) {
    std::uint64_t drained = 0;
    [[maybe_unused]] auto got = read(event_, &drained, sizeof drained);
  }
}

void signal_watch::wake() {
  add_one(event_);
}

void signal_watch::hang_up() {
  on_signal(SIGHUP);
}

int signal_watch::count() const {
  return signal_count;
}

} // namespace graphmill
