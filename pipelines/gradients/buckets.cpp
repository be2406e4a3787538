#include "pipelines/gradients/buckets.hpp"

#include <algorithm>

namespace graphmill {

std::vector<bucket> cut_buckets(std::int64_t size, bucket_limits limits) {
  constexpr std::int64_t width = sizeof(float);
  std::vector<bucket> out;
  auto most = limits.first_bytes;
  for (auto left = size; left > 0; left = out.back().offset) {
    const auto taken = std::min(left, std::max(most / width, std::int64_t{1}));
    out.push_back({left - taken, taken});
    most = limits.rest_bytes;
  }
  return out;
}

bucket chunk_of(const bucket& whole, rank_id rank, rank_id ranks) {
  const auto begin = whole.size * rank / ranks;
  const auto end = whole.size * (rank + 1) / ranks;
  return {whole.offset + begin, end - begin};
}

} // namespace graphmill
