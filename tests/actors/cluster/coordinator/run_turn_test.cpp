#include "actors/cluster/coordinator/run_turn.hpp"

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

/// A run on daemons a and b that has gone well so far.
run_turn at(state where) {
  run_turn run{{"a", "b"}};
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
};

} // namespace

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
