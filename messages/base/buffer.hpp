#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace graphmill {

class buffer;

/// Recycles the memory of batches, so that a batch does not pay for page faults
/// again. A block is live while a buffer has it. Afterwards it is kept for the
/// next buffer or returned to the system. Any thread may call the pool and drop
/// its buffers, which keep the pool alive. It never makes a caller wait for
/// memory: the CREDIT LEDGER limits batches.
///
/// A new block takes the place of a kept one of half its size or more. So there
/// are about as many blocks of similar sizes as have been live at once.
/// Otherwise each size that comes up would add its own to them, for as long as
/// a run lasts: batches come in all sizes.
///
/// Where blocks come from a `block_source`, more of them go if none is large
/// enough and all together have a quarter or 2 MiB more than what has been live
/// at most: those that were kept for longest, and none of more than twice the
/// excess. Otherwise sizes that hardly ever come up would add theirs. That
/// happens once in so many acquires at most, so that a user who needs all these
/// blocks in turn gets them. A heap keeps them all: what it gets back in this
/// way it hardly uses again, and a run that trains then has a quarter more
/// memory.
class buffer_pool : public std::enable_shared_from_this<buffer_pool> {
public:
  /// @param limit_bytes Limit of live and kept blocks together: a new block
  /// evicts kept ones first. Live blocks alone may exceed it, because the
  /// ledger bounds those.
  static std::shared_ptr<buffer_pool> make(std::size_t limit_bytes);

  ~buffer_pool();
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;

  /// A block of at least `bytes`, 64-byte aligned, content unspecified.
  /// Throws std::bad_alloc when the system has no memory.
  buffer acquire(std::size_t bytes);

  /// Bytes in live blocks.
  std::size_t live_bytes() const;

  /// The largest number of live bytes since the last `reset_peak`, which
  /// restarts with the present number.
  std::size_t peak_bytes() const;
  void reset_peak();

  /// Bytes in free blocks kept for reuse.
  std::size_t kept_bytes() const;

private:
  friend class buffer;
  struct kept_block {
    std::byte* data;
    std::uint64_t number; ///< In the order in which they were kept.
  };
  using kept_blocks = std::multimap<std::size_t, kept_block>;

  explicit buffer_pool(std::size_t limit_bytes) : limit_(limit_bytes) {}
  void release(std::byte* data, std::size_t capacity);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  kept_blocks kept_; ///< By capacity.
  std::uint64_t keepings_ = 0;
  std::uint64_t acquires_ = 0;
  std::uint64_t next_drop_ = 0; ///< The first acquire that may drop blocks.
  std::size_t kept_bytes_ = 0;
  std::size_t live_bytes_ = 0;
  std::size_t most_live_ = 0; ///< Whatever `reset_peak` does.
  std::size_t peak_bytes_ = 0;
};

/// Owns one block of memory, from a pool or the heap, and returns it on
/// destruction, on any thread. Move-only. Not thread-safe.
class buffer {
public:
  buffer() = default;
  /// A block from the heap; see `buffer_pool::acquire` for pooled ones.
  explicit buffer(std::size_t bytes);
  ~buffer() { reset(); }

  buffer(buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      pool_(std::move(other.pool_)) {}

  buffer& operator=(buffer&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = std::exchange(other.data_, nullptr);
      capacity_ = std::exchange(other.capacity_, 0);
      pool_ = std::move(other.pool_);
    }
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  const std::shared_ptr<buffer_pool>& pool() const { return pool_; }

  /// Returns the block.
  void reset();

private:
  friend class buffer_pool;
  buffer(std::byte* data, std::size_t capacity,
         std::shared_ptr<buffer_pool> pool)
    : data_(data), capacity_(capacity), pool_(std::move(pool)) {}

  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
  std::shared_ptr<buffer_pool> pool_;
};

/// A growable array of plain values whose memory comes from a pool, or from the
/// heap without one. Unlike std::vector it leaves new elements uninitialised,
/// because nearly all arrays are written as a whole afterwards. Growth can
/// throw std::bad_alloc. Move-only. Not thread-safe.
template <class T>
class pod_vector {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  pod_vector() = default;
  explicit pod_vector(std::shared_ptr<buffer_pool> pool)
    : pool_(std::move(pool)) {}

  T* data() { return reinterpret_cast<T*>(block_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(block_.data()); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return block_.capacity() / sizeof(T); }
  const std::shared_ptr<buffer_pool>& pool() const { return pool_; }

  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

  /// Makes room for `n` elements in all.
  void reserve(std::size_t n) {
    if (n > capacity())
      regrow(n);
  }

  /// Sets the size; elements beyond the old size are uninitialised.
  void resize(std::size_t n) {
    if (n > capacity())
      regrow(n > 2 * size_ ? n : 2 * size_);
    size_ = n;
  }

  void push_back(const T& value) {
    resize(size_ + 1);
    back() = value;
  }

  void append(std::span<const T> values) {
    const auto old = size_;
    resize(size_ + values.size());
    if (!values.empty())
      std::memcpy(data() + old, values.data(), values.size_bytes());
  }

  void clear() { size_ = 0; }

private:
  void regrow(std::size_t n) {
    auto bytes = n * sizeof(T);
    auto grown = pool_ ? pool_->acquire(bytes) : buffer{bytes};
    if (size_ != 0)
      std::memcpy(grown.data(), block_.data(), size_ * sizeof(T));
    block_ = std::move(grown);
  }

  std::shared_ptr<buffer_pool> pool_;
  buffer block_;
  std::size_t size_ = 0;
};

} // namespace graphmill
