#pragma once

#include "messages/base/ids.hpp"
#include "messages/wire/health.hpp"

#include <cstdint>
#include <optional>

namespace graphmill {

// A batch in one word: 1 bit that there is one, 2 of its phase, 15 of its
// epoch, 30 of its step, 16 of its rank. What does not fit is cut off: it is
// shown, and nothing else.

namespace packed_batch {
inline constexpr int rank_bits = 16, step_bits = 30, epoch_bits = 15,
                     phase_bits = 2;

inline std::uint64_t cut_to(std::int64_t value, int bits) {
  return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
}
} // namespace packed_batch

/// Never 0.
inline std::uint64_t pack_batch(const batch_key& key) {
  using namespace packed_batch;
  auto word = std::uint64_t{1};
  word = word << phase_bits | static_cast<std::uint64_t>(key.phase);
  word = word << epoch_bits | cut_to(key.epoch, epoch_bits);
  word = word << step_bits | cut_to(key.step, step_bits);
  return word << rank_bits | cut_to(key.rank, rank_bits);
}

/// Nothing of 0.
inline std::optional<batch_place> unpack_batch(std::uint64_t word) {
  using namespace packed_batch;
  if (word == 0)
    return std::nullopt;
  const auto take = [&word](int bits) {
    const auto value =
      static_cast<std::int64_t>(word) & ((std::int64_t{1} << bits) - 1);
    word >>= bits;
    return value;
  };
  batch_place out;
  out.rank = static_cast<std::int32_t>(take(rank_bits));
  out.step = take(step_bits);
  out.epoch = static_cast<std::int32_t>(take(epoch_bits));
  out.phase = static_cast<phase>(take(phase_bits));
  return out;
}

} // namespace graphmill
