#include "messages/base/buffer.hpp"

#include "messages/base/block_source.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace graphmill {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t large = std::size_t{1} << 20;
constexpr std::size_t most_idle = std::size_t{2} << 20;
constexpr std::uint64_t acquires_by_drop = 64;

block_source* chosen_source = nullptr; ///< Null: the heap.

/// The size of the block for so many bytes. Beyond a page it is rounded up to
/// quarters of a power of two, so that blocks of similar sizes can stand in for
/// each other, and no block is more than a quarter larger than was asked for.
/// Large ones of a source get a 32nd more and are rounded up to 32nds. Batches
/// with as many seeds differ by a few percent, so that the first blocks serve
/// nearly all of them.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= 4096)
    return std::max<std::size_t>((bytes + alignment - 1) & -alignment,
                                 alignment);
  const auto is_large = chosen_source != nullptr && bytes > large;
  if (is_large)
    bytes += bytes / 32;
  const auto part = std::bit_floor(bytes - 1) / (is_large ? 32 : 4);
  return (bytes + part - 1) / part * part;
}

std::byte* allocate(std::size_t capacity) {
  if (chosen_source != nullptr)
    return chosen_source->take(capacity);
  const auto align = capacity >= huge_page ? huge_page : alignment;
  void* data = nullptr;
  if (posix_memalign(&data, align, capacity) != 0)
    throw std::bad_alloc{};
  if (capacity >= huge_page)
    madvise(data, capacity, MADV_HUGEPAGE); // Advice: failure is harmless.
  return static_cast<std::byte*>(data);
}

void give_back(std::byte* block, std::size_t capacity) noexcept {
  if (chosen_source != nullptr)
    chosen_source->give_back(block, capacity);
  else
    std::free(block);
}

} // namespace

void take_blocks_from(block_source* wanted) {
  chosen_source = wanted;
}

std::shared_ptr<buffer_pool> buffer_pool::make(std::size_t limit_bytes) {
  return std::shared_ptr<buffer_pool>{new buffer_pool{limit_bytes}};
}

buffer_pool::~buffer_pool() {
  for (auto& [size, block] : kept_)
    give_back(block.data, size);
}

buffer buffer_pool::acquire(std::size_t bytes) {
  const auto wanted = size_class(bytes);
  std::vector<std::pair<std::size_t, std::byte*>> evicted;
  std::byte* found = nullptr;
  auto capacity = wanted;
  {
    std::lock_guard lock{mutex_};
    const auto evict = [&](auto it) {
      evicted.emplace_back(it->first, it->second.data);
      kept_bytes_ -= it->first;
      kept_.erase(it);
    };
    // A kept block may be up to half as large again as what is wanted:
    // estimates of memory allow for that. Larger ones are left for those who
    // need them.
    if (auto it = kept_.lower_bound(bytes);
        it != kept_.end() && it->first <= wanted + wanted / 2) {
      found = it->second.data;
      capacity = it->first;
      kept_bytes_ -= capacity;
      kept_.erase(it);
    } else if (it != kept_.begin() && std::prev(it)->first >= wanted / 2) {
      evict(std::prev(it));
    }
    live_bytes_ += capacity;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    most_live_ = std::max(most_live_, live_bytes_);
    const auto most = most_live_ + std::min(most_live_ / 4, most_idle);
    if (chosen_source != nullptr && found == nullptr
        && live_bytes_ + kept_bytes_ > most && acquires_ >= next_drop_) {
      next_drop_ = acquires_ + acquires_by_drop;
      // A large one would soon be needed again, and its pages take time.
      const auto small = 2 * (live_bytes_ + kept_bytes_ - most);
      while (live_bytes_ + kept_bytes_ > most
             && kept_.begin() != kept_.upper_bound(small))
        evict(std::min_element(kept_.begin(), kept_.upper_bound(small),
                               [](const auto& one, const auto& other) {
                                 return one.second.number < other.second.number;
                               }));
    }
    ++acquires_;
    while (!kept_.empty() && live_bytes_ + kept_bytes_ > limit_)
      evict(std::prev(kept_.end()));
  }
  for (const auto& [size, block] : evicted)
    give_back(block, size);
  if (found == nullptr) {
    try {
      found = allocate(capacity);
    } catch (...) {
      std::lock_guard lock{mutex_};
      live_bytes_ -= capacity;
      throw;
    }
  }
  return buffer{found, capacity, shared_from_this()};
}

std::size_t buffer_pool::live_bytes() const {
  std::lock_guard lock{mutex_};
  return live_bytes_;
}

std::size_t buffer_pool::peak_bytes() const {
  std::lock_guard lock{mutex_};
  return peak_bytes_;
}

void buffer_pool::reset_peak() {
  std::lock_guard lock{mutex_};
  peak_bytes_ = live_bytes_;
}

std::size_t buffer_pool::kept_bytes() const {
  std::lock_guard lock{mutex_};
  return kept_bytes_;
}

void buffer_pool::release(std::byte* data, std::size_t capacity) {
  {
    std::lock_guard lock{mutex_};
    live_bytes_ -= capacity;
    if (live_bytes_ + kept_bytes_ + capacity <= limit_) {
      kept_.emplace(capacity, kept_block{data, keepings_++});
      kept_bytes_ += capacity;
      return;
    }
  }
  give_back(data, capacity);
}

buffer::buffer(std::size_t bytes)
  : data_(allocate(size_class(bytes))), capacity_(size_class(bytes)) {}

void buffer::reset() {
  if (data_ == nullptr)
    return;
  if (pool_)
    std::exchange(pool_, nullptr)->release(data_, capacity_);
  else
    give_back(data_, capacity_);
  data_ = nullptr;
  capacity_ = 0;
}

} // namespace graphmill
