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

/// The last lines of a log in memory: of a daemon, or at the coordinator of all
/// daemons, as far as it has collected them. Lines have consecutive numbers.
/// When they exceed the ring's limit, the oldest line of the daemon with the
/// most bytes is dropped. So a daemon that logs without end displaces only its
/// own lines. Of several such daemons, the oldest line is dropped. Thread-safe.
/// A caller waits at most for the search and copy of one answer.
class log_ring {
public:
  static constexpr std::size_t of_daemon = std::size_t{4} << 20;
  static constexpr std::size_t of_cluster = std::size_t{16} << 20;

  /// @param most Bytes, as `log_line::bytes` counts them. The last line stays,
  /// whatever its length.
  explicit log_ring(std::size_t most) : most_(most) {}

  /// Numbers start here, with the present lines: above all numbers of a former
  /// coordinator.
  void begin(std::uint64_t first);

  /// Texts must already be printable and bounded.
  void add(log_line line);

  /// The same for several lines, with one wait for readers.
  void add_all(std::vector<log_line> lines);

  /// The matching lines from a number on, as many as an answer holds, or none
  /// yet: it searches `log_limits::looked_at` lines. A number from before
  /// `begin` misses nothing, and a future number belongs to another ring: both
  /// mean all lines.
  log_reply since(const log_request& asked) const;

private:
  /// The lines of a daemon in the ring.
  struct share {
    std::size_t bytes = 0;
    std::deque<std::uint64_t> numbers; ///< Of its lines, ascending.
  };

  void keep(log_line line);
  void forget_one();

  mutable std::mutex mutex_;
  std::size_t most_;
  std::size_t bytes_ = 0;
  /// Number of the first line ever, for others.
  std::uint64_t begin_ = 0;
  // Numbers count from that line.
  std::uint64_t added_ = 0; ///< Number of the next line.
  std::map<std::uint64_t, log_line> lines_;
  std::map<std::string, share> shares_; ///< By daemon.
};

/// A sink that keeps messages as lines of a daemon in a ring.
/// @param run The run of all lines; empty: as their logger says.
spdlog::sink_ptr ring_sink(std::shared_ptr<log_ring> to, std::string daemon,
                           std::string run = {});

} // namespace graphmill
