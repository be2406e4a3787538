#include "partition/disk/sieve_cache.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace graphmill {

sieve_cache::sieve_cache(std::size_t row_bytes, std::uint64_t bytes,
                         std::int64_t rows)
  : row_bytes_(row_bytes) {
  const auto most = std::min<std::uint64_t>(static_cast<std::uint64_t>(rows),
                                            std::uint64_t{none} - 1);
  capacity_ = static_cast<std::size_t>(
    std::min(bytes / (row_bytes + bytes_per_row), most));
  rows_.reserve(capacity_ * row_bytes_);
  keys_.reserve(capacity_);
  found_.reserve(capacity_);
  newer_.reserve(capacity_);
  older_.reserve(capacity_);
  // A quarter of the slots is free at least, half of them mostly.
  slots_.resize(std::bit_ceil(capacity_ + capacity_ / 3 + 1));
}

std::uint64_t sieve_cache::byte_size() const {
  return capacity_ * (row_bytes_ + 8 + 1 + 4 + 4)
         + slots_.size() * sizeof(std::uint32_t);
}

std::size_t sieve_cache::first_slot(std::int64_t row) const {
  return static_cast<std::size_t>(mix64(static_cast<std::uint64_t>(row)))
         & (slots_.size() - 1);
}

const std::byte* sieve_cache::find(std::int64_t row) {
  const auto mask = slots_.size() - 1;
  for (auto at = first_slot(row); slots_[at] != 0; at = (at + 1) & mask) {
    const auto place = slots_[at] - 1;
    if (keys_[place] != row)
      continue;
    found_[place] = 1;
    return rows_.data() + place * row_bytes_;
  }
  return nullptr;
}

void sieve_cache::put(std::int64_t row, const std::byte* bytes) {
  if (capacity_ == 0)
    return;
  auto place = static_cast<std::uint32_t>(keys_.size());
  if (place < capacity_) {
    keys_.push_back(row);
    found_.push_back(0);
    newer_.push_back(none);
    older_.push_back(none);
    rows_.resize((place + std::size_t{1}) * row_bytes_);
  } else {
    place = make_room();
    keys_[place] = row;
    found_[place] = 0;
  }
  older_[place] = newest_;
  newer_[place] = none;
  (newest_ == none ? oldest_ : newer_[newest_]) = place;
  newest_ = place;
  std::memcpy(rows_.data() + place * row_bytes_, bytes, row_bytes_);
  enter(row, place);
}

/// Takes out the row that SIEVE gives up, and moves the hand behind it.
/// @returns the row's place, which is free now.
std::uint32_t sieve_cache::make_room() {
  auto at = hand_ == none ? oldest_ : hand_;
  while (found_[at] != 0) {
    found_[at] = 0;
    at = newer_[at] == none ? oldest_ : newer_[at];
  }
  hand_ = newer_[at];
  unlink(at);
  leave(keys_[at]);
  return at;
}

void sieve_cache::unlink(std::uint32_t place) {
  const auto newer = newer_[place];
  const auto older = older_[place];
  (newer == none ? newest_ : older_[newer]) = older;
  (older == none ? oldest_ : newer_[older]) = newer;
}

void sieve_cache::enter(std::int64_t row, std::uint32_t place) {
  auto at = first_slot(row);
  while (slots_[at] != 0)
    at = (at + 1) & (slots_.size() - 1);
  slots_[at] = place + 1;
}

/// Takes a row out of the hash table, and closes the gap that it leaves, so
/// that searches do not end there: rows behind it move up (Knuth, The Art of
/// Computer Programming 3, 6.4, algorithm R). If slots were marked as deleted
/// instead, a long run would fill the table with marks.
void sieve_cache::leave(std::int64_t row) {
  const auto mask = slots_.size() - 1;
  auto gap = first_slot(row);
  while (keys_[slots_[gap] - 1] != row)
    gap = (gap + 1) & mask;
  for (auto at = (gap + 1) & mask; slots_[at] != 0; at = (at + 1) & mask) {
    const auto home = first_slot(keys_[slots_[at] - 1]);
    if (((at - home) & mask) < ((at - gap) & mask))
      continue; // Moved to the gap it would lie before its first slot.
    slots_[gap] = slots_[at];
    gap = at;
  }
  slots_[gap] = 0;
}

} // namespace graphmill
