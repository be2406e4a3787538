#pragma once

#include "partition/dataset/shard.hpp"
#include "partition/disk/block_reads.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace graphmill {

/// What the row readers of a process did so far. Thread-safe.
struct disk_counters {
  std::atomic<std::uint32_t> readers{0};
  std::atomic<std::uint64_t> wanted{0}; ///< Rows, by batches.
  std::atomic<std::uint64_t> found{0};  ///< Of those, in the cache;
  std::atomic<std::uint64_t> shared{0}; ///< with a read that another one began;
  std::atomic<std::uint64_t> rows{0};   ///< read from disk.
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> bytes{0};  ///< Of the reads.
  std::atomic<std::int64_t> busy_ns{0}; ///< Time with reads under way,
  std::atomic<std::int64_t> cpu_ns{0};  ///< processor time of the threads.
};

/// The ROW READER of a part brings feature rows from its files, when the part
/// is larger than memory: by a thread of its own that keeps many reads under
/// way, oldest request first. Rows that lie near each other come by one read; a
/// row that two requests want is read once; a bounded cache (`sieve_cache`)
/// keeps what is wanted often. Values are those of `gather_features`, bit by
/// bit. Any thread may ask.
class row_reader {
public:
  struct options {
    std::uint64_t cache_bytes = 0;
    bool rounded = false; ///< Round every value to float16.
    unsigned depth = 64;  ///< Reads under way, at most.
    /// What reads. Empty: io_uring or, where that is not allowed, threads.
    std::function<std::unique_ptr<block_reads>(unsigned depth)> reads;
  };

  /// Rows of one type, all of nodes that the part owns.
  struct request {
    node_type_id type = 0;
    std::span<const node_id> ids;   ///< Global.
    std::span<const local_id> rows; ///< Where each goes; empty: in order.
    float* out = nullptr;
  };

  /// Called once, by the reader's thread: it must neither block nor throw.
  using callback = std::function<void(result<void>)>;

  /// Opens the feature files of a part from disk; at least one.
  static result<std::shared_ptr<row_reader>>
  start(std::shared_ptr<const shard> part, options how,
        std::shared_ptr<disk_counters> counters);

  /// Waits for the reads under way, and answers everything else `cancelled`.
  ~row_reader();
  row_reader(const row_reader&) = delete;
  row_reader& operator=(const row_reader&) = delete;

  /// Writes rows to where the requests say, and calls back.
  /// @param owner Keeps spans and targets alive until then.
  void read(std::vector<request> wanted, std::shared_ptr<const void> owner,
            callback done);

  /// Memory that a reader takes beside its cache, at the most, but for tables
  /// that grow with the rows that are asked for.
  static constexpr std::uint64_t buffer_bytes = std::uint64_t{4} << 20;

private:
  class engine;
  explicit row_reader(std::unique_ptr<engine> work);
  std::unique_ptr<engine> engine_;
};

} // namespace graphmill
