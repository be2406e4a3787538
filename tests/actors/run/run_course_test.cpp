#include "actors/run/run_course.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/state_table.hpp"

#include <limits>
#include <string>
#include <vector>

namespace graphmill::test::run_course_states {

namespace {

using state = run_course::state;
using task = run_course::task;

const std::vector states{
  state::waiting,   state::filling,      state::resuming,       state::in_phase,
  state::comparing, state::keeping_best, state::restoring_best, state::pausing,
  state::saving,    state::fetching,     state::ended};

const batch_metrics some_metrics{1.0, 5, 10};
const batch_metrics not_a_number{std::numeric_limits<double>::quiet_NaN(), 0,
                                 10};

error trouble(const std::string& name = "trouble") {
  return fail(ec::io, "{}", name);
}

/// One epoch with a validation, which has the best weights.
course one_epoch() {
  definition def;
  def.train.epochs = 1;
  def.evaluate.every = 1;
  return course::training(def, true, false, 10);
}

/// Goes a step of a run's whole way, where nothing goes wrong.
void go_on(run_course& run) {
  switch (run.now()) {
  case state::waiting:
    run.start();
    break;
  case state::in_phase:
    if (run.step().phase == phase::train)
      run.trained();
    run.phase_over(some_metrics);
    break;
  case state::fetching:
    run.fetched(true);
    break;
  default:
    run.answered({});
  }
}

/// A run of two ranks that goes on after ten steps of training.
run_course resumed() {
  return {one_epoch(), 2, true, course_position{0, 10, 10, {}, 0}};
}

/// A run of two ranks that is there for the first time. In a phase it has
/// trained a step.
run_course at(state where) {
  auto run =
    where == state::resuming ? resumed() : run_course{one_epoch(), 2, true};
  const auto pauses = where == state::pausing;
  while (run.now() != (pauses ? state::in_phase : where))
    go_on(run);
  if (run.now() == state::in_phase)
    run.trained();
  if (pauses)
    run.pause();
  return run;
}

/// The same while it validates.
run_course validating() {
  auto run = at(state::comparing);
  run.answered({});
  return run;
}

/// The same whose loss in the second epoch is not a number.
run_course diverged() {
  definition def;
  def.train.epochs = 3;
  def.evaluate.every = 1;
  run_course run{course::training(def, true, false, 10), 1, false};
  run.start();
  while (run.step().epoch == 0 || run.now() != state::in_phase)
    go_on(run);
  CATCH_CHECK(run.phase_over(not_a_number) == task::restore_best);
  return run;
}

/// What can happen to a run.
const event_table<run_course> events{
  {"start", [](run_course& run) { return run.start(); }},
  {"phase over", [](run_course& run) { return run.phase_over(some_metrics); }},
  {"answered", [](run_course& run) { return run.answered({}); }},
  {"odd answers", [](run_course& run) { return run.answered(trouble()); }},
  {"fetched", [](run_course& run) { return run.fetched(true); }},
  {"cancel", [](run_course& run) { return run.cancel(); }},
  {"cancel now", [](run_course& run) { return run.cancel_now(); }},
  {"one stopped", [](run_course& run) { return run.stopped(0); }},
  {"failed", [](run_course& run) { return run.fail_run(trouble()); }},
  {"pause", [](run_course& run) { return run.pause(); }},
  {"paused", [](run_course& run) { return run.paused(); }},
};

const transition_table<run_course> transitions{
  {{"start", state::waiting}, {state::filling, task::fill_caches}},
  {{"phase over", state::in_phase}, {state::comparing, task::compare}},
  {{"answered", state::filling}, {state::in_phase, task::begin_phase}},
  {{"answered", state::resuming}, {state::in_phase, task::begin_phase}},
  {{"answered", state::comparing}, {state::in_phase, task::begin_phase}},
  {{"answered", state::keeping_best},
   {state::restoring_best, task::restore_best}},
  {{"answered", state::restoring_best}, {state::saving, task::save}},
  {{"answered", state::saving}, {state::fetching, task::fetch}},
  // Before the first training step there is nothing to rescue.
  {{"odd answers", state::filling}, {state::ended, task::end}},
  // Nor before trainers have what another process has left.
  {{"odd answers", state::resuming}, {state::ended, task::end}},
  {{"odd answers", state::comparing}, {state::saving, task::save}},
  {{"odd answers", state::keeping_best}, {state::saving, task::save}},
  {{"odd answers", state::restoring_best}, {state::saving, task::save}},
  {{"odd answers", state::saving}, {state::fetching, task::fetch}},
  {{"fetched", state::fetching}, {state::ended, task::end}},
  // Between phases it is seen to by the end of what is being done.
  {{"cancel", state::filling}, {state::saving, task::save}},
  {{"cancel", state::in_phase}, {state::in_phase, task::stop_phase}},
  {{"cancel now", state::waiting}, {state::ended, task::end}},
  {{"cancel now", state::filling}, {state::ended, task::end}},
  {{"cancel now", state::resuming}, {state::ended, task::end}},
  {{"cancel now", state::in_phase}, {state::ended, task::end}},
  {{"cancel now", state::comparing}, {state::ended, task::end}},
  {{"cancel now", state::keeping_best}, {state::ended, task::end}},
  {{"cancel now", state::restoring_best}, {state::ended, task::end}},
  {{"pause", state::in_phase}, {state::pausing, task::pause}},
  {{"paused", state::pausing}, {state::ended, task::end}},
  {{"cancel", state::pausing}, {state::saving, task::save}},
  {{"cancel now", state::pausing}, {state::ended, task::end}},
  {{"one stopped", state::pausing}, {state::saving, task::save}},
  {{"failed", state::pausing}, {state::saving, task::save}},
  {{"cancel now", state::saving}, {state::ended, task::end}},
  {{"cancel now", state::fetching}, {state::ended, task::end}},
  // Nobody has asked for it, and the others would wait for its gradients.
  {{"one stopped", state::waiting}, {state::ended, task::end}},
  {{"one stopped", state::filling}, {state::ended, task::end}},
  {{"one stopped", state::resuming}, {state::ended, task::end}},
  {{"one stopped", state::in_phase}, {state::saving, task::save}},
  {{"one stopped", state::comparing}, {state::saving, task::save}},
  {{"one stopped", state::keeping_best}, {state::saving, task::save}},
  {{"one stopped", state::restoring_best}, {state::saving, task::save}},
  {{"failed", state::waiting}, {state::ended, task::end}},
  {{"failed", state::filling}, {state::ended, task::end}},
  {{"failed", state::resuming}, {state::ended, task::end}},
  {{"failed", state::in_phase}, {state::saving, task::save}},
  {{"failed", state::comparing}, {state::saving, task::save}},
  {{"failed", state::keeping_best}, {state::saving, task::save}},
  {{"failed", state::restoring_best}, {state::saving, task::save}},
};

} // namespace

CATCH_TEST_CASE("every event does what is written, in every state of a run",
                "[run_course]") {
  check_transitions<run_course>(states, at, events, transitions);
}

CATCH_TEST_CASE("a run goes its whole way once", "[run_course]") {
  run_course run{one_epoch(), 2, true};
  std::vector<state> seen{run.now()};
  while (!run.has_ended()) {
    go_on(run);
    seen.push_back(run.now());
  }
  CATCH_CHECK(seen
              == std::vector{state::waiting, state::filling, state::in_phase,
                             state::comparing, state::in_phase,
                             state::keeping_best, state::restoring_best,
                             state::saving, state::fetching, state::ended});
  CATCH_CHECK_FALSE(run.failure());
  CATCH_CHECK(run.train_steps() == 1);
  CATCH_CHECK(run.best_validation() == 0.5);
}

CATCH_TEST_CASE("a run without caches and replicas fills and compares nothing",
                "[run_course]") {
  definition def;
  def.train.epochs = 2;
  run_course run{course::training(def, false, false, 10), 1, false};
  CATCH_CHECK(run.start() == task::begin_phase);
  CATCH_CHECK(run.phase_over(some_metrics) == task::begin_phase);
  CATCH_CHECK(run.step().epoch == 1);
  CATCH_CHECK(run.phase_over(some_metrics) == task::save);
}

CATCH_TEST_CASE("a run that is resumed takes over before its first phase",
                "[run_course]") {
  auto run = resumed();
  CATCH_CHECK(run.train_steps() == 10);
  CATCH_CHECK(run.start() == task::fill_caches);
  CATCH_CHECK(run.answered({}) == task::resume);
  CATCH_CHECK(run.answered({}) == task::begin_phase);
  CATCH_CHECK(run.step().done_steps == 10);
  // From now on there are weights to save.
  CATCH_CHECK(run.fail_run(trouble()) == task::save);

  run_course bare{one_epoch(), 2, false, course_position{0, 10, 10, {}, 0}};
  CATCH_CHECK(bare.start() == task::resume);
  CATCH_CHECK(bare.cancel() == task::none);
  CATCH_CHECK(bare.answered({}) == task::save);

  // What trainers have before that is not the run's.
  auto early = resumed();
  early.start();
  CATCH_CHECK(early.cancel() == task::end);
  CATCH_CHECK(early.failure()->code == ec::cancelled);

  // Of a run that was over there are its best weights to be brought back.
  run_course over{one_epoch(), 2, false, course_position{1, 0, 10, .5, 0}};
  over.start();
  CATCH_CHECK(over.answered({}) == task::restore_best);
  CATCH_CHECK(over.answered({}) == task::save);
  CATCH_CHECK(over.best_validation() == .5);
}

CATCH_TEST_CASE("a run that is cancelled ends where its weights are equal",
                "[run_course]") {
  // In training, by the last trainer that stops, or the end of the phase.
  auto stopped = at(state::in_phase);
  CATCH_CHECK(stopped.cancel() == task::stop_phase);
  CATCH_CHECK(stopped.cancel() == task::none);
  CATCH_CHECK(stopped.stopped(1) == task::none);
  CATCH_CHECK(stopped.stopped(1) == task::none); // Again.
  CATCH_CHECK(stopped.stopped(2) == task::none); // There is none.
  CATCH_CHECK(stopped.stopped(-1) == task::none);
  CATCH_CHECK(stopped.stopped(0) == task::save);
  CATCH_CHECK(stopped.phase_over(some_metrics) == task::none);

  auto in_time = at(state::in_phase);
  CATCH_CHECK(in_time.cancel() == task::stop_phase);
  CATCH_CHECK(in_time.phase_over(some_metrics) == task::save);
  CATCH_CHECK(in_time.stopped(0) == task::none);
  CATCH_CHECK(in_time.stopped(1) == task::none);

  // At once where no weights change.
  auto evaluated = validating();
  CATCH_CHECK(evaluated.cancel() == task::save);

  // When trainers have answered.
  for (auto where :
       {state::comparing, state::keeping_best, state::restoring_best}) {
    auto between = at(where);
    CATCH_CHECK(between.cancel() == task::none);
    CATCH_CHECK(between.answered({}) == task::save);
    CATCH_CHECK(between.failure()->code == ec::cancelled);
  }
  run_course early{one_epoch(), 2, false};
  CATCH_CHECK(early.cancel() == task::none);
  CATCH_CHECK(early.start() == task::save);
  run_course cached{one_epoch(), 2, true};
  cached.cancel();
  CATCH_CHECK(cached.start() == task::save);

  for (const auto* run : {&stopped, &in_time, &evaluated, &early, &cached}) {
    CATCH_REQUIRE(run->failure());
    CATCH_CHECK(run->failure()->code == ec::cancelled);
    CATCH_CHECK(run->failure()->message == "stopped by the user");
  }
}

CATCH_TEST_CASE("a run that is cancelled does not pause", "[run_course]") {
  auto run = at(state::in_phase);
  run.cancel();
  CATCH_CHECK(run.pause() == task::save);
  CATCH_CHECK(run.failure()->code == ec::cancelled);
  auto paused = at(state::pausing);
  CATCH_CHECK(paused.paused() == task::end);
  CATCH_CHECK_FALSE(paused.failure());
}

CATCH_TEST_CASE("a checkpoint is left at an edge, and where a run is cancelled",
                "[run_course]") {
  auto run = at(state::in_phase);
  CATCH_CHECK(run.leaves_checkpoint(task::begin_phase, true));
  CATCH_CHECK_FALSE(run.leaves_checkpoint(task::begin_phase, false));
  CATCH_CHECK_FALSE(run.leaves_checkpoint(task::compare, true));
  run.cancel_now();
  CATCH_CHECK(run.leaves_checkpoint(task::save, false));
  auto failed = at(state::in_phase);
  failed.fail_run(trouble());
  CATCH_CHECK_FALSE(failed.leaves_checkpoint(task::save, true));
}

CATCH_TEST_CASE("a run that is cancelled too late is a success",
                "[run_course]") {
  auto run = at(state::saving);
  run.cancel();
  run.answered({});
  run.cancel();
  run.fetched(true);
  CATCH_CHECK_FALSE(run.failure());
}

CATCH_TEST_CASE("of several failures the first one counts", "[run_course]") {
  auto run = at(state::in_phase);
  run.fail_run(trouble("the first"));
  run.fail_run(trouble("the second"));
  run.answered(trouble("the third"));
  run.fail_run(trouble("the fourth"));
  run.cancel_now();
  CATCH_CHECK(run.has_ended());
  run.fail_run(trouble("the fifth"));
  CATCH_CHECK(run.failure()->message == "the first");
}

CATCH_TEST_CASE("a run may still fail while its weights are brought",
                "[run_course]") {
  for (auto where : {state::saving, state::fetching}) {
    auto run = at(where);
    CATCH_CHECK(run.fail_run(trouble()) == task::none);
    while (!run.has_ended())
      go_on(run);
    CATCH_CHECK(run.failure()->message == "trouble");
  }
  auto odd = at(state::saving);
  odd.answered(trouble("they differ"));
  CATCH_CHECK(odd.failure()->message == "they differ");
}

CATCH_TEST_CASE("a run that fails says when its weights are lost",
                "[run_course]") {
  auto failed = at(state::in_phase);
  failed.fail_run(trouble());
  failed.answered({});
  CATCH_CHECK(failed.fetched(false) == task::end);
  CATCH_CHECK(failed.failure()->message
              == "trouble; the weights after 1 training step are lost: no "
                 "trainer could send them");
  auto sound = at(state::fetching);
  sound.fetched(false);
  CATCH_CHECK_FALSE(sound.failure());
}

CATCH_TEST_CASE("a run that diverges goes back to its best weights, if any",
                "[run_course]") {
  auto first = at(state::in_phase);
  CATCH_CHECK(first.phase_over(not_a_number) == task::end);
  CATCH_CHECK_THAT(first.failure()->message,
                   contains("the training loss of epoch 1 is not a number"));

  auto run = diverged();
  CATCH_CHECK(run.now() == state::restoring_best);
  // Whatever else there is, its weights are not saved before they are back.
  CATCH_CHECK(run.cancel() == task::none);
  CATCH_CHECK(run.fail_run(trouble()) == task::none);
  CATCH_CHECK(run.answered({}) == task::save);
  CATCH_CHECK(run.answered({}) == task::fetch);
  CATCH_CHECK(run.fetched(true) == task::end);
  CATCH_CHECK_THAT(run.failure()->message,
                   contains("the training loss of epoch 2 is not a number")
                     && !contains("lost"));

  auto lost = diverged();
  CATCH_CHECK(lost.answered(trouble("1 of 2 trainers answer")) == task::end);
  CATCH_CHECK_THAT(lost.failure()->message,
                   contains("the training loss of epoch 2 is not a number")
                     && contains("; the best weights are lost: 1 of 2 "
                                 "trainers answer"));

  // Of a validation it says nothing about the weights.
  auto odd = validating();
  CATCH_CHECK(odd.phase_over(not_a_number) == task::keep_best);
}

} // namespace graphmill::test::run_course_states
