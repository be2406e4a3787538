#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace graphmill {

/// Moments in the life of a run at which something can be made to go wrong on
/// purpose (`graphmill chaos`). The values are those of cluster.capnp, less
/// one.
enum class moment : std::uint8_t {
  at_once,        ///< No moment to wait for.
  start_up,       ///< A share of a run is being prepared.
  filling_caches, ///< The trainers' caches are being filled.
  mid_epoch,      ///< A step that is not an epoch's first; a request for data.
  exchange,       ///< Gradients are on their way between ranks.
  checkpoint,     ///< A checkpoint is being copied, or half of it is written.
  epoch_edge,     ///< An epoch begins.
  evaluation,     ///< Batches are being evaluated.
  drain,          ///< A share is told to end.
};

inline constexpr std::size_t moment_count =
  static_cast<std::size_t>(moment::drain) + 1;

/// In snake_case.
std::string_view to_string(moment which);
std::optional<moment> moment_named(std::string_view name);

/// Has `act` called, once, by the thread that next reaches a moment, whatever
/// it is about to do; not after `until`. Takes the place of what waited for the
/// moment before. From any thread. `act` must not throw. What waits is the
/// process's own and not that of an object, as what chaos ends is the process.
void await_moment(moment which, std::function<void()> act,
                  std::chrono::steady_clock::time_point until);

/// Nothing waits any more, and nothing is watched.
void forget_moments();

/// From now on, what begins says when it is at a moment. A process that chaos
/// may harm calls this before its first run.
void watch_moments();

/// Whether to put what calls `now_at` around the work of a run.
bool moments_watched();

namespace detail {

/// A bit for each moment that something waits for.
inline constinit std::atomic<std::uint32_t> awaited_moments{0};

void take_moment(moment which);

} // namespace detail

/// Says that the calling thread is at a moment. Costs one load unless something
/// waits for it.
inline void now_at(moment which) {
  const auto awaited = detail::awaited_moments.load(std::memory_order_relaxed);
  if (((awaited >> static_cast<unsigned>(which)) & 1U) != 0) [[unlikely]]
    detail::take_moment(which);
}

} // namespace graphmill
