#include "pipelines/health/actor_gauge.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

// A batch in one word: 1 bit that there is one, 2 of its phase, 15 of its
// epoch, 30 of its step, 16 of its rank. What does not fit is cut off: it is
// shown, and nothing else.
constexpr int rank_bits = 16, step_bits = 30, epoch_bits = 15, phase_bits = 2;

std::uint64_t cut_to(std::int64_t value, int bits) {
  return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
}

std::uint64_t pack_batch(const batch_key& key) {
  auto word = std::uint64_t{1};
  word = word << phase_bits | static_cast<std::uint64_t>(key.phase);
  word = word << epoch_bits | cut_to(key.epoch, epoch_bits);
  word = word << step_bits | cut_to(key.step, step_bits);
  return word << rank_bits | cut_to(key.rank, rank_bits);
}

std::optional<batch_place> unpack_batch(std::uint64_t word) {
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

} // namespace

void actor_gauge::works_on(const batch_key& key) {
  batch_.store(pack_batch(key), std::memory_order_relaxed);
}

void actor_gauge::note(const std::string& why) {
  std::lock_guard lock{mutex_};
  last_error_ = why.substr(0, health_limits::text);
}

void actor_gauge::restarted(const std::string& why) {
  ++restarts_;
  note(why);
}

void actor_gauge::failed(const std::string& why, std::size_t worker) {
  enter(actor_state::failed, worker);
  note(why);
}

std::string actor_gauge::last_error() const {
  std::lock_guard lock{mutex_};
  return last_error_;
}

gauge_reading actor_gauge::read(clock::time_point now) const {
  gauge_reading out;
  out.at = now;
  for (const auto& clock : clocks_) {
    const auto one = clock.read(now);
    const auto state = static_cast<std::size_t>(one.state);
    if (out.now[state]++ == 0 || one.since < out.since[state])
      out.since[state] = one.since;
    for (std::size_t i = 0; i < actor_states; ++i)
      out.spent[i] += one.spent[i];
  }
  out.items = items_;
  out.bytes = bytes_;
  out.bytes_sent = sent_;
  if (counters_) {
    const auto report = counters_->report();
    out.items = report.items;
    out.bytes = report.bytes;
    if (asks_others_)
      out.busy = static_cast<std::int64_t>(report.busy_seconds * 1e9);
  }
  out.queue = queue_.load(std::memory_order_relaxed);
  out.credit_batches = credit_batches_.load(std::memory_order_relaxed);
  out.credit_bytes = credit_bytes_.load(std::memory_order_relaxed);
  out.peak_batches = peak_batches_.load(std::memory_order_relaxed);
  out.peak_bytes = peak_bytes_.load(std::memory_order_relaxed);
  out.restarts = restarts_;
  out.batch = unpack_batch(batch_.load(std::memory_order_relaxed));
  out.latencies = latencies_.read();
  return out;
}

std::shared_ptr<actor_gauge> gauge_board::add(actor_label label,
                                              std::uint32_t workers) {
  auto gauge = std::make_shared<actor_gauge>(std::move(label), workers);
  std::lock_guard lock{mutex_};
  gauges_.push_back(gauge);
  return gauge;
}

std::vector<std::shared_ptr<const actor_gauge>> gauge_board::all() const {
  std::lock_guard lock{mutex_};
  return {gauges_.begin(), gauges_.end()};
}

} // namespace graphmill
