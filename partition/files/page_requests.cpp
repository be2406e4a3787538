#include "partition/files/page_requests.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace graphmill {

namespace {

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

} // namespace

void page_requests::add(const void* from, std::size_t bytes) {
  if (bytes == 0)
    return;
  const auto at = reinterpret_cast<std::uintptr_t>(from);
  const auto begin = at / page_size() * page_size();
  const auto end = (at + bytes + page_size() - 1) / page_size() * page_size();
  if (ranges_.empty() || ranges_.back() != std::pair{begin, end})
    ranges_.emplace_back(begin, end);
}

void page_requests::send() {
  std::sort(ranges_.begin(), ranges_.end());
  std::size_t left = most_bytes;
  for (std::size_t i = 0; i < ranges_.size() && left != 0;) {
    auto [begin, end] = ranges_[i++];
    while (i < ranges_.size() && ranges_[i].first <= end)
      end = std::max(end, ranges_[i++].second);
    const auto bytes = std::min<std::size_t>(end - begin, left);
    ::madvise(reinterpret_cast<void*>(begin), bytes, MADV_WILLNEED);
    left -= bytes;
  }
  ranges_.clear();
}

} // namespace graphmill
