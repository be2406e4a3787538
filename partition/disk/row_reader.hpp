#pragma once

#include "partition/dataset/shard.hpp"
#include "partition/disk/block_reads.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// What the row readers of a process have done so far. They add to it from
/// their threads; anybody may read it at any time.
struct disk_counters {
  std::atomic<std::uint32_t> readers{0};
  std::atomic<std::uint64_t> wanted{0}; ///< Rows that were asked for.
  std::atomic<std::uint64_t> found{0};  ///< Of them, those in the cache.
  /// Of them, those that came with a read begun for another request.
  std::atomic<std::uint64_t> shared{0};
  std::atomic<std::uint64_t> rows{0};   ///< Rows for which the disk was read.
  std::atomic<std::uint64_t> reads{0};  ///< Reads that have ended.
  std::atomic<std::uint64_t> bytes{0};  ///< Bytes that they asked for.
  std::atomic<std::int64_t> busy_ns{0}; ///< Time with reads under way.
  std::atomic<std::int64_t> cpu_ns{0};  ///< Processor time of the readers.
  /// Bytes that the rows in the caches take, with what is known of each.
  std::atomic<std::uint64_t> kept{0};
  std::atomic<std::uint64_t> room{0}; ///< The most that these may be.
};

/// The ROW READER of a part brings feature rows from its files when the part is
/// larger than memory. A thread of its own keeps many reads under way, those of
/// the oldest request first. Rows that lie near each other come by one read; a
/// row that two requests want is read once; a bounded cache (`sieve_cache`)
/// keeps what is wanted often. Values are those of `gather_features`, bit by
/// bit.
///
/// Any thread may call `read`, which never waits for the disk. Every request is
/// answered exactly once, from the reader's thread: with success, with the
/// first error of its rows, or with `cancelled` when the reader ends. An error
/// of one request costs the others nothing. When memory runs out, all of them
/// fail, and so does every later one. The reader owns its files, its cache and
/// its thread, and keeps the part mapped. Whoever destroys it waits for its
/// thread, which must not do so itself: callbacks must not hold the last
/// reference.
class row_reader {
public:
  struct options {
    std::uint64_t cache_bytes = 0;
    bool rounded = false; ///< Round every value to float16.
    unsigned depth = 64;  ///< Reads under way, at most.
    /// What reads. Empty: io_uring or, where that is not allowed, threads.
    std::function<std::unique_ptr<block_reads>(unsigned depth)> reads;
  };

  /// Rows of one type with features, all of nodes that the part owns. This is
  /// not checked again here. Borrows ids, rows and target (see `read`).
  struct request {
    node_type_id type = 0;
    std::span<const node_id> ids;   ///< Global ids.
    std::span<const local_id> rows; ///< Where each goes; empty: in order.
    float* out = nullptr;           ///< [any rows, feature width]
  };

  /// Called once, by the reader's thread, while no request gets any further: it
  /// must neither block nor throw.
  using callback = std::function<void(result<void>)>;

  /// Opens the feature files of a part, of which it must have one at least, and
  /// starts the thread. Fails with a sentence that names the file, with
  /// `out_of_memory`, or with `unavailable` where the system refuses threads.
  static result<std::shared_ptr<row_reader>>
  start(std::shared_ptr<const shard> part, options how,
        std::shared_ptr<disk_counters> counters);

  /// Waits for the reads under way, whose rows are dropped, and answers all
  /// requests that are open with `cancelled`.
  ~row_reader();
  row_reader(const row_reader&) = delete;
  row_reader& operator=(const row_reader&) = delete;

  /// Writes rows to where the requests say, and calls back.
  /// @param owner Keeps spans and targets alive until then. After an error,
  /// any part of the targets may have been written.
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
