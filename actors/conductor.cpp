#include "actors/conductor.hpp"

#include "actors/pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

split split_of(phase which) {
  switch (which) {
  case phase::train:
    return split::train;
  case phase::validation:
    return split::validation;
  case phase::test:
    return split::test;
  }
  return split::test;
}

/// Longer than any job that a trainer can have at hand.
constexpr std::chrono::milliseconds trainer_timeout = std::chrono::minutes{15};
/// How long a run that fails waits for the weights so far.
constexpr std::chrono::milliseconds rescue_timeout = std::chrono::minutes{1};

class conductor {
public:
  using interface = conductor_actor;
  static constexpr const char* name = "conductor";

  conductor(interface::pointer self, conductor_config config,
            stage_table stages)
    : self_(self), config_(std::move(config)), stages_(std::move(stages)) {
    deaths_.install(self_);
    actors_ = spawn_pipeline(self_->home_system(), config_, stages_,
                             handle_of<interface>(self_));
    watch(actors_.dispatcher, "the dispatcher");
    for (auto& trainer : actors_.trainers)
      watch(trainer, "a trainer");
    watch(actors_.group, "the gradient group");
    for (auto& pool : actors_.pools)
      watch(pool, "a stage");
  }

  ~conductor() { stop_pipeline(actors_); }

  interface::behavior_type make_behavior() {
    return {
      [this](const step_result& result) { on_result(result); },
      [this](const trainer_stopped&) { on_stopped(); },
      [this](const run_failed& failed) { break_off(failed.why); },
      [this](const start_run&) { act(); },
      [this](const cancel_run& cancel) { on_cancel(cancel); },
    };
  }

private:
  template <class Handle>
  void watch(const Handle& who, std::string_view label) {
    deaths_.watch(self_, who, [this, label](const caf::error& why) {
      break_off(from_caf(why, label));
    });
  }

  // -- phases
  // ----------------------------------------------------------------------

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

  std::span<const node_id> seeds_of(phase which) const {
    if (config_.seeds)
      return *config_.seeds;
    return config_.graph->seeds(split_of(which));
  }

  void begin(const course_step& step) {
    const auto training = step.phase == phase::train;
    const auto& def = config_.def;
    epoch_plan_options options;
    options.batch_size =
      training ? def.train.batch_size : def.evaluate.batch_size;
    options.ranks = static_cast<rank_id>(config_.models.size());
    options.order = def.train.seed_order;
    options.owner = [graph = config_.graph](node_id seed) {
      return graph->owner(graph->info().target, seed);
    };
    auto work = std::make_shared<phase_work>();
    work->phase = step.phase;
    work->epoch = step.epoch;
    work->plan = std::make_shared<const epoch_plan>(
      seeds_of(step.phase), std::move(options), def.seed, step.phase,
      step.epoch);
    work->sampling = training ? config_.train_plan : config_.evaluate_plan;
    work->steps = work->plan->steps();
    if (step.max_steps > 0)
      work->steps = std::min(work->steps, step.max_steps);
    work->learning_rate = learning_rate_of(
      def.optimizer, static_cast<std::uint32_t>(step.epoch), def.train.epochs);
    work->outputs = config_.outputs;
    work_ = std::move(work);
    sums_.assign(static_cast<std::size_t>(work_->steps) * config_.models.size(),
                 {});
    arrived_ = 0;
    began_ = clock::now();
    if (sums_.empty())
      end_phase();
    else
      post(actors_.dispatcher, begin_phase{work_});
  }

  void on_result(const step_result& result) {
    if (ended_ || work_ == nullptr)
      return;
    const auto ranks = config_.models.size();
    const auto place = static_cast<std::size_t>(result.key.step) * ranks
                       + static_cast<std::size_t>(result.key.rank);
    sums_[place] = result.metrics;
    ++arrived_;
    if (result.key.phase == phase::train && result.key.rank == 0)
      ++train_steps_;
    if (finishing_)
      return;
    if (result.output && config_.observer.on_output)
      config_.observer.on_output(result);
    if (config_.observer.on_step)
      config_.observer.on_step(*work_,
                               static_cast<std::int64_t>(arrived_ / ranks));
    if (arrived_ == sums_.size())
      end_phase();
  }

  void end_phase() {
    phase_result done;
    done.phase = work_->phase;
    done.epoch = work_->epoch;
    done.steps = work_->steps;
    done.learning_rate = work_->learning_rate;
    done.seconds = std::chrono::duration<double>(clock::now() - began_).count();
    // In step order, whichever came first: sums of doubles depend on it.
    for (const auto& part : sums_)
      done.metrics += part;
    work_ = nullptr;
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
    act();
  }

  // -- trainers between phases
  // --------------------------------------------------------

  void order_all(trainer_order what,
                 std::chrono::milliseconds timeout = trainer_timeout) {
    awaited_ = actors_.trainers.size();
    states_.assign(awaited_, {});
    // A failure may order before all have answered what was ordered last.
    const auto order = ++last_order_;
    for (auto& trainer : actors_.trainers)
      ask(self_, trainer, timeout, trainer_request{what})
        .then(
          [this, order](const trainer_state& state) {
            if (order != last_order_)
              return;
            states_[static_cast<std::size_t>(state.rank)] = state;
            ordered();
          },
          [this, order](const caf::error& why) {
            if (order != last_order_)
              return;
            break_off(from_caf(why, "a trainer"));
            if (order == last_order_)
              ordered(); // The others have weights, too.
          });
  }

  /// A trainer has answered, or never will.
  void ordered() {
    if (ended_ || --awaited_ != 0)
      return;
    if (finishing_) {
      finish();
      return;
    }
    config_.course.finished({});
    act();
  }

  // -- the end
  // ------------------------------------------------------------------------

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
    if (work_ != nullptr && work_->phase == phase::train)
      post_urgent(actors_.group, stop_after_step{});
    else if (work_ != nullptr)
      snapshot(cancelled_error()); // An evaluation changes nothing.
  }

  void on_stopped() {
    if (++stopped_ == actors_.trainers.size())
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
    for (auto& trainer : actors_.trainers)
      post(trainer, trainer_request{trainer_order::restore_best});
    break_off(std::move(why));
  }

  void finish() {
    const trainer_state* saved = nullptr;
    for (const auto& state : states_) {
      if (state.parameters == nullptr)
        continue;
      if (saved == nullptr)
        saved = &state;
      else if (state.digest != saved->digest && !outcome_.failure)
        outcome_.failure =
          fail(ec::internal,
               "the weights of rank {} differ from those of rank "
               "{}",
               state.rank, saved->rank);
    }
    if (saved != nullptr) {
      outcome_.digest = saved->digest;
      outcome_.parameters = saved->parameters;
    }
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
  stage_table stages_;
  pipeline actors_;
  down_watch deaths_;
  std::shared_ptr<const phase_work> work_; ///< Null between phases.
  std::vector<batch_metrics> sums_;        ///< By step, then rank.
  std::size_t arrived_ = 0;
  clock::time_point began_;
  std::int64_t train_steps_ = 0;
  std::vector<trainer_state> states_;
  std::size_t awaited_ = 0;
  std::uint64_t last_order_ = 0;
  std::size_t stopped_ = 0;
  bool cancelled_ = false;
  bool finishing_ = false;
  bool ended_ = false;
  run_outcome outcome_;
};

std::shared_ptr<stage_counters> counters(const char* stage,
                                         std::size_t replicas) {
  return std::make_shared<stage_counters>(stage,
                                          static_cast<std::uint32_t>(replicas));
}

} // namespace

stage_table stage_table::of(const definition& def, part_id parts) {
  const auto each = static_cast<std::size_t>(parts);
  stage_table out;
  out.sampling_service =
    counters("sampling service", each * def.sampler.threads);
  out.sampler = counters("sampler", def.sampler.replicas);
  out.feature_service = counters("feature service", each * def.fetch.threads);
  out.fetcher = counters("fetcher", def.fetch.replicas);
  out.batcher = counters("batcher", def.trainer.replicas);
  out.trainer = counters("trainer", def.trainer.replicas);
  out.gradient_group = counters("gradient group", 1);
  return out;
}

std::vector<stage_report> stage_table::reports() const {
  std::vector<stage_report> out;
  for (const auto& stage : {sampling_service, sampler, feature_service, fetcher,
                            batcher, trainer, gradient_group})
    out.push_back(stage->report());
  return out;
}

conductor_actor spawn_conductor(caf::actor_system& system,
                                conductor_config config, stage_table stages) {
  return spawn_state<conductor>(system, std::move(config), std::move(stages));
}

} // namespace graphmill
