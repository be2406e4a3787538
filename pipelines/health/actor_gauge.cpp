#include "pipelines/health/actor_gauge.hpp"

#include <utility>

namespace graphmill {

void actor_gauge::works_on(const batch_key& key, std::size_t worker) {
  const auto word = pack_batch(key);
  batch_.store(word, std::memory_order_relaxed);
  lanes_[worker].at_hand.store(word, std::memory_order_relaxed);
}

std::vector<actor_gauge::now_in> actor_gauge::lanes() const {
  std::vector<now_in> out;
  for (const auto& lane : lanes_) {
    const auto seen = lane.clock.read();
    out.push_back(
      {seen.state, seen.since, lane.batch.load(std::memory_order_relaxed)});
  }
  return out;
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
  for (const auto& lane : lanes_) {
    const auto one = lane.clock.read(now);
    const auto state = static_cast<std::size_t>(one.state);
    if (out.now[state]++ == 0 || one.since < out.since[state]) {
      out.since[state] = one.since;
      out.at_hand[state] = lane.at_hand.load(std::memory_order_relaxed);
    }
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
  gauge->keeps_spans_in(spans_, static_cast<std::uint32_t>(gauges_.size()));
  gauges_.push_back(gauge);
  return gauge;
}

std::vector<std::shared_ptr<const actor_gauge>> gauge_board::all() const {
  std::lock_guard lock{mutex_};
  return {gauges_.begin(), gauges_.end()};
}

} // namespace graphmill
