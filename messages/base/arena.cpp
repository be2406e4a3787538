#include "messages/base/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <new>

namespace graphmill {

namespace {

constexpr std::size_t page_bytes = 4096;

/// A block of a page and more begins with a page, so that its pages can be
/// given back.
std::size_t begin_in(std::size_t position, std::size_t capacity) {
  const auto align = capacity >= page_bytes ? page_bytes : std::size_t{64};
  return (position + align - 1) & ~(align - 1);
}

} // namespace

arena::arena(int file, std::byte* base, std::size_t bytes)
  : file_(file), base_(base), bytes_(bytes) {
  free_.emplace(0, bytes);
}

arena::~arena() {
  ::munmap(base_, bytes_);
  ::close(file_);
}

result<std::unique_ptr<arena>> arena::make(std::size_t bytes) {
  const auto file = ::memfd_create("graphmill-batches", MFD_CLOEXEC);
  if (file < 0)
    return fail_errno(errno, "cannot make shared memory for batches");
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    const auto cause = errno;
    ::close(file);
    return fail_errno(cause, "cannot make {} bytes of shared memory", bytes);
  }
  auto* base =
    ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) {
    const auto cause = errno;
    ::close(file);
    return fail_errno(cause,
                      "cannot map {} bytes of shared memory; a limit on "
                      "address space (ulimit -v) must allow that",
                      bytes);
  }
  return std::unique_ptr<arena>{
    new arena{file, static_cast<std::byte*>(base), bytes}};
}

std::byte* arena::take(std::size_t capacity) {
  auto* block = place(capacity);
  // The whole block gets its memory now. Otherwise larger arrays of later
  // batches would fill more of it, and memory would grow. Without memory this
  // call fails, where a later write would end the process by SIGBUS. Linux
  // before 5.14 lacks the call.
  if (capacity >= page_bytes
      && ::madvise(block, capacity, MADV_POPULATE_WRITE) != 0
      && (errno == ENOMEM || errno == EFAULT)) {
    give_back(block, capacity);
    throw std::bad_alloc{};
  }
  return block;
}

std::byte* arena::place(std::size_t capacity) {
  const std::lock_guard lock{mutex_};
  // The first gap that is large enough: blocks stay at the front, so that few
  // pages are in use.
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [position, length] = *it;
    const auto begin = begin_in(position, capacity);
    if (begin + capacity > position + length)
      continue;
    if (begin == position)
      free_.erase(it);
    else
      it->second = begin - position;
    if (const auto left = position + length - begin - capacity; left != 0)
      free_.emplace(begin + capacity, left);
    taken_ += capacity;
    return base_ + begin;
  }
  throw std::bad_alloc{};
}

void arena::give_back(std::byte* block, std::size_t capacity) noexcept {
  const auto begin = place_of(block);
  if (capacity >= page_bytes && !keeps_pages_) // A page less is no matter.
    ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(begin),
                static_cast<off_t>(capacity & ~(page_bytes - 1)));
  const std::lock_guard lock{mutex_};
  taken_ -= capacity;
  auto next = free_.lower_bound(begin);
  auto end = begin + capacity;
  if (next != free_.end() && next->first == end) {
    end += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin())
    if (auto before = std::prev(next);
        before->first + before->second == begin) {
      before->second = end - before->first;
      return;
    }
  free_.emplace_hint(next, begin, end - begin);
}

std::size_t arena::taken_bytes() const {
  const std::lock_guard lock{mutex_};
  return taken_;
}

} // namespace graphmill
