#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/cluster/audit/audit_entry.hpp"
#include "actors/process/logs/log_file.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// Sums up refusals that are alike: of those of one host, of one method and
/// with one code the first is told at once, and at the end of a period how many
/// came beside it. So nobody fills the log by being refused. Is told the time.
class audit_sums {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @returns what is to be written now.
  std::vector<audit_entry> add(audit_entry entry, time_point now);
  /// What a period that is over has kept back.
  std::vector<audit_entry> look(time_point now);

private:
  struct kind {
    audit_entry last;
    std::uint64_t untold = 0;
  };

  time_point since_{};
  std::map<std::string, kind> kinds_;
  std::uint64_t left_out_ = 0; ///< Of more kinds than are kept apart.
};

/// Who has changed something in a cluster, and who was refused: `audit.jsonl`
/// in the folder of runs, with the one before as `audit.jsonl.old`. From any
/// thread; a thread of its own waits for the disk. A disk that is full stops
/// nobody: it is told once, and how many lines are missing is written when
/// there is room.
class audit_log {
public:
  /// @param complain Is told, on another thread, when the disk fails, and when
  /// it is well again.
  audit_log(const std::filesystem::path& folder,
            std::function<void(const std::string&)> complain);
  /// Gives what waits a moment to be written.
  ~audit_log();
  audit_log(const audit_log&) = delete;
  audit_log& operator=(const audit_log&) = delete;

  /// Notes an entry, with the time.
  void add(audit_entry entry);
  /// The same of several, in their order.
  void add(std::vector<audit_entry> entries);
  /// Writes what is due. To be called now and then.
  void look();

private:
  void post(const std::vector<audit_entry>& entries);

  std::function<void(const std::string&)> complain_;
  std::mutex mutex_; ///< Of `sums_` and `dropped_`.
  audit_sums sums_;
  std::size_t dropped_ = 0; ///< Entries for which the thread had no room.
  log_file file_;           ///< The thread's.
  compute_thread thread_;   ///< Last: ends before what its jobs use.
};

} // namespace graphmill
