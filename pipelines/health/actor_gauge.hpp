#pragma once

#include "messages/base/counter.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/health.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/health/latency_histogram.hpp"
#include "pipelines/health/packed_batch.hpp"
#include "pipelines/health/span_ring.hpp"
#include "pipelines/health/state_clock.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The actor of a gauge.
struct actor_label {
  actor_kind kind = actor_kind::sampler;
  std::int32_t part = -1; ///< The part that it serves, or asks for.
  std::int32_t rank = -1; ///< Of a trainer.
  std::string peer{};     ///< The daemon that it asks.

  friend auto operator<=>(const actor_label&, const actor_label&) = default;
};

/// The counts of a gauge at one moment. Times in nanoseconds, over all workers.
struct gauge_reading {
  std::chrono::steady_clock::time_point at;
  std::array<std::uint32_t, actor_states> now{}; ///< Workers by state.
  /// By state: the time at which its longest worker entered it, and the batch
  /// of that worker (packed; 0: none).
  state_times since{};
  std::array<std::uint64_t, actor_states> at_hand{};
  state_times spent{};
  std::optional<std::int64_t> busy; ///< Of the time in `running`, if known.
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t queue = 0;
  std::uint64_t credit_batches = 0;
  std::uint64_t credit_bytes = 0;
  std::uint64_t peak_batches = 0; ///< The most of each so far.
  std::uint64_t peak_bytes = 0;
  std::uint64_t restarts = 0;
  std::optional<batch_place> batch;
  latency_counts latencies;
};

/// Counts the work of an actor, or of a pool of equal workers, for health
/// reports. The actor calls functions named after events, from any thread; they
/// take no lock, except for the last error. A reader gets the numbers of about
/// one moment.
class actor_gauge {
public:
  using clock = std::chrono::steady_clock;

  explicit actor_gauge(actor_label label, std::uint32_t workers = 1)
    : label_(std::move(label)), lanes_(workers == 0 ? 1 : workers) {}

  const actor_label& label() const { return label_; }
  std::size_t workers() const { return lanes_.size(); }

  /// Counters that the workers share. Items and bytes come from there. Call it
  /// before the gauge is used.
  /// @param asks_others Their time with a job counts as work only as far as
  /// these counters say so; the rest is waiting for answers of others.
  void counts_with(std::shared_ptr<const stage_counters> counters,
                   bool asks_others) {
    counters_ = std::move(counters);
    asks_others_ = asks_others;
  }
  /// Its limits, if it gives credit. Call it before the gauge is used.
  void gives_credit(std::uint64_t batches, std::uint64_t bytes) {
    most_batches_ = batches;
    most_bytes_ = bytes;
  }
  /// Where finished states of workers and requests are kept for traces. Call it
  /// before the gauge is used.
  /// @param place Of the gauge on its board.
  void keeps_spans_in(std::shared_ptr<span_ring> spans, std::uint32_t place) {
    spans_ = std::move(spans);
    place_ = place;
  }
  std::uint64_t most_batches() const { return most_batches_; }
  std::uint64_t most_bytes() const { return most_bytes_; }

  /// The batch of `works_on` counts for running and waiting; other states have
  /// none.
  void enter(actor_state state, std::size_t worker = 0) {
    auto& lane = lanes_[worker];
    const auto ended = lane.clock.enter(state);
    if (!ended)
      return;
    const auto works =
      state == actor_state::running || state == actor_state::waiting;
    const auto batch = lane.batch.exchange(
      works ? lane.at_hand.load(std::memory_order_relaxed) : 0,
      std::memory_order_relaxed);
    if (spans_)
      spans_->write({ended->since, ended->until, batch, 0, place_,
                     static_cast<std::uint16_t>(worker),
                     static_cast<std::uint8_t>(ended->state)});
  }

  /// A request to another actor or daemon has left: the actor waits until all
  /// answers have come.
  void asked(std::uint64_t bytes) {
    sent_ += bytes;
    ++open_;
    settle();
  }
  void answered(std::chrono::nanoseconds latency, std::uint64_t bytes) {
    done(latency, bytes);
    if (spans_) {
      const auto end =
        std::chrono::nanoseconds{clock::now().time_since_epoch()};
      spans_->write(
        {(end - latency).count(), end.count(), 0, bytes, place_, 0, 0});
    }
    --open_;
    settle();
  }

  /// A job has finished, so long after its request.
  /// @param bytes Of the result.
  void done(std::chrono::nanoseconds latency, std::uint64_t bytes = 0) {
    ++items_;
    bytes_ += bytes;
    latencies_.add(latency);
  }
  /// Something has arrived or finished whose request time is unknown.
  void made(std::uint64_t bytes) {
    ++items_;
    bytes_ += bytes;
  }
  void queued(std::size_t jobs) {
    queue_.store(jobs, std::memory_order_relaxed);
  }
  /// Call it from one thread at a time.
  void credit(std::uint64_t batches, std::uint64_t bytes) {
    const auto raise = [](std::atomic<std::uint64_t>& peak, std::uint64_t to) {
      if (peak.load(std::memory_order_relaxed) < to)
        peak.store(to, std::memory_order_relaxed);
    };
    credit_batches_.store(batches, std::memory_order_relaxed);
    credit_bytes_.store(bytes, std::memory_order_relaxed);
    raise(peak_batches_, batches);
    raise(peak_bytes_, bytes);
  }
  void works_on(const batch_key& key, std::size_t worker = 0);
  void restarted(const std::string& why);
  void failed(const std::string& why, std::size_t worker = 0);

  gauge_reading read(clock::time_point now = clock::now()) const;
  std::string last_error() const;

  /// What a worker does, for traces.
  struct now_in {
    actor_state state = actor_state::starting;
    std::int64_t since = 0;  ///< Of the steady clock, nanoseconds.
    std::uint64_t batch = 0; ///< Packed; 0: none.
  };
  std::vector<now_in> lanes() const; ///< By worker.

private:
  /// Another thread may send a request or get an answer at the same time: the
  /// last one sees it.
  void settle() {
    const auto wanted = [this] {
      return open_.load() > 0 ? actor_state::waiting : actor_state::starved;
    };
    for (auto state = wanted();; state = wanted()) {
      enter(state);
      if (wanted() == state)
        return;
    }
  }
  void note(const std::string& why);

  /// Of a worker.
  struct lane {
    state_clock clock;
    std::atomic<std::uint64_t> at_hand{0}; ///< Packed batch: `works_on`.
    std::atomic<std::uint64_t> batch{0};   ///< Of the state it is in.
  };

  actor_label label_;
  std::vector<lane> lanes_;          ///< By worker.
  std::shared_ptr<span_ring> spans_; ///< Null: spans are not kept.
  std::uint32_t place_ = 0;
  std::shared_ptr<const stage_counters> counters_;
  bool asks_others_ = false;
  std::uint64_t most_batches_ = 0;
  std::uint64_t most_bytes_ = 0;
  std::atomic<std::int64_t> open_{0}; ///< Requests without an answer.
  counter items_, bytes_, sent_, restarts_;
  std::atomic<std::uint64_t> queue_{0};
  std::atomic<std::uint64_t> credit_batches_{0}, credit_bytes_{0};
  std::atomic<std::uint64_t> peak_batches_{0}, peak_bytes_{0};
  std::atomic<std::uint64_t> batch_{0}; ///< Packed; 0: none.
  latency_histogram latencies_;
  /// For the following fields, and only for failures.
  mutable std::mutex mutex_;
  std::string last_error_;
};

/// All gauges of a process for a run. Thread-safe. Actors join when they are
/// spawned.
class gauge_board {
public:
  std::shared_ptr<actor_gauge> add(actor_label label,
                                   std::uint32_t workers = 1);
  std::vector<std::shared_ptr<const actor_gauge>> all() const;
  /// Their last actions; `ring_span::gauge` is a position in `all`.
  const span_ring& spans() const { return *spans_; }

private:
  std::shared_ptr<span_ring> spans_ = std::make_shared<span_ring>();
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<actor_gauge>> gauges_;
};

} // namespace graphmill
