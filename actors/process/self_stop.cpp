#include "actors/process/self_stop.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace graphmill {

namespace {

constexpr unsigned first_own_descriptor = 3;

/// In the child: calls nothing but what is allowed after a fork of a process
/// with threads. It gives up the descriptors first, so that no connection and
/// no lock of the parent outlives the parent.
[[noreturn]] void stop_parent(pid_t parent, timespec time) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close_range(first_own_descriptor, ~0U, 0);
  if (::getppid() != parent) // It was gone before we asked to be told.
    ::_exit(1);
  ::kill(parent, SIGSTOP);
  while (::nanosleep(&time, &time) != 0 && errno == EINTR) {
  }
  ::kill(parent, SIGCONT);
  ::_exit(0);
}

} // namespace

result<void> stop_this_process(std::chrono::milliseconds time) {
  const auto parent = ::getpid();
  const timespec asked{time.count() / 1000, (time.count() % 1000) * 1'000'000};
  // Not fork: handlers of libraries would stop OpenBLAS's threads at their
  // work.
  const auto child = ::_Fork();
  if (child == 0)
    stop_parent(parent, asked);
  if (child < 0)
    return fail_errno(errno, "cannot make a process that wakes this one up");
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return ok();
}

} // namespace graphmill
