#include "pipelines/gradients/chunk_sum.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Floats whose sum stays in the first cache while all ranks are added.
constexpr std::int64_t block = 4096;

constexpr std::uint64_t width = sizeof(float);

/// The sum's memory is nobody else's, which lets the compiler add several
/// floats at once without looking.
void add_two(const float* a, const float* b, float* __restrict sum,
             std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    sum[i] = a[i] + b[i];
}

void add_one(const float* a, float* __restrict sum, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    sum[i] += a[i];
}

} // namespace

chunk_sum::chunk_sum(std::shared_ptr<const gradient_set> mine,
                     std::shared_ptr<gradient_set> sum, const bucket& chunk,
                     rank_id rank, rank_id ranks)
  : mine_(std::move(mine)), sum_(std::move(sum)), chunk_(chunk),
    rank_(static_cast<std::size_t>(rank)),
    held_(static_cast<std::size_t>(ranks)), addends_(held_.size()) {}

void chunk_sum::take(rank_id from, std::uint64_t offset, frame bytes) {
  std::lock_guard lock{mutex_};
  held_[static_cast<std::size_t>(from)].emplace(offset, std::move(bytes));
  while (find_next()) {
    add(static_cast<std::int64_t>(added_ / width),
        static_cast<std::int64_t>(next_ / width));
    added_ = next_;
    drop_added();
  }
}

/// Looks for what can be added next.
/// @returns false if a rank's piece for it has not come.
bool chunk_sum::find_next() {
  next_ = static_cast<std::uint64_t>(chunk_.size) * width;
  for (std::size_t r = 0; r < held_.size(); ++r) {
    if (r == rank_) {
      addends_[r] = mine_->dense.data() + chunk_.offset + added_ / width;
      continue;
    }
    const auto first = held_[r].begin();
    if (first == held_[r].end() || first->first > added_)
      return false;
    const auto& [offset, bytes] = *first;
    addends_[r] =
      reinterpret_cast<const float*>(bytes.data() + (added_ - offset));
    next_ = std::min(next_, offset + bytes.size());
  }
  return true;
}

void chunk_sum::add(std::int64_t begin, std::int64_t end) {
  auto* sum = sum_->dense.data() + chunk_.offset + begin;
  for (std::int64_t at = 0; at < end - begin; at += block) {
    const auto count = std::min(block, end - begin - at);
    add_two(addends_[0] + at, addends_[1] + at, sum + at, count);
    for (std::size_t r = 2; r < addends_.size(); ++r)
      add_one(addends_[r] + at, sum + at, count);
  }
}

void chunk_sum::drop_added() {
  for (auto& pieces_of_rank : held_)
    while (!pieces_of_rank.empty()
           && pieces_of_rank.begin()->first
                  + pieces_of_rank.begin()->second.size()
                <= added_)
      pieces_of_rank.erase(pieces_of_rank.begin());
}

} // namespace graphmill
