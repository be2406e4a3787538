#pragma once

#include <cstddef>

namespace graphmill {

/// Where a process takes the memory of its buffers from, in place of the heap.
/// Any thread may call it.
class block_source {
public:
  virtual ~block_source() = default;

  /// A block of `capacity` bytes, 64-byte aligned, content unspecified. Throws
  /// std::bad_alloc when there is no more memory.
  virtual std::byte* take(std::size_t capacity) = 0;

  /// @param block Of `take`, with the same capacity. Throws nothing.
  virtual void give_back(std::byte* block, std::size_t capacity) noexcept = 0;
};

/// Makes all buffers and pools of this process use `source`. To be called while
/// there are none: a block returns to where it came from.
/// @param source Outlives every buffer. Null: the heap, as from the start.
void take_blocks_from(block_source* source);

} // namespace graphmill
