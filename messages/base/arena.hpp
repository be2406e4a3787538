#pragma once

#include "messages/base/block_source.hpp"
#include "messages/base/error.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace graphmill {

/// Memory that another process can map, too: blocks of one anonymous file,
/// which is named by a descriptor. The file is sparse: a page takes memory from
/// when its block is taken, or from its first use by a smaller block, until the
/// block is given back, or for ever after `keep_pages`.
/// Blocks that lie side by side become one when they are free. Any thread may
/// call it.
class arena final : public block_source {
public:
  /// @param bytes Of the file, a multiple of the page size: the most that all
  /// blocks may take. Fails where the system has no room for the mapping.
  static result<std::unique_ptr<arena>> make(std::size_t bytes);

  ~arena() override;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  std::byte* take(std::size_t capacity) override;
  void give_back(std::byte* block, std::size_t capacity) noexcept override;

  /// From now on, pages stay when their block is given back: a device reads
  /// them where they are, and would not see others in their place.
  void keep_pages() { keeps_pages_ = true; }

  int descriptor() const { return file_; }
  std::size_t bytes() const { return bytes_; }

  /// The position of a byte in the file. @pre It lies in a block.
  std::size_t place_of(const void* byte) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(byte)
                                    - base_);
  }

  /// Bytes of all blocks that are taken.
  std::size_t taken_bytes() const;

private:
  arena(int file, std::byte* base, std::size_t bytes);
  std::byte* place(std::size_t capacity);

  const int file_;
  std::byte* const base_;
  const std::size_t bytes_;
  std::atomic<bool> keeps_pages_{false};
  mutable std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_; ///< Lengths, by position.
  std::size_t taken_ = 0;
};

} // namespace graphmill
