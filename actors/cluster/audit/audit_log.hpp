#pragma once

#include "actors/cluster/audit/audit_entry.hpp"
#include "actors/cluster/base/background_log.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
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
/// thread, and waits for no disk.
class audit_log {
public:
  /// @param complain Is told, on another thread, when the disk fails, and when
  /// it is well again.
  audit_log(const std::filesystem::path& folder,
            std::function<void(const std::string&)> complain);

  /// Notes an entry, with the time.
  void add(audit_entry entry);
  /// The same of several, in their order.
  void add(std::vector<audit_entry> entries);
  /// Writes what is due. To be called now and then.
  void look();

private:
  void write(const std::vector<audit_entry>& entries);

  std::mutex mutex_; ///< Of `sums_`.
  audit_sums sums_;
  background_log lines_;
};

} // namespace graphmill
