#pragma once

#include "actors/cluster/base/background_log.hpp"
#include "pipelines/figures/event_ring.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace graphmill {

/// What has happened in a cluster, for a coordinator after this one:
/// `events.jsonl` in the folder of runs, with the one before as
/// `events.jsonl.old`. Lines are as /api/events has them. From any thread;
/// nobody but `former` waits for the disk.
class event_journal {
public:
  /// Bytes of the file before it becomes the old one. Both have room for what a
  /// coordinator remembers, unless most of that is long and in other scripts.
  static constexpr std::size_t file_bytes = std::size_t{2} << 20;

  using complaint = std::function<void(const std::string&)>;

  /// @param cluster Its id: events of another one, as from before the history
  /// of runs was lost, are not its own, and their numbers say nothing.
  /// @param complain Is told, on another thread, when events cannot be written,
  /// and when they can again.
  event_journal(const std::filesystem::path& folder, std::string cluster,
                complaint complain);

  /// What a coordinator before has noted.
  struct past {
    std::vector<cluster_event> events;
    std::vector<std::string> damage; ///< What could not be read.
  };
  /// The latest events with numbers below that, ascending, no more than an
  /// `event_ring` keeps. What cannot be read is left out, and for those that
  /// could not be written stands one that says so.
  past former(std::uint64_t below) const;

  /// Notes an event that has its number. If there is no memory for that, it is
  /// one of those that are missing in the file.
  void add(const cluster_event& event);

private:
  std::filesystem::path file_;
  std::string cluster_;
  background_log lines_;
};

} // namespace graphmill
