#pragma once

#include "messages/wire/health.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace graphmill {

/// Nanoseconds that somebody has spent in each state, by state.
using state_times = std::array<std::int64_t, actor_states>;

/// The state of one worker, and how long it was in which. `enter` may be called
/// by any thread, without locks: state and time of entry are one word, so that
/// whoever exchanges it accounts for the time since the last exchange, and
/// nobody else does.
class state_clock {
public:
  using time = std::chrono::steady_clock::time_point;

  explicit state_clock(time now = std::chrono::steady_clock::now())
    : word_(pack(actor_state::starting, count(now))) {}

  /// A state that is over. Nanoseconds of the steady clock.
  struct stay {
    actor_state state = actor_state::starting;
    std::int64_t since = 0;
    std::int64_t until = 0;
  };

  /// Enters a state; entering it again changes nothing.
  /// @returns what has ended by that, if anything.
  std::optional<stay> enter(actor_state next,
                            time now = std::chrono::steady_clock::now()) {
    auto seen = word_.load(std::memory_order_relaxed);
    while (state_of(seen) != next) {
      // A clock that was read before another thread's may lie behind it.
      const auto at = std::max(count(now), since_of(seen));
      if (word_.compare_exchange_weak(seen, pack(next, at),
                                      std::memory_order_acq_rel)) {
        spent_[index(state_of(seen))].fetch_add(at - since_of(seen),
                                                std::memory_order_relaxed);
        return stay{state_of(seen), since_of(seen), at};
      }
    }
    return std::nullopt;
  }

  struct reading {
    actor_state state = actor_state::starting;
    std::int64_t since = 0; ///< Of the steady clock, nanoseconds.
    state_times spent{};    ///< Until `now`, the present state included.
  };

  /// What it has counted by now. While another thread enters a state, times may
  /// lack what that has yet to add: the next reading has it.
  reading read(time now = std::chrono::steady_clock::now()) const {
    reading out;
    // A few tries to read both of one moment; the last one will do.
    for (int tries = 0; tries < 4; ++tries) {
      const auto before = word_.load(std::memory_order_acquire);
      out.state = state_of(before);
      out.since = since_of(before);
      for (std::size_t i = 0; i < actor_states; ++i)
        out.spent[i] = spent_[i].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (word_.load(std::memory_order_relaxed) == before)
        break;
    }
    if (count(now) > out.since)
      out.spent[index(out.state)] += count(now) - out.since;
    return out;
  }

private:
  // The state in the lowest bits: nanoseconds fill the others in 36 years.
  static constexpr int state_bits = 4;
  static_assert(actor_states <= (1U << state_bits));

  static std::int64_t count(time when) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
             when.time_since_epoch())
      .count();
  }
  static std::uint64_t pack(actor_state state, std::int64_t since) {
    return static_cast<std::uint64_t>(since) << state_bits
           | static_cast<std::uint64_t>(state);
  }
  static actor_state state_of(std::uint64_t word) {
    return static_cast<actor_state>(word & ((1U << state_bits) - 1));
  }
  static std::int64_t since_of(std::uint64_t word) {
    return static_cast<std::int64_t>(word >> state_bits);
  }
  static std::size_t index(actor_state state) {
    return static_cast<std::size_t>(state);
  }

  std::atomic<std::uint64_t> word_;
  std::array<std::atomic<std::int64_t>, actor_states> spent_{};
};

} // namespace graphmill
