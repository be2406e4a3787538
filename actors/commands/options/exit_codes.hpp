#pragma once

namespace graphmill {

/// What the exit codes of all commands mean, as help and the manual page list
/// them.
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;    ///< As shells give for wrong arguments.
inline constexpr int exit_troubled = 3; ///< It goes on, but something is wrong.
inline constexpr int exit_failed = 4;   ///< The run has failed.
inline constexpr int exit_defect = 70;  ///< EX_SOFTWARE of sysexits.h
inline constexpr int exit_cancelled = 130; ///< As shells give for SIGINT.

struct exit_meaning {
  int code;
  const char* text; ///< Without a full stop.
};

inline constexpr exit_meaning exit_meanings[]{
  {0, "done"},
  {exit_failure, "failed; the last line on standard error has the reason"},
  {exit_usage, "wrong command line; nothing was done"},
  {exit_troubled,
   "`status`: the cluster or run goes on, but something is wrong"},
  {exit_failed, "`status RUN`: the run has failed"},
  {exit_defect, "a defect of graphmill itself"},
  {exit_cancelled,
   "ended by Ctrl-C, SIGTERM or a closed terminal, or the run was cancelled"},
};

} // namespace graphmill
