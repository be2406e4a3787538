#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// Reads of files, many under way at a time. One thread calls all member
/// functions. It borrows descriptors and memory: from `begin` until the outcome
/// has been collected, the caller leaves both alone. Reads come back in any
/// order, each once, and may bring less than was asked for. The destructor
/// returns when nothing is written to the memory any more; outcomes that have
/// not been collected are lost.
class block_reads {
public:
  struct read {
    int fd = -1;
    std::uint64_t offset = 0;
    std::byte* to = nullptr;
    std::size_t size = 0;
    std::uint32_t tag = 0; ///< Comes back with the outcome.
  };
  struct outcome {
    std::uint32_t tag = 0;
    std::int64_t bytes = 0; ///< Bytes read, or the negative of an errno.
  };

  virtual ~block_reads() = default;

  /// Begins a read; at most `depth` may be under way.
  virtual void begin(const read& wanted) = 0;

  /// Appends the outcomes that are there; if there are none and `wait`, waits
  /// for one. Something must be under way then.
  virtual void collect(bool wait, std::vector<outcome>& out) = 0;
};

/// Reads by io_uring (Axboe, "Efficient IO with io_uring", 2019), without
/// threads. Null where the kernel does not have it, is older than 5.6, or does
/// not allow it, as in many containers.
std::unique_ptr<block_reads> ring_reads(unsigned depth);

/// Reads by threads that each have one read under way: as many as `depth`, at
/// most 32, and fewer where the system refuses more. Throws std::system_error
/// if it refuses even one.
std::unique_ptr<block_reads> pooled_reads(unsigned depth);

} // namespace graphmill
