#pragma once

#include "messages/base/random.hpp"

#include <cstdint>

namespace graphmill {

/// One word of each of sixteen blocks.
inline constexpr int random_lanes = 16;
using lane_words = std::uint32_t[random_lanes];

/// `philox4x32` of sixteen counters and one key: words[w][l] is word w of the
/// counter of lane l before, and of its block after. 64-byte aligned.
///
/// Plain loops over lanes, kept from being unrolled, become vectors of each
/// instruction set that the caller is compiled for. Vectors of 64 bytes in the
/// source do not: where registers are narrower, gcc 12 takes their products
/// apart into scalars.
[[gnu::always_inline]] inline void philox4x32_lanes(lane_words* words,
                                                    std::uint64_t key) {
  auto& c0 = words[0];
  auto& c1 = words[1];
  auto& c2 = words[2];
  auto& c3 = words[3];
  philox round{key};
#pragma GCC unroll 1
  for (int i = 0; i < philox::rounds; ++i) {
#pragma GCC unroll 1
    for (int l = 0; l < random_lanes; ++l)
      round.mix(c0[l], c1[l], c2[l], c3[l]);
    round.advance();
  }
}

} // namespace graphmill
