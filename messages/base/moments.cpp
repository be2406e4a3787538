#include "messages/base/moments.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

namespace graphmill {

namespace {

constexpr std::array<std::string_view, moment_count> moment_names{
  "at_once",    "start_up",   "filling_caches", "mid_epoch", "exchange",
  "checkpoint", "epoch_edge", "evaluation",     "drain"};

struct awaited_act {
  std::function<void()> act;
  std::chrono::steady_clock::time_point until;
};

struct awaited_acts {
  std::mutex mutex;
  std::array<awaited_act, moment_count> acts;
};

constinit std::atomic<bool> watched{false};

awaited_acts& all_awaited() {
  static awaited_acts acts;
  return acts;
}

constexpr std::uint32_t bit_of(moment which) {
  return 1U << static_cast<unsigned>(which);
}

} // namespace

std::string_view to_string(moment which) {
  const auto at = static_cast<std::size_t>(which);
  return at < moment_names.size() ? moment_names[at] : "unknown";
}

std::optional<moment> moment_named(std::string_view name) {
  for (std::size_t i = 0; i < moment_names.size(); ++i)
    if (moment_names[i] == name)
      return static_cast<moment>(i);
  return std::nullopt;
}

void await_moment(moment which, std::function<void()> act,
                  std::chrono::steady_clock::time_point until) {
  auto& waiting = all_awaited();
  const std::lock_guard lock{waiting.mutex};
  waiting.acts[static_cast<std::size_t>(which)] = {std::move(act), until};
  detail::awaited_moments.fetch_or(bit_of(which));
}

void forget_moments() {
  auto& waiting = all_awaited();
  const std::lock_guard lock{waiting.mutex};
  detail::awaited_moments.store(0);
  waiting.acts = {};
  watched = false;
}

void watch_moments() { watched = true; }

bool moments_watched() { return watched; }

/// The act is called without the lock, for it may take as long as it likes.
void detail::take_moment(moment which) {
  awaited_act due;
  {
    auto& waiting = all_awaited();
    const std::lock_guard lock{waiting.mutex};
    if ((awaited_moments.load() & bit_of(which)) == 0)
      return; // Another thread was first.
    awaited_moments.fetch_and(~bit_of(which));
    due = std::exchange(waiting.acts[static_cast<std::size_t>(which)], {});
  }
  if (std::chrono::steady_clock::now() <= due.until)
    due.act();
}

} // namespace graphmill
