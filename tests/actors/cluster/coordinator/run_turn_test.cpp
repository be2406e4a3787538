#include "actors/cluster/coordinator/runs/run_turn.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/state_table.hpp"

#include <string>
#include <vector>

namespace graphmill::test::run_turn_states {

namespace {

using state = run_turn::state;
using task = run_turn::task;

const std::vector states{state::deploying, state::conducting, state::ending,
                         state::filing};

error trouble(const std::string& name = "trouble") {
  return fail(ec::io, "{}", name);
}

/// That by which a daemon is known to be lost.
error loss() {
  return fail(ec::unavailable, "it is lost");
}

/// A run on daemons a and b that has gone well so far.
run_turn begun(state where, bool recovers) {
  run_turn run{{"a", "b"}, recovers};
  if (where == state::deploying)
    return run;
  run.deployed("a", {});
  run.deployed("b", {});
  if (where == state::conducting)
    return run;
  run.conducted({});
  run.ordered_to_end();
  if (where == state::ending)
    return run;
  run.share_ended("a", {});
  run.share_ended("b", {});
  return run;
}

run_turn at(state where) {
  return begun(where, false);
}

/// The same, of a run that is attempted again if it loses a daemon.
run_turn recovering(state where) {
  return begun(where, true);
}

/// What can happen to it.
const event_table<run_turn> events{
  {"one has prepared", [](run_turn& run) { return run.deployed("a", {}); }},
  {"all have prepared",
   [](run_turn& run) {
     run.deployed("a", {});
     return run.deployed("b", {});
   }},
  {"one cannot prepare",
   [](run_turn& run) { return run.deployed("a", trouble()); }},
  {"conducted", [](run_turn& run) { return run.conducted({}); }},
  {"ordered to end", [](run_turn& run) { return run.ordered_to_end(); }},
  {"one share has ended",
   [](run_turn& run) { return run.share_ended("a", {}); }},
  {"all shares have ended",
   [](run_turn& run) {
     run.share_ended("a", {});
     return run.share_ended("b", {});
   }},
  {"failed", [](run_turn& run) { return run.fail_run(trouble()); }},
  {"one is lost", [](run_turn& run) { return run.lose("a", trouble()); }},
  {"one is done without", [](run_turn& run) { return run.do_without("a"); }},
  {"all are done without",
   [](run_turn& run) {
     run.do_without("a");
     return run.do_without("b");
   }},
  {"cancel", [](run_turn& run) { return run.cancel(); }},
  {"paused", [](run_turn& run) { return run.paused(loss()); }},
};

const transition_table<run_turn> transitions{
  {{"all have prepared", state::deploying}, {state::conducting, task::conduct}},
  {{"one cannot prepare", state::deploying}, {state::ending, task::end_shares}},
  {{"conducted", state::conducting}, {state::ending, task::end_shares}},
  {{"all shares have ended", state::ending}, {state::filing, task::file}},
  {{"failed", state::deploying}, {state::ending, task::end_shares}},
  {{"failed", state::conducting}, {state::conducting, task::tell_conductor}},
  {{"one is lost", state::deploying}, {state::ending, task::end_shares}},
  {{"one is lost", state::conducting},
   {state::conducting, task::tell_conductor}},
  {{"all are done without", state::deploying},
   {state::conducting, task::conduct}},
  {{"all are done without", state::ending}, {state::filing, task::file}},
  {{"cancel", state::deploying}, {state::ending, task::end_shares}},
  {{"cancel", state::conducting}, {state::conducting, task::tell_conductor}},
  {{"cancel", state::ending}, {state::ending, task::hurry_shares}},
  {{"paused", state::conducting}, {state::ending, task::end_shares}},
};

/// What only a run that recovers takes otherwise.
const event_table<run_turn> losses{
  {"one cannot be reached",
   [](run_turn& run) { return run.deployed("a", loss()); }},
  {"conducted to a loss", [](run_turn& run) { return run.conducted(loss()); }},
  {"a rank is missed", [](run_turn& run) { return run.fail_run(loss()); }},
  {"one is lost", [](run_turn& run) { return run.lose("a", loss()); }},
  {"a share does not answer",
   [](run_turn& run) { return run.share_ended("a", loss()); }},
  {"failed", [](run_turn& run) { return run.fail_run(trouble()); }},
};

const transition_table<run_turn> ways_to_another_attempt{
  {{"one cannot be reached", state::deploying},
   {state::ending, task::end_shares}},
  {{"conducted to a loss", state::conducting},
   {state::ending, task::end_shares}},
  {{"a rank is missed", state::deploying}, {state::ending, task::end_shares}},
  {{"a rank is missed", state::conducting}, {state::ending, task::end_shares}},
  {{"one is lost", state::deploying}, {state::ending, task::end_shares}},
  {{"one is lost", state::conducting}, {state::ending, task::end_shares}},
  {{"one is lost", state::ending}, {state::ending, task::hurry_shares}},
  {{"a share does not answer", state::ending},
   {state::ending, task::hurry_shares}},
  {{"failed", state::deploying}, {state::ending, task::end_shares}},
  {{"failed", state::conducting}, {state::conducting, task::tell_conductor}},
};

} // namespace

CATCH_TEST_CASE("a loss ends an attempt at once, in every state of a turn",
                "[run_turn]") {
  check_transitions<run_turn>(
    states, recovering, losses, ways_to_another_attempt,
    [](const run_turn& run) {
      CATCH_CHECK(run.again()
                  == (run.failure() && run.failure()->code != ec::io));
    });
}

CATCH_TEST_CASE("an attempt that has lost a daemon awaits the others",
                "[run_turn]") {
  auto run = recovering(state::conducting);
  CATCH_CHECK(run.lose("a", loss()) == task::end_shares);
  CATCH_CHECK(run.again());
  CATCH_CHECK_FALSE(run.awaits("a"));
  CATCH_CHECK(run.ordered_to_end() == task::none);
  CATCH_CHECK(run.share_ended("b", trouble()) == task::file);
  CATCH_CHECK(run.again());
  CATCH_CHECK(run.failure()->message == "it is lost");
  // The one that misses it may be heard first.
  auto missed = recovering(state::conducting);
  missed.fail_run(fail(ec::timeout, "rank 1 is missing"));
  CATCH_CHECK(missed.awaits("a"));
  CATCH_CHECK(missed.lose("a", loss()) == task::none);
  CATCH_CHECK(missed.share_ended("b", {}) == task::file);
  CATCH_CHECK(missed.failure()->message == "rank 1 is missing");
}

CATCH_TEST_CASE("what is no loss ends a run, though it recovers",
                "[run_turn]") {
  auto run = recovering(state::conducting);
  CATCH_CHECK(run.conducted(trouble("not a number")) == task::end_shares);
  CATCH_CHECK(run.lose("a", loss()) == task::none);
  CATCH_CHECK(run.share_ended("b", {}) == task::file);
  CATCH_CHECK_FALSE(run.again());
  CATCH_CHECK(run.failure()->message == "not a number");
  // Those who miss a rank are heard before the rank itself.
  auto late = recovering(state::conducting);
  late.fail_run(loss());
  CATCH_CHECK(late.fail_run(loss()) == task::none);
  CATCH_CHECK(late.again());
  CATCH_CHECK(late.fail_run(trouble("no memory")) == task::none);
  CATCH_CHECK_FALSE(late.again());
  CATCH_CHECK(late.failure()->message == "no memory");
  // An operator stops a daemon in order.
  auto left = recovering(state::conducting);
  left.end_for_good();
  CATCH_CHECK(left.fail_run(loss()) == task::tell_conductor);
  CATCH_CHECK(left.conducted(loss()) == task::end_shares);
  CATCH_CHECK_FALSE(left.again());
  // It has attempts enough behind it.
  auto over = recovering(state::conducting);
  over.lose("a", loss());
  over.give_up(fail(ec::unavailable, "too often"));
  CATCH_CHECK_FALSE(over.again());
  CATCH_CHECK(over.failure()->message == "too often");
}

CATCH_TEST_CASE("a user who cancels a run is not answered by another attempt",
                "[run_turn]") {
  // While it stops after its step, a daemon is lost.
  auto stopping = recovering(state::conducting);
  CATCH_CHECK(stopping.cancel() == task::tell_conductor);
  CATCH_CHECK(stopping.lose("a", loss()) == task::tell_conductor);
  CATCH_CHECK(stopping.conducted(loss()) == task::end_shares);
  CATCH_CHECK_FALSE(stopping.again());
  CATCH_CHECK(stopping.failure()->code == ec::cancelled);
  CATCH_CHECK(stopping.failure()->message
              == "stopped by the user; " + loss().message);
  // While shares end for another attempt, and after that.
  for (const auto all_ended : {false, true}) {
    auto run = recovering(state::conducting);
    run.lose("a", loss());
    if (all_ended)
      run.share_ended("b", {});
    CATCH_CHECK(run.cancel() == task::none);
    CATCH_CHECK(run.cancelled());
    CATCH_CHECK_FALSE(run.again());
    CATCH_CHECK(run.failure()->code == ec::cancelled);
    CATCH_CHECK(run.failure()->message == "cancelled before its next attempt");
    CATCH_CHECK(run.cancel() == task::none);
  }
}

CATCH_TEST_CASE("an attempt that has paused is followed by another one",
                "[run_turn]") {
  for (const auto recovers : {false, true}) {
    auto run = begun(state::conducting, recovers);
    CATCH_CHECK(run.paused(loss()) == task::end_shares);
    CATCH_CHECK(run.again());
    // Shares that end miss each other, and a daemon may be lost meanwhile.
    CATCH_CHECK(run.fail_run(loss()) == task::none);
    CATCH_CHECK(run.lose("a", loss()) == task::none);
    CATCH_CHECK(run.share_ended("b", {}) == task::file);
    CATCH_CHECK(run.again());
    CATCH_CHECK(run.cancel() == task::none);
    CATCH_CHECK_FALSE(run.again());
    CATCH_CHECK(run.failure()->code == ec::cancelled);
  }
  auto damaged = begun(state::conducting, false);
  damaged.paused(loss());
  damaged.fail_run(trouble("a digest differs"));
  CATCH_CHECK_FALSE(damaged.again());
  CATCH_CHECK(damaged.failure()->message == "a digest differs");
  auto stopped = begun(state::conducting, true);
  stopped.cancel();
  CATCH_CHECK(stopped.paused(loss()) == task::end_shares);
  CATCH_CHECK_FALSE(stopped.again());
  CATCH_CHECK(stopped.failure()->code == ec::cancelled);
}

CATCH_TEST_CASE("every event does what is written, in every state of a turn",
                "[run_turn]") {
  check_transitions<run_turn>(states, at, events, transitions,
                              [](const run_turn& run) {
                                CATCH_CHECK(run.is_over()
                                            == (run.now() == state::ending
                                                || run.now() == state::filing));
                              });
}

CATCH_TEST_CASE("a run begins when every daemon has answered once",
                "[run_turn]") {
  run_turn run{{"a", "b"}};
  CATCH_CHECK(run.awaits("a"));
  CATCH_CHECK(run.deployed("a", {}) == task::none);
  CATCH_CHECK(run.deployed("a", trouble()) == task::none);
  CATCH_CHECK(run.deployed("somebody", trouble()) == task::none);
  CATCH_CHECK_FALSE(run.awaits("a"));
  CATCH_CHECK(run.deployed("b", {}) == task::conduct);
  CATCH_CHECK(run.deployed("b", {}) == task::none);
}

CATCH_TEST_CASE("a run that cannot be prepared ends with the first reason",
                "[run_turn]") {
  run_turn run{{"a", "b"}};
  run.deployed("a", trouble("no memory"));
  CATCH_CHECK(run.deployed("b", trouble("no files")) == task::none);
  CATCH_CHECK(run.fail_run(trouble("nothing")) == task::none);
  CATCH_CHECK(run.failure()->message == "no memory");
  // Those that are preparing end their shares, too.
  CATCH_CHECK(run.awaits("a"));
  CATCH_CHECK(run.awaits("b"));
}

CATCH_TEST_CASE("a run that is cancelled while it is deployed never begins",
                "[run_turn]") {
  run_turn run{{"a", "b"}};
  run.deployed("a", {});
  CATCH_CHECK(run.cancel() == task::end_shares);
  CATCH_CHECK(run.cancelled());
  CATCH_CHECK(run.deployed("b", {}) == task::none);
  CATCH_CHECK(run.cancel() == task::none);
  CATCH_CHECK(run.awaits("a"));
  CATCH_CHECK(run.awaits("b"));
  CATCH_CHECK(run.failure()->code == ec::cancelled);
  CATCH_CHECK(run.failure()->message == "cancelled before it began");
  run_turn later;
  CATCH_CHECK(later.cancel(true) == task::end_shares);
  CATCH_CHECK(later.failure()->message == "cancelled before its next attempt");
}

CATCH_TEST_CASE("a run goes on without a daemon", "[run_turn]") {
  run_turn run{{"a", "b"}};
  run.deployed("b", {});
  CATCH_CHECK(run.do_without("a") == task::conduct); // b has prepared.
  CATCH_CHECK(run.does_without("a"));
  CATCH_CHECK(run.has_lost("a"));
  CATCH_CHECK_FALSE(run.has_lost("b"));
  CATCH_CHECK(run.deployed("a", trouble()) == task::none);
  CATCH_CHECK(run.conducted({}) == task::end_shares);
  CATCH_CHECK_FALSE(run.awaits("a"));
  CATCH_CHECK(run.share_ended("a", trouble()) == task::none);
  CATCH_CHECK(run.share_ended("b", {}) == task::file);
  CATCH_CHECK_FALSE(run.failure());
  // Of those that end, too: the others decide.
  auto late = at(state::ending);
  CATCH_CHECK(late.do_without("a") == task::none);
  CATCH_CHECK(late.do_without("a") == task::none);
  CATCH_CHECK(late.do_without("somebody") == task::none);
  CATCH_CHECK_FALSE(late.does_without("somebody"));
  CATCH_CHECK(late.share_ended("b", {}) == task::file);
  CATCH_CHECK_FALSE(late.failure());
}

CATCH_TEST_CASE("nobody waits for a daemon that is lost", "[run_turn]") {
  run_turn run{{"a", "b"}};
  run.deployed("a", {});
  run.deployed("b", {});
  CATCH_CHECK(run.lose("a", trouble()) == task::tell_conductor);
  CATCH_CHECK(run.conducted(trouble("it is lost")) == task::end_shares);
  CATCH_CHECK_FALSE(run.awaits("a"));
  CATCH_CHECK(run.ordered_to_end() == task::none);
  CATCH_CHECK(run.share_ended("a", {}) == task::none); // After all.
  CATCH_CHECK(run.share_ended("b", {}) == task::file);
  CATCH_CHECK(run.share_ended("b", {}) == task::none);
  CATCH_CHECK(run.failure()->message == "it is lost");

  run_turn alone{{"a", "b"}};
  alone.lose("a", trouble());
  CATCH_CHECK(alone.lose("b", trouble()) == task::file);
  run_turn deserted = at(state::conducting);
  deserted.lose("a", trouble());
  deserted.lose("b", trouble());
  CATCH_CHECK(deserted.conducted(trouble()) == task::end_shares);
  CATCH_CHECK(deserted.ordered_to_end() == task::file);
  CATCH_CHECK(deserted.ordered_to_end() == task::none);
}

CATCH_TEST_CASE("a run is no success before its data are known to be sound",
                "[run_turn]") {
  auto damaged = at(state::ending);
  damaged.share_ended("a", trouble("a digest differs"));
  damaged.share_ended("b", trouble("another one"));
  CATCH_CHECK(damaged.failure()->message == "a digest differs");

  auto lost = at(state::ending);
  CATCH_CHECK(lost.lose("a", trouble("no answer")) == task::none);
  CATCH_CHECK(lost.lose("a", trouble("it is back")) == task::none);
  CATCH_CHECK(lost.share_ended("b", {}) == task::file);
  CATCH_CHECK(lost.failure()->code == ec::io);
  CATCH_CHECK(lost.failure()->message
              == "daemon \"a\" did not say whether its data are sound: no "
                 "answer");

  // The conductor has ended well before it hears of the loss.
  auto too_late = at(state::conducting);
  too_late.lose("a", trouble("no answer"));
  CATCH_CHECK(too_late.conducted({}) == task::end_shares);
  CATCH_CHECK(too_late.share_ended("b", {}) == task::file);
  CATCH_CHECK(too_late.failure()->message
              == "daemon \"a\" did not say whether its data are sound: no "
                 "answer");

  auto hurried = at(state::ending);
  CATCH_CHECK(hurried.cancel() == task::hurry_shares);
  CATCH_CHECK(hurried.cancel() == task::none); // It has been hurried.
  CATCH_CHECK(hurried.failure()->message
              == "stopped by the user before all data were verified");

  auto filed = at(state::filing);
  CATCH_CHECK(filed.cancel() == task::none);
  CATCH_CHECK_FALSE(filed.cancelled());
  CATCH_CHECK(filed.lose("a", trouble()) == task::none);
  CATCH_CHECK_FALSE(filed.failure());
}

} // namespace graphmill::test::run_turn_states
