#pragma once

#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cstdint>

namespace graphmill {

/// Gathered rows are scattered over more memory than any cache holds, so each
/// is asked for so many edges before it is used: fewer where rows are wide, for
/// only some lines can be on their way at a time.
GRAPHMILL_INLINE std::int64_t prefetch_distance(std::int64_t width) {
  const auto lines = width * 4 / 64 + 1;
  return std::clamp<std::int64_t>(96 / lines, 4, 24);
}

/// @tparam Level 3: into all caches; 2: into the second one and those behind
/// it.
template <int Level = 2>
GRAPHMILL_INLINE void prefetch_row(const float* row, std::int64_t width) {
  for (std::int64_t c = 0; c < width; c += 16)
    __builtin_prefetch(row + c, 0, Level);
  __builtin_prefetch(row + width - 1, 0, Level);
}

} // namespace graphmill
