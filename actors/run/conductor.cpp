#include "actors/run/conductor.hpp"

#include "actors/base/request_watch.hpp"
#include "actors/run/member.hpp"
#include "actors/run/phase_tally.hpp"
#include "messages/base/counted.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace graphmill {

namespace {

/// How long a run that fails waits for the weights so far.
constexpr std::chrono::milliseconds rescue_timeout = std::chrono::minutes{1};

/// Says which ranks have other weights than most.
/// @param states Of trainers that have done the same steps, by rank.
std::optional<error> difference(const std::vector<trainer_state>& states) {
  std::map<std::string, std::size_t> counts;
  for (const auto& one : states)
    ++counts[one.digest];
  if (counts.size() < 2)
    return std::nullopt;
  // Of two that are as frequent, that of the lower rank.
  const auto& usual = *std::max_element(
    states.begin(), states.end(), [&counts](const auto& a, const auto& b) {
      return counts[a.digest] < counts[b.digest];
    });
  std::vector<rank_id> odd;
  for (const auto& one : states)
    if (one.digest != usual.digest)
      odd.push_back(one.rank);
  return fail(ec::internal,
              "after {} training steps the weights of rank {} differ from "
              "those of rank {}: trainers of one run need the same build of "
              "Graphmill; a machine that computes wrongly does this, too",
              usual.steps, fmt::join(odd, ", "), usual.rank);
}

class conductor {
public:
  using interface = conductor_actor;
  static constexpr const char* name = "conductor";

  conductor(interface::pointer self, conductor_config config)
    : self_(self), config_(std::move(config)) {
    deaths_.install(self_);
    for (auto& one :
         config_.members(self_->home_system(), handle_of<interface>(self_)))
      members_.push_back({one});
    for (auto& one : members_)
      deaths_.watch(self_, one.actor, [this](const caf::error& why) {
        break_off(from_caf(why, "a member of the run"));
      });
  }

  ~conductor() {
    for (auto& one : members_)
      stop_actor(one.actor);
  }

  interface::behavior_type make_behavior() {
    return {
      [](const member_ready&) {}, // Whoever deploys members waits for that.
      [this](const step_result& result) { on_result(result); },
      [this](const trainer_stopped&) { on_stopped(); },
      [this](const run_failed& failed) { break_off(failed.why); },
      [this](const start_run&) { begin_run(); },
      [this](const member_lost& lost) { on_lost(lost); },
      [this](const cancel_run& cancel) { on_cancel(cancel); },
    };
  }

private:
  // -- phases

  void begin_run() {
    if (config_.def.fetch.cache == 0) {
      act();
      return;
    }
    filling_ = true;
    order_all(trainer_order::fill_cache);
    tell_filled();
  }

  void tell_filled() {
    if (filling_ && !finishing_ && config_.observer.on_filled)
      config_.observer.on_filled(members_.size() - owing(), members_.size());
  }

  void act() {
    if (ended_)
      return;
    if (cancelled_) {
      snapshot(cancelled_error());
      return;
    }
    const auto step = config_.course.next();
    switch (step.action) {
    case course_action::run_phase:
      begin(step);
      break;
    case course_action::keep_best:
      order_all(trainer_order::keep_best);
      break;
    case course_action::restore_best:
      order_all(trainer_order::restore_best);
      break;
    case course_action::finish:
      snapshot(std::nullopt);
      break;
    }
  }

  void begin(const course_step& step) {
    const auto order = order_of(
      step, config_.def, config_.seeds[static_cast<std::size_t>(step.phase)]);
    now_.emplace(order, config_.ranks);
    if (now_->complete()) {
      end_phase();
      return;
    }
    for (auto& one : members_)
      post(one.actor, order);
  }

  std::size_t ranks() const { return static_cast<std::size_t>(config_.ranks); }

  void on_result(const step_result& result) {
    if (ended_ || !now_ || !now_->take(result))
      return;
    const auto& key = result.key;
    if (key.phase == phase::train && key.rank == 0)
      ++train_steps_;
    if (config_.def.train.record_steps && config_.observer.on_record)
      if (auto kept = config_.observer.on_record(result); !kept) {
        break_off(kept.error());
        return;
      }
    if (finishing_)
      return;
    if (result.output && config_.observer.on_output)
      config_.observer.on_output(result);
    if (config_.observer.on_step)
      config_.observer.on_step(now_->order(), now_->steps_done());
    if (now_->complete())
      end_phase();
  }

  void end_phase() {
    const auto done = now_->result();
    now_.reset();
    if (config_.observer.on_phase)
      if (auto seen = config_.observer.on_phase(done); !seen) {
        break_off(seen.error());
        return;
      }
    if (done.phase == phase::train && !std::isfinite(done.metrics.loss())) {
      diverged(done.epoch);
      return;
    }
    if (cancelled_) {
      snapshot(cancelled_error());
      return;
    }
    config_.course.finished(done.metrics);
    if (done.phase == phase::train && config_.ranks > 1)
      compare_replicas();
    else
      act();
  }

  // -- trainers between phases

  void order_all(trainer_order what) { order_all(what, patience_for(what)); }

  void order_all(trainer_order what, std::chrono::milliseconds timeout) {
    states_.clear();
    for (auto& one : members_)
      one.owing = false;
    // A failure may order before all have answered what was ordered last.
    ++last_order_;
    for (std::size_t m = 0; m < members_.size(); ++m)
      if (!members_[m].lost)
        order_one(m, what, timeout);
    look_at_answers();
  }

  void order_one(std::size_t member, trainer_order what,
                 std::chrono::milliseconds timeout) {
    members_[member].owing = true;
    requests_.ask(self_, members_[member].actor, timeout, trainer_request{what})
      .then(
        [this, member, order = last_order_](const member_state& state) {
          if (order != last_order_ || !members_[member].owing)
            return;
          for (const auto& one : state.trainers)
            states_.push_back({member, one});
          settle(member);
        },
        [this, member, order = last_order_](const caf::error& why) {
          if (order != last_order_ || !members_[member].owing)
            return;
          break_off(from_caf(why, "a member of the run"));
          if (order == last_order_)
            settle(member); // The others have weights, too.
        });
  }

  /// A member has answered, or never will.
  void settle(std::size_t member) {
    if (ended_ || !std::exchange(members_[member].owing, false))
      return;
    tell_filled();
    look_at_answers();
  }

  std::size_t owing() const {
    return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(),
                    [](const auto& one) { return one.owing; }));
  }

  void look_at_answers() {
    if (owing() != 0)
      return;
    std::sort(states_.begin(), states_.end(), [](const auto& a, const auto& b) {
      return a.state.rank < b.state.rank;
    });
    if (fetching_) {
      take_weights();
      return;
    }
    if (states_.size() != ranks()) {
      const auto asked_for_weights = finishing_;
      break_off(fail(ec::unavailable, "{} of {} trainers answer",
                     states_.size(), ranks()));
      if (!asked_for_weights)
        return;
    }
    if (finishing_) {
      finish();
      return;
    }
    if (std::exchange(comparing_, false)) {
      if (auto odd = difference(trainers_of(states_))) {
        break_off(*std::move(odd));
        return;
      }
    } else if (!std::exchange(filling_, false)) {
      config_.course.finished({});
    }
    act();
  }

  /// Replicas that apply the same gradients stay equal. If they do not, then
  /// that is to be known before more epochs are spent on it.
  void compare_replicas() {
    comparing_ = true;
    order_all(trainer_order::digest);
  }

  // -- the end

  static error cancelled_error() {
    return fail(ec::cancelled, "stopped by the user");
  }

  void on_cancel(const cancel_run& cancel) {
    if (ended_)
      return;
    if (cancel.now) {
      end(outcome_.failure ? *outcome_.failure : cancelled_error());
      return;
    }
    if (std::exchange(cancelled_, true) || finishing_)
      return;
    if (filling_ || (now_ && now_->order().phase != phase::train))
      snapshot(cancelled_error()); // Neither changes any weights.
    else if (now_)
      for (auto& one : members_)
        post_urgent(one.actor, stop_after_step{});
  }

  void on_lost(const member_lost& lost) {
    if (ended_ || lost.member >= members_.size())
      return;
    members_[lost.member].lost = true;
    break_off(lost.why);
    settle(lost.member);
  }

  void on_stopped() {
    if (++stopped_ == ranks())
      snapshot(cancelled_error());
  }

  /// Takes the weights, then ends the run.
  void snapshot(std::optional<error> failure) {
    if (ended_ || finishing_)
      return;
    finishing_ = true;
    outcome_.failure = std::move(failure);
    order_all(trainer_order::snapshot);
  }

  /// Ends the run with an error, with the weights so far if there are any that
  /// a trainer can still give. The first error is the one that counts.
  void break_off(error why) {
    if (ended_)
      return;
    if (finishing_) {
      if (!outcome_.failure)
        outcome_.failure = std::move(why);
      return;
    }
    if (train_steps_ == 0) {
      end(std::move(why));
      return;
    }
    finishing_ = true;
    outcome_.failure = std::move(why);
    order_all(trainer_order::snapshot, rescue_timeout);
  }

  /// The present weights are worth nothing any more; the best so far may be.
  void diverged(std::int32_t epoch) {
    auto why = fail(ec::invalid_data,
                    "the training loss of epoch {} is not a number: lower "
                    "optimizer.learning_rate, or look for huge features with "
                    "`graphmill inspect`",
                    epoch + 1);
    if (!config_.course.best_validation()) {
      end(std::move(why));
      return;
    }
    for (auto& one : members_)
      post(one.actor, trainer_request{trainer_order::restore_best});
    break_off(std::move(why));
  }

  void finish() {
    replicas_ = std::exchange(states_, {});
    // A step that fails may have succeeded at some ranks.
    std::stable_sort(replicas_.begin(), replicas_.end(),
                     [](const answer& a, const answer& b) {
                       return a.state.steps > b.state.steps;
                     });
    if (!outcome_.failure)
      outcome_.failure = difference(trainers_of(replicas_));
    fetching_ = true;
    take_weights();
  }

  /// Takes the weights of the first rank whose member can still give them: of
  /// those with the most steps, all have the same.
  void take_weights() {
    for (const auto& [member, state] : std::exchange(states_, {}))
      if (!replicas_.empty() && state.parameters)
        replicas_.front().state.parameters = state.parameters;
    while (!replicas_.empty()) {
      const auto& [member, state] = replicas_.front();
      if (state.parameters) {
        outcome_.digest = state.digest;
        train_steps_ = state.steps;
        outcome_.parameters = state.parameters;
        break;
      }
      if (!members_[member].lost
          && !std::exchange(members_[member].asked, true)) {
        ++last_order_;
        order_one(member, trainer_order::weights,
                  outcome_.failure ? rescue_timeout
                                   : patience_for(trainer_order::weights));
        return;
      }
      replicas_.erase(replicas_.begin());
    }
    if (!outcome_.parameters && outcome_.failure)
      outcome_.failure->message
        += fmt::format("; the weights after {} are lost, for no trainer could "
                       "give them",
                       counted(train_steps_, "training step"));
    end(outcome_.failure);
  }

  void end(std::optional<error> failure) {
    if (std::exchange(ended_, true))
      return;
    outcome_.failure = std::move(failure);
    outcome_.best_validation = config_.course.best_validation();
    outcome_.train_steps = train_steps_;
    config_.observer.on_end(std::move(outcome_));
  }

  interface::pointer self_;
  conductor_config config_;
  struct party {
    member_actor actor;
    bool owing = false; ///< Has not answered the last order.
    bool lost = false;  ///< Never will.
    bool asked = false; ///< For the weights, at the end.
  };
  std::vector<party> members_;
  down_watch deaths_;
  request_watch requests_;
  std::optional<phase_tally> now_; ///< Of the phase that is on.
  std::int64_t train_steps_ = 0;
  /// What a trainer has answered.
  struct answer {
    std::size_t member = 0;
    trainer_state state;
  };
  static std::vector<trainer_state>
  trainers_of(const std::vector<answer>& answers) {
    std::vector<trainer_state> out;
    for (const auto& one : answers)
      out.push_back(one.state);
    return out;
  }
  std::vector<answer> states_;   ///< Of the last order.
  std::vector<answer> replicas_; ///< At the end, most steps first.
  bool fetching_ = false;        ///< The weights, at the end.
  std::uint64_t last_order_ = 0;
  std::size_t stopped_ = 0;
  bool comparing_ = false; ///< Replicas, after an epoch.
  bool filling_ = false;   ///< Caches of remote rows, before the first phase.
  bool cancelled_ = false;
  bool finishing_ = false;
  bool ended_ = false;
  run_outcome outcome_;
};

} // namespace

conductor_actor spawn_conductor(caf::actor_system& system,
                                conductor_config config) {
  return spawn_state<conductor>(system, std::move(config));
}

} // namespace graphmill
