#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>

namespace graphmill::test {

/// Runs `work` in a forked child and ends it with the code that it returns. An
/// alarm ends a child that hangs.
/// @returns the child's process id.
template <class Work>
pid_t start_child(Work work) {
  std::fflush(nullptr);
  const auto child = ::fork();
  if (child < 0)
    throw std::runtime_error("cannot fork");
  if (child > 0)
    return child;
  ::alarm(60);
  int code = 111;
  try {
    code = work();
  } catch (...) {
    code = 112;
  }
  ::_exit(code);
}

/// @returns the status of waitpid(2).
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw std::runtime_error("cannot wait for a child");
  return status;
}

/// @returns what `work` returned, or minus the number of the signal that ended
/// the child.
template <class Work>
int code_of_child(Work work) {
  const auto status = wait_for(start_child(work));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace graphmill::test
