#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/course.hpp"
#include "tests/support/catch.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;

namespace {

batch_metrics with_accuracy(double accuracy) {
  return {1.0, static_cast<std::int64_t>(accuracy * 1000), 1000};
}

/// Plays a course; validations get the given accuracies in turn.
std::string play(course run, std::vector<double> accuracies) {
  std::string out;
  std::size_t evaluation = 0;
  for (int guard = 0; guard < 100; ++guard) {
    const auto step = run.next();
    switch (step.action) {
    case course_action::keep_best:
      out += "K ";
      break;
    case course_action::restore_best:
      out += "R ";
      break;
    case course_action::finish:
      return out + "end";
    case course_action::run_phase:
      out += step.phase == phase::train        ? "t"
             : step.phase == phase::validation ? "v"
                                               : "T";
      if (step.phase == phase::train)
        out += std::to_string(step.epoch);
      if (step.max_steps != 0)
        out += "/" + std::to_string(step.max_steps);
      out += " ";
      break;
    }
    const auto validating = step.action == course_action::run_phase
                            && step.phase == phase::validation;
    run.finished(validating ? with_accuracy(accuracies.at(evaluation++))
                            : batch_metrics{});
  }
  return out + "does not end";
}

definition with(std::uint32_t epochs) {
  definition def;
  def.train.epochs = epochs;
  def.evaluate.every = 1;
  return def;
}

} // namespace

CATCH_TEST_CASE("a course trains, validates, keeps the best and tests",
                "[pipelines][course]") {
  CATCH_CHECK(play(course::training(with(3), true, true, 10), {.5, .7, .6})
              == "t0 v K t1 v K t2 v R T end");
}

CATCH_TEST_CASE("without validation the last weights are tested",
                "[pipelines][course]") {
  CATCH_CHECK(play(course::training(with(2), false, true, 10), {})
              == "t0 t1 T end");
  CATCH_CHECK(play(course::training(with(2), false, false, 10), {})
              == "t0 t1 end");
}

CATCH_TEST_CASE("evaluation every other epoch, and after the last",
                "[pipelines][course]") {
  auto def = with(5);
  def.evaluate.every = 2;
  CATCH_CHECK(play(course::training(def, true, false, 10), {.5, .4, .3})
              == "t0 t1 v K t2 t3 v t4 v R end");
}

CATCH_TEST_CASE("patience ends training early", "[pipelines][course]") {
  auto def = with(100);
  def.train.patience = 2;
  CATCH_CHECK(play(course::training(def, true, true, 10), {.5, .4, .4})
              == "t0 v K t1 v t2 v R T end");
}

CATCH_TEST_CASE("patience counts no validation of the first min_epochs",
                "[pipelines][course]") {
  auto def = with(100);
  def.train.patience = 2;
  def.train.min_epochs = 3;
  CATCH_CHECK(play(course::training(def, true, true, 10), {.5, .4, .4, .4, .4})
              == "t0 v K t1 v t2 v t3 v t4 v R T end");
  // A gain is one whenever it comes.
  CATCH_CHECK(play(course::training(def, true, true, 10), {.5, .4, .6, .4, .4})
              == "t0 v K t1 v t2 v K t3 v t4 v R T end");
}

CATCH_TEST_CASE("max_steps cuts the last epoch", "[pipelines][course]") {
  auto def = with(100);
  def.train.max_steps = 25;
  CATCH_CHECK(play(course::training(def, false, true, 10), {})
              == "t0/10 t1/10 t2/5 T end");
}

namespace {

/// Plays what is left of a course from a position on.
std::string rest(const definition& def, const course_position& at,
                 std::vector<double> accuracies) {
  auto run = course::training(def, true, true, 10);
  run.go_to(at);
  return play(run, std::move(accuracies));
}

/// A position at the begin of an epoch of ten steps each.
course_position edge(std::int32_t epoch, std::optional<double> best = {},
                     std::uint32_t since = 0) {
  return {epoch, 0, epoch * 10, best, since};
}

} // namespace

CATCH_TEST_CASE("a course goes on from where another one stood",
                "[pipelines][course]") {
  CATCH_CHECK(rest(with(3), edge(0), {.5, .7, .6})
              == "t0 v K t1 v K t2 v R T end");
  CATCH_CHECK(rest(with(3), edge(1, .5), {.7, .6}) == "t1 v K t2 v R T end");
  CATCH_CHECK(rest(with(3), edge(2, .7), {.6}) == "t2 v R T end");
  CATCH_CHECK(rest(with(3), edge(3, .7, 1), {}) == "R T end");
  CATCH_CHECK(rest(with(2), edge(3, .7, 1), {}) == "R T end");
  CATCH_CHECK(rest(with(5), edge(3, .7, 1), {.8, .6}) == "t3 v K t4 v R T end");
}

CATCH_TEST_CASE("patience counts what was before", "[pipelines][course]") {
  auto def = with(100);
  def.train.patience = 2;
  CATCH_CHECK(rest(def, edge(2, .5, 1), {.4}) == "t2 v R T end");
  CATCH_CHECK(rest(def, edge(3, .5, 2), {}) == "R T end");
  def.train.patience = 3;
  CATCH_CHECK(rest(def, edge(3, .5, 2), {.4}) == "t3 v R T end");
}

CATCH_TEST_CASE("a course goes on in the middle of an epoch",
                "[pipelines][course]") {
  auto def = with(2);
  auto run = course::training(def, true, false, 10);
  const course_position at{1, 4, 14, .5, 0};
  run.go_to(at);
  CATCH_CHECK(run.next().phase == phase::train);
  CATCH_CHECK(run.next().epoch == 1);
  CATCH_CHECK(run.next().done_steps == 4);
  CATCH_CHECK(run.epoch_begin() == at);
  run.finished({});
  CATCH_CHECK(run.next().phase == phase::validation);
  CATCH_CHECK(run.next().done_steps == 0);
  CATCH_CHECK(run.epoch_begin() == at); // Until the validation is over.
  run.finished(with_accuracy(.4));
  CATCH_CHECK(run.next().action == course_action::restore_best);
  CATCH_CHECK(run.epoch_begin() == course_position{2, 0, 20, .5, 1});
}

CATCH_TEST_CASE("a course goes on with the average that patience counts by",
                "[pipelines][course]") {
  auto def = with(50);
  def.train.patience = 2;
  def.train.patience_window = 3;
  auto run = course::training(def, true, false, 10);
  auto resumed = run;
  int epochs = 0;
  for (const auto quality : {.5, .9, .7, .8, .85, .6, .5, .4}) {
    if (run.next().action == course_action::restore_best)
      break;
    for (auto* of : {&run, &resumed}) {
      of->finished({});
      of->finished(with_accuracy(quality));
      if (of->next().action == course_action::keep_best)
        of->finished({});
    }
    auto again = course::training(def, true, false, 10);
    again.go_to(run.epoch_begin());
    resumed = again;
    CATCH_CHECK(resumed.next().action == run.next().action);
    CATCH_CHECK(resumed.epoch_begin().averages == run.epoch_begin().averages);
    ++epochs;
  }
  CATCH_CHECK(run.next().action == course_action::restore_best);
  CATCH_CHECK(epochs == 7); // By the values themselves it would be 4.
}

CATCH_TEST_CASE("the best epoch is by the quality that a course is told",
                "[pipelines][course]") {
  const auto def = with(2);
  auto run = course::training(def, true, false, 10);
  run.finished({});
  run.finished(with_accuracy(.9), -2.0); // The first one is the best so far.
  CATCH_CHECK(run.next().action == course_action::keep_best);
  CATCH_CHECK(run.best_validation() == -2.0);
  run.finished({});
  run.finished({});
  run.finished(with_accuracy(.1), -1.5);
  CATCH_CHECK(run.next().action == course_action::keep_best);
  CATCH_CHECK(run.best_validation() == -1.5);
  // What is no number is never the best.
  auto none = course::training(def, true, false, 10);
  none.finished({});
  none.finished(with_accuracy(.9), std::nan(""));
  CATCH_CHECK(none.next().action == course_action::run_phase);
  CATCH_CHECK_FALSE(none.best_validation());
}

CATCH_TEST_CASE("max_steps counts the steps that were before",
                "[pipelines][course]") {
  auto def = with(100);
  def.train.max_steps = 25;
  CATCH_CHECK(rest(def, edge(1), {.5, .6}) == "t1/10 v K t2/5 v K R T end");
  CATCH_CHECK(rest(def, {2, 3, 23, .5, 0}, {.6}) == "t2/5 v K R T end");
  CATCH_CHECK(rest(def, {3, 0, 25, .5, 0}, {}) == "R T end");
}

CATCH_TEST_CASE("a course of which nothing was done begins at its begin",
                "[pipelines][course]") {
  const auto run = course::training(with(3), true, true, 10);
  CATCH_CHECK(run.epoch_begin() == course_position{});
}

CATCH_TEST_CASE("it is known whether a run has steps left",
                "[pipelines][course]") {
  const auto in_tens = [](std::int32_t epochs) {
    auto def = with(epochs);
    def.train.batch_size = 10;
    return def;
  };
  auto def = in_tens(3);
  const std::int64_t seeds = 95; // 10 steps.
  CATCH_CHECK(has_steps_left(def, seeds, {}));
  CATCH_CHECK(has_steps_left(def, seeds, {2, 9, 29, .5, 0}));
  CATCH_CHECK_FALSE(has_steps_left(def, seeds, {3, 0, 30, .5, 0}));
  CATCH_CHECK(has_steps_left(in_tens(4), seeds, {3, 0, 30, .5, 0}));
  def.train.max_steps = 20;
  CATCH_CHECK(has_steps_left(def, seeds, {1, 9, 19}));
  CATCH_CHECK_FALSE(has_steps_left(def, seeds, {2, 0, 20}));
  def = in_tens(9);
  def.train.patience = 2;
  CATCH_CHECK(has_steps_left(def, seeds, {3, 0, 30, .5, 1}));
  CATCH_CHECK_FALSE(has_steps_left(def, seeds, {3, 0, 30, .5, 2}));
}

CATCH_TEST_CASE("a single pass ends after it", "[pipelines][course]") {
  CATCH_CHECK(play(course::only(phase::test), {}) == "T end");
  CATCH_CHECK(play(course::only(phase::validation), {.5}) == "v end");
  CATCH_CHECK(course::only(phase::test, 7).next().epoch == 7);
}

CATCH_TEST_CASE("a pass in pieces ends with the last", "[pipelines][course]") {
  CATCH_CHECK(play(course::in_pieces(phase::test, 7, 3), {})
              == "T/3 T/6 T/7 end");
  CATCH_CHECK(play(course::in_pieces(phase::test, 6, 3), {}) == "T/3 T/6 end");
  CATCH_CHECK(play(course::in_pieces(phase::test, 2, 3), {}) == "T/2 end");
  auto run = course::in_pieces(phase::test, 7, 3);
  run.go_to({2, 0, 8}); // There is no place to go to.
  for (const auto done : {0, 3, 6}) {
    CATCH_CHECK(run.next().done_steps == done);
    CATCH_CHECK(run.next().action == course_action::run_phase);
    run.finished({});
  }
  CATCH_CHECK(run.next().action == course_action::finish);
}
