#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace graphmill {

/// A question to another process and its answer. Nanoseconds; `asked` and
/// `answered` by the clock of who asks, `came` and `left` by that of the other
/// one.
struct clock_probe {
  std::int64_t asked = 0;
  std::int64_t came = 0;
  std::int64_t left = 0;
  std::int64_t answered = 0;
};

/// How the clock of another process stands. Nanoseconds.
struct clock_offset {
  std::int64_t ahead = 0; ///< What it shows more than that of who asks.
  std::int64_t error = 0; ///< It may be so much more or less.

  friend bool operator==(const clock_offset&, const clock_offset&) = default;
};

/// The way there and the way back take at least no time, so that the offset
/// lies between `left - answered` and `came - asked`: the middle of that is
/// taken, as NTP does (RFC 5905, section 8, after F. Cristian, "Probabilistic
/// clock synchronization", Distributed Computing 3, 1989), of the probe whose
/// ways took least.
/// @param probes Each within 2^60. Those whose answer left before it came, or
/// took longer than all, count for nothing.
/// @returns nothing without a probe that counts.
inline std::optional<clock_offset>
offset_by(std::span<const clock_probe> probes) {
  std::optional<clock_offset> out;
  for (const auto& probe : probes) {
    const auto ways =
      (probe.answered - probe.asked) - (probe.left - probe.came);
    if (ways < 0 || probe.left < probe.came)
      continue;
    const auto error = (ways + 1) / 2;
    if (out && out->error <= error)
      continue;
    const auto most = probe.came - probe.asked;
    out = {most - error, error};
  }
  return out;
}

} // namespace graphmill
