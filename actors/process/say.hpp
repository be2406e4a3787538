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

/// Prints text of several lines for the user. What a terminal would obey
/// instead of showing it is escaped; lines stay lines, so values in it must
/// have been made printable before (`format_printable`). If the terminal or
/// pipe is gone, the work goes on all the same. `main` looks at the end whether
/// standard output took everything.
inline void say_lines(std::FILE* to, std::string_view text) {
  const auto shown = printable(text, line_breaks::keep);
  std::fwrite(shown.data(), 1, shown.size(), to);
}

/// The same on standard output.
inline void say_lines(std::string_view text) {
  say_lines(stdout, text);
}

/// Prints for the user. Values that are text stay on their line, for much of it
/// comes from files and from others, who could make up lines of ours.
template <class... Ts>
void say(std::FILE* to, fmt::format_string<Ts...> text, Ts&&... args) {
  say_lines(to, format_printable(text, std::forward<Ts>(args)...));
}

/// The same on standard output.
template <class... Ts>
void say(fmt::format_string<Ts...> text, Ts&&... args) {
  say(stdout, text, std::forward<Ts>(args)...);
}

/// Who reads standard output.
enum class output_reader {
  there,
  gone,    ///< The one of a pipe, who has read what it wanted.
  hung_up, ///< The terminal was closed: SIGHUP comes soon, or has come.
};

/// Hands on what was printed on standard output. Fails if not all of it could
/// be, though its reader is there: without one there is no more to do for who
/// does nothing but print. That is seen though nothing was printed, for who
/// waits for something to print.
inline result<output_reader> flush_output() {
  const auto is_out = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const auto cause = errno;
  // What was printed before may have failed, and something else since then.
  pollfd reader{::fileno(stdout), 0, 0};
  if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) {
    std::clearerr(stdout);
    // Which is no terminal any more, by `isatty`.
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
