#pragma once

#include "messages/wire/log.hpp"

#include <spdlog/sinks/sink.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace graphmill {

/// The last lines of a log, in memory: those of a daemon, or at the coordinator
/// those of all daemons, as far as it has collected them. Lines are numbered
/// one after the other. When they take more than the ring may, the oldest line
/// of the daemon that has most makes room: whoever logs without end pushes out
/// its own lines, and none of a daemon that has less. Of several that have
/// most, the oldest line goes. Thread-safe; nobody waits for longer than it
/// takes to look at lines for one answer, and to copy it.
class log_ring {
public:
  static constexpr std::size_t of_daemon = std::size_t{4} << 20;
  static constexpr std::size_t of_cluster = std::size_t{16} << 20;

  /// @param most Bytes, as `log_line::bytes` counts them. The last line stays,
  /// however long it is.
  explicit log_ring(std::size_t most) : most_(most) {}

  /// Numbers begin here, with the lines that are kept by now: above all that a
  /// coordinator before has given.
  void begin(std::uint64_t first);

  /// Texts are to be printable, and bounded, already.
  void add(log_line line);

  /// The same of several: whoever adds many waits once for those who look.
  void add_all(std::vector<log_line> lines);

  /// The lines from a number on that are asked for, as many as an answer may
  /// have, or none yet: it looks at `log_limits::looked_at` lines. A number
  /// from before `begin` misses nothing, and one that has not been given yet is
  /// of somebody else's ring: both mean all lines.
  log_reply since(const log_request& asked) const;

private:
  /// What a daemon has in the ring.
  struct share {
    std::size_t bytes = 0;
    std::deque<std::uint64_t> numbers; ///< Of its lines, ascending.
  };

  void keep(log_line line);
  void forget_one();

  mutable std::mutex mutex_;
  std::size_t most_;
  std::size_t bytes_ = 0;
  /// Number of the first line ever, as others know it.
  std::uint64_t begin_ = 0;
  // Numbers from here on count from that line.
  std::uint64_t added_ = 0; ///< Number of the next line.
  std::map<std::uint64_t, log_line> lines_;
  std::map<std::string, share> shares_; ///< By daemon.
};

/// A sink that keeps messages as lines of a daemon in a ring.
/// @param run Its lines are those of a run, whatever their logger says; empty:
/// they are what it says.
spdlog::sink_ptr ring_sink(std::shared_ptr<log_ring> to, std::string daemon,
                           std::string run = {});

} // namespace graphmill
