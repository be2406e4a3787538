#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// Reads of files, many under way at a time. One thread uses it; what it reads
/// into stays untouched until the read has come back, and the destructor waits
/// for those that have not.
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
    std::int64_t bytes = 0; ///< Read; or an error number, negative.
  };

  virtual ~block_reads() = default;

  /// Begins a read; at most `depth` may be under way.
  virtual void begin(const read& wanted) = 0;

  /// Appends the outcomes that are there; if there are none and `wait`, waits
  /// for one. Something must be under way then.
  virtual void collect(bool wait, std::vector<outcome>& out) = 0;
};

/// By io_uring. Null where the kernel does not have or does not allow it.
std::unique_ptr<block_reads> ring_reads(unsigned depth);

/// By threads that each have one read under way: as many as `depth`, at most
/// 32, and fewer where the system refuses more. Throws std::system_error if it
/// refuses even one.
std::unique_ptr<block_reads> pooled_reads(unsigned depth);

} // namespace graphmill
