#include "actors/cluster/daemon/shares/run_relay.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "messages/wire/run.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Steps of one message, their seeds if those are told, and the bytes of their
/// outcomes and logits, unless a single step has more; it holds more.
constexpr std::size_t most_steps = 4096;
constexpr std::size_t most_seeds = 32768;
constexpr std::size_t most_outcome_bytes = std::size_t{8} << 20;
/// What waits while the coordinator takes a message: with `train.record_steps`,
/// some thousand steps; with `evaluate.scores`, 16 million scores. A run that
/// predicts has no more than half of that under way (`course::in_pieces`).
constexpr std::size_t most_waiting_bytes = std::size_t{64} << 20;

using relay_actor = run_reports_actor::extend<takes<call_ended>, takes<tick>>;

class run_relay {
public:
  using interface = relay_actor;
  static constexpr const char* name = "run_relay";

  run_relay(interface::pointer self, run_relay_config config)
    : self_(self), config_(std::move(config)), calls_(self, config_.net),
      next_(nothing_yet()) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const member_ready&) {
        post(config_.agent, share_ready{config_.run, config_.attempt});
      },
      [this](const step_result& done) {
        add(done);
        send();
      },
      [this](const trainer_stopped& stopped) {
        next_.stopped.push_back(stopped.rank);
        send();
      },
      [this](const run_failed& failed) {
        if (!next_.failure)
          next_.failure = failed.reason;
        if (auto tell = std::exchange(config_.failed, {}))
          tell();
        send();
      },
      [this](const call_ended& ended) { calls_.ended(ended); },
      [this](const tick&) { send_again(); },
    };
  }

private:
  run_events nothing_yet() const {
    run_events out;
    out.run = config_.run;
    out.attempt = config_.attempt;
    return out;
  }

  static std::size_t bytes_of(const step_done& step) {
    return sizeof step + step.original_seeds.size() * sizeof(node_id)
           + outcome_bytes_of(step);
  }

  static std::size_t outcome_bytes_of(const step_done& step) {
    return (step.outcomes ? bulk_bytes_of(*step.outcomes) : 0)
           + (step.logits ? step.logits->size() * sizeof(float) : 0);
  }

  /// What cannot be told ends the run: the record would have gaps.
  void add(const step_result& done) {
    if (too_slow_)
      return;
    auto& steps = next_.steps;
    steps.push_back({done.key,
                     done.metrics.loss_sum,
                     done.metrics.correct,
                     done.metrics.seeds,
                     {},
                     done.outcomes});
    if (done.original_seeds)
      steps.back().original_seeds = *done.original_seeds;
    if (done.output)
      steps.back().logits = std::make_shared<const std::vector<float>>(
        config_.outputs ? done.output->embeddings : done.output->logits);
    waiting_bytes_ += bytes_of(steps.back());
    too_slow_ = waiting_bytes_ > most_waiting_bytes;
    if (too_slow_ && !next_.failure)
      next_.failure =
        fail(ec::unavailable,
             "the coordinator reads results of steps too slowly: {} of them "
             "wait, {} MiB{}",
             steps.size(), waiting_bytes_ >> 20,
             done.original_seeds ? "; without `train.record_steps` they would "
                                   "be shorter"
             : done.outcomes && !done.outcomes->scores.empty()
               ? "; without the scores that `evaluate.scores` or "
                 "`evaluate.metric` asks for they would be shorter"
               : "");
  }

  static std::size_t count_that_fit(const std::vector<step_done>& steps) {
    std::size_t count = 0;
    std::size_t seeds = 0;
    std::size_t bytes = 0;
    for (; count < std::min(steps.size(), most_steps); ++count) {
      seeds += steps[count].original_seeds.size();
      bytes += outcome_bytes_of(steps[count]);
      if (count != 0 && (seeds > most_seeds || bytes > most_outcome_bytes))
        break;
    }
    return count;
  }

  void send() {
    if (!sent_.body.empty() || next_.empty())
      return;
    auto now = std::move(next_);
    next_ = nothing_yet();
    const auto fit = count_that_fit(now.steps);
    if (fit < now.steps.size()) {
      const auto rest = now.steps.begin() + static_cast<std::ptrdiff_t>(fit);
      next_.steps.assign(std::make_move_iterator(rest),
                         std::make_move_iterator(now.steps.end()));
      now.steps.resize(fit);
      // What ends a share comes after all its steps.
      next_.stopped = std::exchange(now.stopped, {});
      next_.failure = std::exchange(now.failure, std::nullopt);
    }
    waiting_bytes_ = 0;
    for (const auto& step : next_.steps)
      waiting_bytes_ += bytes_of(step);
    now.sequence = ++sequence_;
    sent_ = encode(now);
    send_again();
  }

  void send_again() {
    calls_.call(config_.coordinator, method::run_event, sent_, {},
                [this](const result<payload>& answer) { answered(answer); });
  }

  /// The coordinator knows messages that it has got before by their number, so
  /// that one may be repeated.
  void answered(const result<payload>& answer) {
    if (answer) {
      sent_ = {};
      send();
    } else if (answer.error().code == ec::timeout
               || answer.error().code == ec::unavailable) {
      post_later(handle_of<interface>(self_), timeouts::tell_again, tick{});
    } else {
      post(config_.agent,
           run_orphaned{config_.run, config_.attempt, answer.error()});
    }
  }

  interface::pointer self_;
  run_relay_config config_;
  remote_calls<interface> calls_;
  run_events next_;               ///< What has come since the last message.
  std::size_t waiting_bytes_ = 0; ///< Of its steps.
  bool too_slow_ = false; ///< The coordinator: nothing counts after that.
  payload sent_;          ///< The message that is under way; empty: none.
  std::uint64_t sequence_ = 0;
};

} // namespace

run_reports_actor spawn_run_relay(caf::actor_system& system,
                                  run_relay_config config) {
  return spawn_state<run_relay>(system, std::move(config));
}

} // namespace graphmill
