#include "actors/stages/training/trainer.hpp"

#include "actors/base/actor_thread.hpp"
#include "actors/base/request_watch.hpp"
#include "actors/stages/training/trainer_place.hpp"
#include "messages/base/random.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <deque>
#include <optional>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

/// Counts a scope as work of the trainer, that of its helping threads included.
class compute_scope {
public:
  compute_scope(stage_counters& counters, const replica& model)
    : counters_(counters), model_(model), before_(model.helper_cpu()),
      own_(counters) {}
  ~compute_scope() {
    counters_.worked(std::chrono::nanoseconds{0},
                     model_.helper_cpu() - before_);
  }
  compute_scope(const compute_scope&) = delete;
  compute_scope& operator=(const compute_scope&) = delete;

private:
  stage_counters& counters_;
  const replica& model_;
  std::chrono::nanoseconds before_;
  busy_scope own_;
};

class trainer {
public:
  using interface = trainer_actor;
  static constexpr const char* name = "trainer";

  trainer(interface::pointer self, trainer_config config)
    : self_(self), config_(std::move(config)), thread_(self) {
    if (!config_.gauge)
      config_.gauge =
        std::make_shared<actor_gauge>(actor_label{actor_kind::trainer});
    config_.gauge->enter(actor_state::starved);
    thread_.install([this] {
      stopped_ = true;
      config_.gauge->enter(actor_state::stopped);
      for (auto& waiting_request : queue_)
        waiting_request.promise.deliver(
          to_caf(fail(ec::cancelled, "the trainer is shutting down")));
      queue_.clear();
    });
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const step_input& input) -> caf::result<step_finished> {
        auto promise = self_->make_response_promise<step_finished>();
        queue_.push_back({input, promise});
        next();
        config_.gauge->queued(queue_.size());
        return promise;
      },
      [this](const trainer_request& request) { return serve(request); },
      [this](const job_done&) { thread_.next(); },
    };
  }

  bool crashed(const caf::error& reason) { return thread_.crashed(reason); }

private:
  /// A batch, and the promise to say when its memory is free again.
  struct queued {
    step_input input;
    caf::typed_response_promise<step_finished> promise;
  };

  /// What the compute thread leaves behind of one batch.
  struct outcome {
    result<batch_metrics> metrics = batch_metrics{};
    std::shared_ptr<gradient_set> gradients;
    std::shared_ptr<gradient_progress> progress;
    std::shared_ptr<batch_output> output;
    std::shared_ptr<seed_outcomes> outcomes;
  };

  /// A step whose gradients are being reduced.
  struct waiting {
    step_result report;
    std::shared_ptr<const phase_work> work;
    clock::time_point since;
  };

  /// Runs a part of a step on the compute thread, then `then` in this actor,
  /// unless the run is over by then.
  void compute(std::function<void()> job, std::function<void()> then) {
    thread_.post(std::move(job), [this, then = std::move(then)](
                                   const std::optional<error>& failure) {
      if (thread_.leaving())
        return;
      if (failure)
        stop_with(*failure);
      else
        then();
    });
  }

  void next() {
    if (busy_ || stopped_ || queue_.empty())
      return;
    busy_ = true;
    config_.counters->waited_for_input(clock::now() - idle_since_);
    auto shared = std::make_shared<queued>(std::move(queue_.front()));
    queue_.pop_front();
    begun_ = clock::now();
    config_.gauge->works_on(shared->input.batch->data.key);
    config_.gauge->enter(actor_state::running);
    auto done = std::make_shared<outcome>();
    const auto training = shared->input.batch->data.key.phase == phase::train;
    if (training) {
      // The group may still read what was sent last, so each step has its own.
      done->gradients = std::make_shared<gradient_set>();
      // The group sends gradients to other ranks while backward goes on.
      if (config_.early) {
        done->progress = std::make_shared<gradient_progress>();
        contribute(
          {steps_++, config_.rank, done->gradients, {}, done->progress});
      }
    }
    compute(
      [this, shared, done, training] {
        const compute_scope busy{*config_.counters, *config_.model};
        if (training)
          backward(shared->input, *done);
        else
          evaluate(shared->input, *done);
      },
      [this, shared, done, training] { computed(*shared, done, training); });
  }

  void backward(const step_input& input, outcome& done) {
    const auto& key = input.batch->data.key;
    const auto stream = stream_key(config_.run_seed, purpose::dropout,
                                   static_cast<std::uint64_t>(key.epoch),
                                   static_cast<std::uint64_t>(key.step));
    const auto& progress = done.progress;
    gradient_sink on_final;
    if (progress)
      on_final = [&progress](std::int64_t at) { progress->final_from(at); };
    done.metrics = config_.model->compute_gradients(*input.batch, stream,
                                                    *done.gradients, on_final);
    if (progress && done.metrics)
      progress->finish(done.metrics.value());
    else if (progress)
      progress->fail();
  }

  void evaluate(const step_input& input, outcome& done) {
    place_.evaluates(*input.work);
    if (input.work->outputs)
      done.output = std::make_shared<batch_output>();
    else
      done.outcomes = std::make_shared<seed_outcomes>();
    done.metrics = config_.model->evaluate(*input.batch, done.output.get(),
                                           done.outcomes.get());
  }

  void computed(queued& work, const std::shared_ptr<outcome>& done,
                bool training) {
    auto& input = work.input;
    if (!done->metrics) {
      stop_with(done->metrics.error());
      return;
    }
    step_result report;
    report.key = input.batch->data.key;
    report.metrics = done->metrics.value();
    report.output = done->output;
    if (report.metrics.seeds != 0) // Else there is nothing to tell.
      report.outcomes = done->outcomes;
    if (input.work->seeds) {
      const auto& seeds = input.batch->data.original_seeds;
      report.original_seeds =
        std::make_shared<std::vector<node_id>>(seeds.begin(), seeds.end());
    }
    config_.counters->item_done(0);
    // The buffers go back before the credit does.
    input.batch.reset();
    work.promise.deliver(step_finished{input.sequence, config_.rank});
    if (!training) {
      finish(report);
      return;
    }
    if (!config_.early)
      contribute({steps_++, config_.rank, done->gradients, report.metrics});
    computed_ = waiting{report, input.work, clock::now()};
    config_.gauge->enter(actor_state::waiting);
    apply_when_reduced();
  }

  void contribute(const contribution& part) {
    requests_.ask(self_, config_.group, config_.group_timeout, part)
      .then(
        [this](const reduced_gradients& sum) {
          reduced_ = sum;
          apply_when_reduced();
        },
        [this](const caf::error& reason) {
          reduced_ = from_caf(reason, "the gradient group");
          apply_when_reduced();
        });
  }

  /// The answer may come before this actor hears of the end of its own
  /// backward, whose failure would be the cause of the group's.
  void apply_when_reduced() {
    if (!computed_ || !reduced_ || thread_.leaving())
      return;
    config_.counters->waited_for_credit(clock::now() - computed_->since);
    const auto sum = std::exchange(reduced_, std::nullopt);
    const auto work = std::exchange(computed_, std::nullopt);
    if (*sum)
      apply(sum->value(), work->work, work->report);
    else
      stop_with(sum->error());
  }

  void apply(const reduced_gradients& reduced,
             const std::shared_ptr<const phase_work>& work,
             const step_result& report) {
    config_.gauge->enter(actor_state::running);
    auto done = std::make_shared<std::optional<error>>();
    compute(
      [this, reduced, work, key = report.key, done] {
        const compute_scope busy{*config_.counters, *config_.model};
        place_.leave(); // What fails midway leaves the weights of no step.
        if (auto applied =
              config_.model->apply(*reduced.sum, work->learning_rate);
            !applied)
          *done = applied.error();
        else
          place_.applied(*work, key, reduced.metrics);
      },
      [this, done, report, last = reduced.last] {
        if (*done) {
          stop_with(**done);
          return;
        }
        stopped_ = last;
        finish(report);
        if (last)
          post(config_.conductor, trainer_stopped{config_.rank});
      });
  }

  void finish(const step_result& report) {
    busy_ = false;
    idle_since_ = clock::now();
    config_.gauge->done(idle_since_ - begun_);
    config_.gauge->enter(actor_state::starved);
    post(config_.conductor, report);
    next();
    config_.gauge->queued(queue_.size());
  }

  void stop_with(const error& reason) {
    stopped_ = true;
    config_.gauge->failed(reason.message);
    post(config_.conductor,
         run_failed{fail(reason.code, "trainer of rank {}: {}", config_.rank,
                         reason.message)});
  }

  caf::result<trainer_state> serve(const trainer_request& request) {
    auto promise = self_->make_response_promise<trainer_state>();
    auto state = std::make_shared<trainer_state>();
    auto refused = std::make_shared<std::optional<error>>();
    state->rank = config_.rank;
    // On the thread, where no step changes the weights while they are read.
    thread_.post(
      [this, request, state, refused] {
        switch (request.action) {
        case trainer_action::keep_best:
          config_.model->keep_best();
          break;
        case trainer_action::restore_best:
          config_.model->restore_best();
          place_.leave();
          break;
        case trainer_action::fill_cache: // The member has done that.
          break;
        case trainer_action::checkpoint:
          state->parameters = std::make_shared<const std::vector<named_tensor>>(
            config_.model->state());
          break;
        case trainer_action::keep:
          keep(*state);
          break;
        case trainer_action::restore:
          place_.leave();
          *refused = restore(request);
          state->digest = config_.model->digest();
          break;
        case trainer_action::digest:
          state->digest = config_.model->digest();
          break;
        case trainer_action::snapshot:
        case trainer_action::weights:
          state->digest = config_.model->digest();
          state->parameters = std::make_shared<const std::vector<named_tensor>>(
            config_.model->parameters());
          break;
        }
        state->steps = config_.model->steps();
      },
      [promise, state, refused](const std::optional<error>& failure) mutable {
        if (failure || *refused)
          promise.deliver(to_caf(failure ? *failure : **refused));
        else
          promise.deliver(trainer_state{*state});
      });
    return promise;
  }

  /// What another attempt of the run goes on from.
  void keep(trainer_state& state) const {
    state.at = place_.at();
    if (!state.at)
      return;
    state.so_far = place_.so_far();
    state.digest = config_.model->digest();
    state.parameters =
      std::make_shared<const std::vector<named_tensor>>(config_.model->state());
  }

  std::optional<error> restore(const trainer_request& request) {
    if (!request.state)
      return fail(ec::internal, "there is no state to load");
    if (auto done = config_.model->restore(*request.state, request.steps);
        !done)
      return done.error();
    return std::nullopt;
  }

  interface::pointer self_;
  trainer_config config_;
  request_watch requests_;
  std::deque<queued> queue_; ///< Bounded by the dispatcher's credit.
  std::int64_t steps_ = 0;   ///< Contributed so far.
  trainer_place place_;      ///< Used on the compute thread alone.
  std::optional<waiting> computed_;
  std::optional<result<reduced_gradients>> reduced_;
  bool busy_ = false;
  bool stopped_ = false;
  clock::time_point idle_since_ = clock::now();
  clock::time_point begun_{};      ///< With the batch at hand.
  actor_thread<interface> thread_; ///< Last: ends before what its jobs use.
};

} // namespace

trainer_actor spawn_trainer(caf::actor_system& system, trainer_config config) {
  return spawn_state<trainer>(system, std::move(config));
}

} // namespace graphmill
