#pragma once

#include "messages/base/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace graphmill {

/// A piece of the dense gradient that ranks exchange at once. Offset and size
/// are in floats.
struct bucket {
  std::int64_t offset = 0;
  std::int64_t size = 0;

  friend bool operator==(const bucket&, const bucket&) = default;
};

/// How large buckets may be. The first one is small, so that the exchange
/// begins early (Li et al., PyTorch Distributed, VLDB'20).
struct bucket_limits {
  std::int64_t first_bytes = std::int64_t{1} << 20;
  std::int64_t rest_bytes = std::int64_t{25} << 20;
};

/// Cuts a dense gradient of `size` floats into buckets. Parameters are
/// registered from the first layer to the last and backward goes the other way,
/// so the first bucket is the end of the gradient: what backward has first. A
/// pure function, so that all ranks cut alike.
inline std::vector<bucket> cut_buckets(std::int64_t size,
                                       bucket_limits limits = {}) {
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

/// The chunk of a bucket that `rank` adds up, and whose sum it then sends to
/// all others. Chunks of all ranks follow each other and differ by one float at
/// most; they may be empty. Of two ranks each adds up the whole bucket, and no
/// sum is sent: as many bytes go either way, but once there and not there and
/// back.
inline bucket chunk_of(const bucket& whole, rank_id rank, rank_id ranks) {
  if (ranks == 2)
    return whole;
  const auto begin = whole.size * rank / ranks;
  const auto end = whole.size * (rank + 1) / ranks;
  return {whole.offset + begin, end - begin};
}

/// Whether a rank has the sums of other ranks' chunks from these.
inline bool sums_travel(rank_id ranks) {
  return ranks > 2;
}

} // namespace graphmill
