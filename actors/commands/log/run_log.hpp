#pragma once

#include "actors/cluster/client/client.hpp"
#include "messages/wire/log.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace graphmill {

/// Reads the log in a run's folder through the coordinator, line by line: what
/// was put aside of a long one, and the rest. It has what coordinators have
/// said of the run. Used by one thread.
class run_log {
public:
  /// @param client Outlives it.
  run_log(cluster_client& client, std::string run)
    : client_(client), run_(std::move(run)) {}

  struct entry {
    log_line line; ///< Of no daemon.
    /// False of what has not been written as a line: its level is not known,
    /// and its time is that of the line before.
    bool is_whole = true;
  };

  /// Looks how long the log is: what is written from now on is not read. Before
  /// anything else.
  result<void> open();

  /// The next line; nothing at the end, or if there is no log.
  result<std::optional<entry>> next();

private:
  result<bool> read_more();

  cluster_client& client_;
  std::string run_;
  std::uint64_t size_ = 0;   ///< Of the last file, as far as it is read.
  std::size_t file_ = 0;     ///< Which of them is read.
  std::uint64_t offset_ = 0; ///< In that.
  std::string text_;         ///< What has been read.
  std::size_t told_ = 0;     ///< Of that.
  unix_time last_{0};        ///< Of the last line that had a time.
};

} // namespace graphmill
