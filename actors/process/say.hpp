#pragma once

#include "messages/base/error.hpp"
#include "messages/base/printable.hpp"

#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

namespace graphmill {

/// Prints text of several lines for the user. Control characters are escaped;
/// lines stay lines, so values in the text must already be printable
/// (`format_printable`). If the terminal or pipe is gone, the work goes on.
/// `main` checks at the end whether standard output accepted everything.
inline void say_lines(std::FILE* to, std::string_view text) {
  const auto shown = printable(text, line_breaks::keep);
  std::fwrite(shown.data(), 1, shown.size(), to);
}

/// The same on standard output.
inline void say_lines(std::string_view text) {
  say_lines(stdout, text);
}

/// Prints for the user. Text values stay on their line, because many come from
/// files and other processes, which could forge lines of ours.
template <class... Ts>
void say(std::FILE* to, fmt::format_string<Ts...> text, Ts&&... args) {
  say_lines(to, format_printable(text, std::forward<Ts>(args)...));
}

/// The same on standard output.
template <class... Ts>
void say(fmt::format_string<Ts...> text, Ts&&... args) {
  say(stdout, text, std::forward<Ts>(args)...);
}

/// The reader of standard output.
enum class output_reader {
  there,
  gone,    ///< The reader of a pipe, which has read what it wanted.
  hung_up, ///< The terminal was closed: SIGHUP follows, or has come.
};

/// Flushes standard output. Fails if some of it could not be written although
/// its reader is there. Without a reader, a program that only prints has no
/// more to do. It notices that also when nothing was printed, for programs that
/// wait for something to print.
inline result<output_reader> flush_output() {
  const auto is_out = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const auto cause = errno;
  // An earlier write may have failed, and something else since then.
  pollfd reader{::fileno(stdout), 0, 0};
  if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) {
    std::clearerr(stdout);
    // It is no terminal any more, by `isatty`.
    struct stat about {};
    const auto was_terminal = (reader.revents & POLLHUP) != 0
                              && ::fstat(reader.fd, &about) == 0
                              && S_ISCHR(about.st_mode);
    return was_terminal ? output_reader::hung_up : output_reader::gone;
  }
  if (!is_out)
    return fail_errno(cause, "not all that was to be printed could be");
  return output_reader::there;
}

} // namespace graphmill
