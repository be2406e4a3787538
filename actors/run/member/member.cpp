#include "actors/run/member/member.hpp"

#include "actors/base/actor_thread.hpp"
#include "actors/base/request_watch.hpp"
#include "actors/base/timeouts.hpp"
#include "actors/run/member/pipeline.hpp"
#include "messages/base/caught.hpp"
#include "messages/base/moments.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace graphmill {

namespace {

class member {
public:
  using interface = member_actor::extend<
    // INTERNAL: the seeds of a phase are in order.
    takes<job_done>>;
  static constexpr const char* name = "member";

  member(interface::pointer self, member_config config, stage_table stages,
         run_reports_actor conductor)
    : self_(self), config_(std::move(config)), conductor_(std::move(conductor)),
      thread_(self) {
    deaths_.install(self_);
    thread_.install([this] { stop_all(); });
    actors_ = spawn_pipeline(self_->home_system(), config_, stages, conductor_);
    if (actors_.dispatcher)
      watch(actors_.dispatcher, "the dispatcher");
    for (auto& trainer : actors_.trainers)
      watch(trainer, "a trainer");
    for (auto& group : actors_.groups)
      watch(group, "the gradient group");
    for (auto& pool : actors_.pools)
      watch(pool, "a stage");
    if (config_.access.cache) {
      filler_ = config_.access.cache(self_->home_system());
      watch(filler_, "the cache filler");
    }
    post(conductor_, member_ready{});
  }

  ~member() {
    quietly([this] { stop_all(); });
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const phase_request& request) { begin(request); },
      [this](const stop_after_step& stop) {
        for (auto& group : actors_.groups)
          post_urgent(group, stop);
      },
      [this](const trainer_request& request) {
        return request.action == trainer_action::fill_cache ? fill()
                                                            : ask_all(request);
      },
      [this](const job_done&) { thread_.next(); },
    };
  }

  bool crashed(const caf::error& reason) { return thread_.crashed(reason); }

private:
  void stop_all() {
    stop_actor(std::exchange(filler_, {}));
    stop_pipeline(actors_);
    // A promise that is dropped would leave its asker waiting.
    const auto over = fail(ec::cancelled, "the member of the run has ended");
    for (auto& open : rounds_)
      if (std::exchange(open->missing, 0) != 0)
        open->promise.deliver(to_caf(over));
    settle_filling(to_caf(over));
  }

  template <class Handle>
  void watch(const Handle& actor, std::string_view label) {
    deaths_.watch(self_, actor, [this, label](const caf::error& reason) {
      if (!thread_.leaving()) // Then it has been told to end, too.
        post(conductor_, run_failed{from_caf(reason, label)});
    });
  }

  void begin(const phase_request& request) {
    if (request.phase == phase::train && request.first == 0)
      now_at(moment::epoch_edge);
    if (!actors_.dispatcher) {
      // A process that only serves data has nothing to begin.
      if (request.phase != phase::train)
        now_at(moment::evaluation);
      return;
    }
    auto work = std::make_shared<phase_work>();
    thread_.post([this, request, work] { *work = work_of(request); },
                 [this, work](const std::optional<error>& failure) {
                   if (failure)
                     post(conductor_, run_failed{*failure});
                   else if (actors_.dispatcher)
                     post(actors_.dispatcher, begin_phase{work});
                 });
  }

  /// Shuffles the seeds of a phase, which takes a while if they are many. On
  /// the thread: reads what stays as it is.
  phase_work work_of(const phase_request& request) const {
    const auto& def = config_.def;
    phase_work out{request};
    if (config_.rows) {
      out.table = config_.rows;
    } else {
      const auto& own = request.own_seeds ? request.own_seeds : config_.seeds;
      out.table =
        own ? table_of(*config_.graph, own)
            : table_of(config_.graph,
                       config_.evaluated.value_or(split_of(request.phase)));
      out.negatives = config_.negatives;
    }
    const auto shuffled =
      config_.shuffled.value_or(request.phase == phase::train);
    out.plan = std::make_shared<const epoch_plan>(
      out.table->rows(),
      plan_options(def, config_.graph, out.table, config_.world, request.phase),
      def.seed, shuffled ? phase::train : phase::test, request.epoch);
    out.sampling = request.phase == phase::train ? config_.train_scheme
                                                 : config_.evaluate_scheme;
    out.outputs = config_.outputs;
    out.seeds = config_.outputs || def.train.record_steps;
    return out;
  }

  /// A request to all trainers, and who has answered it.
  struct round {
    member_state state;
    std::optional<error> failure;
    std::size_t missing = 0;
    caf::typed_response_promise<member_state> promise;

    /// A trainer has answered, or never will.
    void one_less() {
      if (--missing != 0)
        return;
      if (state.trainers.empty() && failure)
        promise.deliver(to_caf(*failure));
      else {
        std::sort(state.trainers.begin(), state.trainers.end(),
                  [](const auto& a, const auto& b) { return a.rank < b.rank; });
        promise.deliver(std::move(state));
      }
    }
  };

  /// Answers what the trainers that can answer say.
  caf::result<member_state> ask_all(const trainer_request& request) {
    auto answers = std::make_shared<round>();
    // All have the same state, so one of them tells it.
    const auto asked = request.action == trainer_action::checkpoint
                         ? std::min<std::size_t>(actors_.trainers.size(), 1)
                         : actors_.trainers.size();
    // One more than there are, taken off at the end of this function: so a
    // member without trainers answers, too.
    answers->missing = asked + 1;
    answers->promise = self_->make_response_promise<member_state>();
    auto promise = answers->promise;
    std::erase_if(rounds_, [](const auto& old) { return old->missing == 0; });
    rounds_.push_back(answers);
    for (const auto& trainer : std::span{actors_.trainers}.first(asked))
      requests_.ask(self_, trainer, patience_for(request.action), request)
        .then(
          [answers, action = request.action](const trainer_state& state) {
            if (answers->missing == 0)
              return;
            if (action == trainer_action::checkpoint)
              now_at(moment::checkpoint);
            answers->state.trainers.push_back(state);
            answers->one_less();
          },
          [answers](const caf::error& reason) {
            if (answers->missing == 0)
              return;
            answers->failure = from_caf(reason, "a trainer");
            answers->one_less();
          });
    answers->one_less();
    return promise;
  }

  /// Answers for all trainers here once the cache is filled.
  caf::result<member_state> fill() {
    now_at(moment::filling_caches);
    member_state filled;
    for (auto rank : config_.ranks)
      filled.trainers.push_back({rank, {}, 0, nullptr});
    if (filling_)
      return to_caf(fail(ec::invalid_argument, "the cache is being filled"));
    filling_ = self_->make_response_promise<member_state>();
    auto promise = *filling_;
    if (!filler_) {
      settle_filling(filled);
      return promise;
    }
    requests_
      .ask(self_, filler_, patience_for(trainer_action::fill_cache),
           fill_cache{})
      .then([this, filled](const cache_filled&) { settle_filling(filled); },
            [this](const caf::error& reason) {
              settle_filling(to_caf(from_caf(reason, "the cache filler")));
            });
    return promise;
  }

  /// Answers who waits for the cache, if anybody does.
  template <class Answer>
  void settle_filling(Answer answer) {
    if (auto promise = std::exchange(filling_, std::nullopt))
      promise->deliver(std::move(answer));
  }

  interface::pointer self_;
  member_config config_;
  run_reports_actor conductor_;
  pipeline actors_;
  cache_filler_actor filler_; ///< None without a cache.
  down_watch deaths_;
  request_watch requests_;
  std::vector<std::shared_ptr<round>> rounds_;
  /// Of who waits for the cache.
  std::optional<caf::typed_response_promise<member_state>> filling_;
  actor_thread<interface> thread_; ///< Last: ends before what its jobs use.
};

} // namespace

std::chrono::milliseconds patience_for(trainer_action action) {
  if (action == trainer_action::fill_cache)
    return timeouts::unbounded;
  return timeouts::trainers;
}

std::chrono::milliseconds patience_for(trainer_action action,
                                       const std::optional<error>& failure) {
  const auto usual = patience_for(action);
  return failure && failure->code != ec::cancelled
           ? std::min(usual, timeouts::rescue)
           : usual;
}

std::uint32_t batches_elsewhere(const definition& def, std::size_t trainers) {
  constexpr std::size_t most = 64; // Each takes an actor; more do not help.
  return static_cast<std::uint32_t>(
    std::min<std::size_t>(def.budget.batches * trainers, most));
}

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

member_actor spawn_member(caf::actor_system& system, member_config config,
                          stage_table stages, run_reports_actor conductor) {
  return spawn_state<member>(system, std::move(config), std::move(stages),
                             std::move(conductor));
}

} // namespace graphmill
