#include "actors/run/conductor.hpp"

#include "actors/base/request_watch.hpp"
#include "actors/base/timeouts.hpp"
#include "actors/run/checkpoints/checkpoint_maker.hpp"
#include "actors/run/checkpoints/checkpoint_times.hpp"
#include "actors/run/checkpoints/run_pause.hpp"
#include "actors/run/member/member.hpp"
#include "actors/run/member_answers.hpp"
#include "actors/run/phase_tally.hpp"
#include "actors/run/replicas.hpp"
#include "actors/run/run_course.hpp"

#include <utility>

namespace graphmill {

namespace {

/// Leads a run: carries out what its `run_course` has it do next, and tells
/// that what has come of it. Sends the requests, adds up a phase, and collects
/// answers; when what is done is up to the course.
class conductor {
public:
  using interface = conductor_actor;
  static constexpr const char* name = "conductor";

  conductor(interface::pointer self, conductor_config config)
    : self_(self), config_(std::move(config)),
      course_(config_.phases, config_.ranks, has_to_fill(config_.def),
              config_.from ? std::optional{config_.from->at} : std::nullopt),
      pause_(config_.pause_at,
             config_.from ? std::optional{config_.from->at} : std::nullopt),
      edge_(course_.epoch_begin().epoch),
      times_(config_.def.checkpoint, self_->clock().now()) {
    deaths_.install(self_);
    members_ =
      config_.members(self_->home_system(), handle_of<interface>(self_));
    answers_ = member_answers{members_.size()};
    for (auto& member : members_)
      deaths_.watch(self_, member, [this](const caf::error& reason) {
        carry_out(course_.fail_run(from_caf(reason, "a member of the run")));
      });
  }

  ~conductor() {
    for (auto& member : members_)
      stop_actor(member);
  }

  interface::behavior_type make_behavior() {
    return {
      [](const member_ready&) {}, // Whoever deploys members waits for that.
      [this](const step_result& result) { on_result(result); },
      [this](const trainer_stopped& stopped) {
        carry_out(course_.stopped(stopped.rank));
      },
      [this](const run_failed& failed) {
        carry_out(course_.fail_run(failed.reason));
      },
      [this](const start_run&) { carry_out(course_.start()); },
      [this](const member_lost& lost) { on_lost(lost); },
      [this](const pause_run&) { pause_.at_next_edge(); },
      [this](const cancel_run& cancel) {
        const auto next = cancel.now ? course_.cancel_now() : course_.cancel();
        if (cancel.now)
          miss_checkpoint({}); // Nor is another one asked for by now.
        carry_out(next);
      },
    };
  }

private:
  using state = run_course::state;
  using task = run_course::task;

  void carry_out(task next) {
    look_at_edge(next);
    if (const auto order = order_for(next)) {
      ask_all(*order);
      tell_filled();
      return;
    }
    switch (next) {
    case task::begin_phase:
      begin(course_.step());
      break;
    case task::stop_phase:
      for (auto& member : members_)
        post_urgent(member, stop_after_step{});
      break;
    case task::pause:
      take_pause();
      break;
    case task::fetch:
      fetch_weights();
      break;
    case task::end:
      ending_ = true;
      if (course_.failure() && course_.failure()->code != ec::cancelled)
        making_.give_up();
      settle_checkpoint(); // What waits for results waits in vain now.
      end_if_due();
      break;
    default:
      break;
    }
  }

  // -- phases

  void begin(const course_step& step) {
    if (pause_.comes_before(step)) {
      carry_out(course_.pause());
      return;
    }
    auto request = pause_.cut(
      request_of(step, config_.def, config_.wanted,
                 config_.seeds[static_cast<std::size_t>(step.phase)]));
    request.from = course_.epoch_begin();
    request.before = before(request.first);
    now_ = std::make_shared<phase_tally>(request, config_.ranks);
    if (request.phase == phase::train)
      making_.follow(
        request.epoch, request.steps,
        [tally = now_](std::int64_t step) { return tally->until(step); });
    if (now_->complete()) {
      end_phase();
      return;
    }
    if (config_.observer.on_begin)
      config_.observer.on_begin(request);
    for (auto& member : members_)
      post(member, request);
  }

  /// Steps that are done while the run is being saved count, too.
  void on_result(const step_result& result) {
    if (course_.has_ended() || !now_ || !now_->take(result))
      return;
    const auto& key = result.key;
    // All ranks do the same steps; those of one are counted.
    if (key.phase == phase::train && key.rank == 0)
      course_.trained();
    settle_checkpoint();
    if (config_.def.train.record_steps && config_.observer.on_record)
      if (auto kept = config_.observer.on_record(result); !kept) {
        carry_out(course_.fail_run(kept.error()));
        return;
      }
    if (course_.now() != state::in_phase)
      return;
    if (result.output && config_.observer.on_output)
      config_.observer.on_output(result);
    if (config_.observer.on_step)
      config_.observer.on_step(now_->request(), now_->steps_done(),
                               result.metrics);
    if (now_->complete())
      end_phase();
    else if (key.phase == phase::train && key.rank == 0
             && times_.is_due(course_.train_steps(), self_->clock().now()))
      ask_checkpoint(false);
  }

  void end_phase() {
    const auto tally = std::exchange(now_, nullptr);
    if (pause_.is_within(tally->request())) {
      carry_out(course_.pause());
      return;
    }
    const auto done = tally->result();
    if (config_.observer.on_phase)
      if (auto seen = config_.observer.on_phase(done); !seen) {
        carry_out(course_.fail_run(seen.error()));
        return;
      }
    carry_out(course_.phase_over(done.metrics, done.quality()));
  }

  // -- checkpoints

  void look_at_edge(task next) {
    const auto epoch = course_.epoch_begin().epoch;
    if (!course_.leaves_checkpoint(next, edge_ != epoch))
      return;
    edge_ = epoch;
    ask_checkpoint(next != task::begin_phase
                   || course_.step().phase != phase::train);
  }

  /// @param last Of the run, so that it takes the place of one under way.
  void ask_checkpoint(bool last) {
    const auto& due = config_.observer.on_checkpoint_due;
    if (!due || config_.def.checkpoint.keep == 0 || (making_.is_on() && !last)
        || !due(last))
      return;
    times_.asked(self_->clock().now());
    pauses_ = false;
    ask_state();
  }

  /// Asks for what the run goes on with, once no checkpoint is under way.
  void take_pause() {
    if (course_.now() != state::pausing || making_.is_on())
      return;
    pauses_ = true;
    ask_state();
  }

  void ask_state() {
    const auto& begin = course_.epoch_begin();
    const auto number = making_.ask(begin, before(begin.step));
    requests_
      .ask(self_, members_[config_.keeper],
           patience_for(trainer_action::checkpoint),
           trainer_request{trainer_action::checkpoint})
      .then(
        [this, number](const member_state& answer) {
          if (making_.awaits(number))
            take_copy(answer);
        },
        [this, number](const caf::error& reason) {
          if (making_.awaits(number))
            miss_checkpoint(from_caf(reason, "a member of the run"));
        });
  }

  /// What the steps of an epoch gave that were done before.
  batch_metrics before(std::int64_t step) const {
    return step != 0 && config_.from ? config_.from->so_far : batch_metrics{};
  }

  void take_copy(const member_state& answer) {
    const auto& copies = answer.trainers;
    if (copies.empty() || !copies.front().parameters) {
      miss_checkpoint(fail(ec::unavailable, "no trainer gives its state"));
    } else {
      making_.answer(copies.front().steps, copies.front().parameters);
      settle_checkpoint();
    }
  }

  /// Hands the checkpoint on, if all of it is here.
  void settle_checkpoint() {
    if (auto made = making_.take()) {
      if (std::exchange(pauses_, false)) {
        outcome_.paused = std::move(made);
        carry_out(course_.paused());
      } else {
        config_.observer.on_checkpoint(std::move(*made));
      }
      go_on_without_copy();
    } else if (making_.is_lost(ending_)) {
      miss_checkpoint(fail(ec::internal, "results of its steps are missing"));
    }
  }

  /// There will be none this time. @param reason If it is worth telling.
  void miss_checkpoint(const std::optional<error>& reason) {
    if (!making_.is_on())
      return;
    making_.give_up();
    if (std::exchange(pauses_, false) && reason)
      carry_out(course_.fail_run(*reason));
    else if (reason && config_.observer.on_checkpoint_missed)
      config_.observer.on_checkpoint_missed(*reason);
    go_on_without_copy();
  }

  /// What waits until no copy is under way.
  void go_on_without_copy() {
    end_if_due();
    take_pause();
  }

  // -- requests that are answered

  void ask_all(trainer_action action) {
    for (auto member : answers_.ask_all())
      ask_one(member, action);
    look_at_answers();
  }

  void ask_one(std::size_t member, trainer_action action) {
    requests_
      .ask(self_, members_[member], patience_for(action, course_.failure()),
           request_for(action, config_.from))
      .then(
        [this, member,
         request = answers_.request()](const member_state& answer) {
          if (!answers_.awaits(request, member))
            return;
          answers_.keep(member, answer);
          settle(member);
        },
        [this, member, request = answers_.request()](const caf::error& reason) {
          if (!answers_.awaits(request, member))
            return;
          carry_out(course_.fail_run(from_caf(reason, "a member of the run")));
          if (answers_.awaits(request, member))
            settle(member); // The others have weights, too.
        });
  }

  void on_lost(const member_lost& lost) {
    if (lost.member == config_.keeper)
      miss_checkpoint(lost.reason);
    if (course_.has_ended() || lost.member >= members_.size())
      return;
    answers_.lose(lost.member);
    carry_out(course_.fail_run(lost.reason));
    settle(lost.member);
  }

  /// A member has answered, or never will.
  void settle(std::size_t member) {
    if (course_.has_ended() || !answers_.settle(member))
      return;
    tell_filled();
    look_at_answers();
  }

  void tell_filled() {
    if (course_.now() == state::filling && config_.observer.on_filled)
      config_.observer.on_filled(members_.size() - answers_.owing(),
                                 members_.size());
  }

  void look_at_answers() {
    if (answers_.owing() != 0)
      return;
    auto replicas = answers_.take();
    if (course_.now() == state::fetching) {
      search_.take(replicas);
      fetch_weights();
      return;
    }
    const auto saving = course_.now() == state::saving;
    const auto resuming = course_.now() == state::resuming;
    if (resuming)
      config_.from->tensors.reset(); // Trainers have it now.
    if (saving)
      sort_by_steps(replicas);
    auto odd =
      odd_among(replicas, config_.ranks,
                saving || resuming || course_.now() == state::comparing);
    if (saving)
      search_ = weight_search{std::move(replicas)};
    carry_out(course_.answered(std::move(odd)));
  }

  // -- the end

  void fetch_weights() {
    if (const auto member = search_.next(answers_)) {
      answers_.ask(*member);
      ask_one(*member, trainer_action::weights);
      return;
    }
    carry_out(course_.fetched(search_.found() != nullptr));
  }

  void end_if_due() {
    if (making_.is_on() || !std::exchange(ending_, false))
      return;
    outcome_.failure = course_.failure();
    outcome_.best_validation = course_.best_validation();
    outcome_.train_steps = course_.train_steps();
    if (outcome_.failure)
      outcome_.paused.reset();
    search_.tell(outcome_);
    config_.observer.on_end(std::move(outcome_));
  }

  interface::pointer self_;
  conductor_config config_;
  run_course course_;
  std::vector<member_actor> members_;
  member_answers answers_;
  weight_search search_; ///< Once the snapshot is answered.
  down_watch deaths_;
  request_watch requests_;
  std::shared_ptr<phase_tally> now_; ///< Of the phase that is on.
  run_pause pause_;
  std::int32_t edge_; ///< The last epoch that has begun, or been gone on with.
  checkpoint_times times_;
  checkpoint_maker making_;
  bool pauses_ = false; ///< What is being made is no checkpoint.
  run_outcome outcome_; ///< Until the end, with what was made then alone.
  bool ending_ = false; ///< As soon as the last checkpoint is taken.
};

} // namespace

conductor_actor spawn_conductor(caf::actor_system& system,
                                conductor_config config) {
  return spawn_state<conductor>(system, std::move(config));
}

} // namespace graphmill
