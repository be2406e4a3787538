#pragma once

#include "actors/base/compute_thread.hpp"
#include "messages/base/error.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/verification/verified_files.hpp"
#include "partition/files/digest_record.hpp"

#include <spdlog/fwd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace graphmill {

/// Compares the files that a process has mapped with the digests on record, so
/// that nobody trains on damaged data. It reads on a thread of its own that
/// gives way to all others, while work goes on. Whoever asks for a verification
/// must end that work if it fails, and must not call it a success before the
/// verification has ended. What was found sound is remembered beyond the end of
/// the process. May be called from any thread; one per process.
class data_guard {
public:
  using records = std::vector<digest_record>;

  struct options {
    std::filesystem::path data; ///< Dataset, or partitioned one.
    bool verify = true;         ///< Or take everything for sound.
    std::filesystem::path memory = user_memory();
    std::shared_ptr<spdlog::logger> log;
  };

  explicit data_guard(options how);
  /// Ends a verification that is on; those that wait are dropped.
  ~data_guard();
  data_guard(const data_guard&) = delete;
  data_guard& operator=(const data_guard&) = delete;

  /// Queues a verification of what `open` gives. Its answer is `open`'s error,
  /// or that of the first file that is damaged.
  /// @param open Called on the guard's thread.
  /// @param done Called there, once, unless the guard ends before.
  void check(std::function<result<records>()> open,
             std::function<void(const result<void>&)> done);
  void check(records data, std::function<void(const result<void>&)> done);

  /// Somebody has nothing left to do but to wait: the verifications that are
  /// queued now stop giving way to others.
  void hurry();

private:
  result<void> verify(const records& data);
  result<void> verify_unknown(const records& data);

  const options how_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> hurry_{false};
  std::atomic<std::size_t> queued_{0};
  // Of the guard's thread.
  verified_files memory_;
  /// What was found damaged, so that it is not read over and over.
  struct fault {
    digest_record record;
    error reason;
  };
  std::map<std::filesystem::path, fault> faults_;
  compute_thread thread_; ///< Last: ends before what its jobs use.
};

/// The files of the parts that a daemon serves, looked at also between runs.
/// Used on the guard's thread alone.
class served_data {
public:
  served_data(std::filesystem::path folder,
              std::shared_ptr<const partitioned_graph> graph,
              std::vector<part_id> parts)
    : folder_(std::move(folder)), graph_(std::move(graph)),
      parts_(std::move(parts)) {}

  /// Opens the graph and its parts anew if any file has changed since they were
  /// opened last. Fails if that is another graph than the daemon began with,
  /// but for its seeds: every run reads these again.
  result<data_guard::records> look();

private:
  std::filesystem::path folder_;
  std::shared_ptr<const partitioned_graph> graph_;
  std::vector<part_id> parts_;
  data_guard::records last_;
};

} // namespace graphmill
