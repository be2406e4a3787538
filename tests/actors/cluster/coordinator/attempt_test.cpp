#include "actors/cluster/coordinator/runs/attempt.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/state_table.hpp"

#include <string>
#include <vector>

namespace graphmill::test::attempt_states {

namespace {

using state = attempt::state;
using task = attempt::task;

/// Those that an attempt comes to that loses no daemon.
const std::vector straight_states{
  state::queued,    state::recording,  state::rewinding,
  state::deploying, state::conducting, state::ending,
  state::closing,   state::filing,     state::over};

error trouble(const std::string& name = "trouble") {
  return fail(ec::io, "{}", name);
}

/// That by which a daemon is known to be lost.
error loss() {
  return fail(ec::unavailable, "it is lost");
}

/// A run on daemons a and b that has gone well so far.
attempt begun(state where, bool recovers) {
  attempt run;
  if (where == state::queued)
    return run;
  run.place({"a", "b"}, recovers, where != state::rewinding);
  if (where == state::recording)
    return run;
  run.recorded();
  if (where == state::rewinding || where == state::deploying)
    return run;
  run.deployed("a", {});
  run.deployed("b", {});
  if (where == state::closing)
    run.led();
  if (where == state::conducting)
    return run;
  run.conducted({});
  run.ordered_to_end();
  if (where == state::ending)
    return run;
  run.share_ended("a", {});
  run.share_ended("b", {});
  if (where == state::over)
    run.filed();
  return run;
}

attempt at(state where) {
  return begun(where, false);
}

/// A run on a and b, whose shares are being deployed.
attempt deployed_on_two() {
  return at(state::deploying);
}

/// One that has lost a, and has another attempt before it.
attempt after_loss(state where) {
  if (where == state::waiting)
    return attempt{state::waiting};
  auto run = begun(state::conducting, true);
  if (where == state::closing)
    run.led();
  run.lose("a", loss());
  run.ordered_to_end();
  run.share_ended("b", {});
  return run;
}

/// The same, of a run that is attempted again if it loses a daemon.
attempt recovering(state where) {
  return begun(where, true);
}

/// What can happen to it.
const event_table<attempt> events{
  {"one has prepared", [](attempt& run) { return run.deployed("a", {}); }},
  {"all have prepared",
   [](attempt& run) {
     run.deployed("a", {});
     return run.deployed("b", {});
   }},
  {"one cannot prepare",
   [](attempt& run) { return run.deployed("a", trouble()); }},
  {"conducted", [](attempt& run) { return run.conducted({}); }},
  {"ordered to end", [](attempt& run) { return run.ordered_to_end(); }},
  {"one share has ended",
   [](attempt& run) { return run.share_ended("a", {}); }},
  {"all shares have ended",
   [](attempt& run) {
     run.share_ended("a", {});
     return run.share_ended("b", {});
   }},
  {"failed", [](attempt& run) { return run.fail_run(trouble()); }},
  {"one is lost", [](attempt& run) { return run.lose("a", trouble()); }},
  {"one is done without", [](attempt& run) { return run.do_without("a"); }},
  {"all are done without",
   [](attempt& run) {
     run.do_without("a");
     return run.do_without("b");
   }},
  {"cancel", [](attempt& run) { return run.cancel(); }},
  {"paused", [](attempt& run) { return run.paused(loss()); }},
  {"placed",
   [](attempt& run) {
     run.place({"a", "b"}, false, true);
     return task::none;
   }},
  {"recorded", [](attempt& run) { return run.recorded(); }},
  {"rewound", [](attempt& run) { return run.rewound(); }},
  {"its conductor has ended",
   [](attempt& run) { return run.conductor_ended(trouble()); }},
  {"collected", [](attempt& run) { return run.collected(); }},
  {"given up", [](attempt& run) { return run.give_up(trouble()); }},
  {"filed",
   [](attempt& run) {
     run.filed();
     return task::none;
   }},
};

const transition_table<attempt> transitions{
  {{"placed", state::queued}, {state::recording, task::none}},
  {{"cancel", state::queued}, {state::over, task::drop}},
  {{"recorded", state::recording}, {state::deploying, task::deploy}},
  {{"rewound", state::rewinding}, {state::deploying, task::deploy}},
  {{"failed", state::recording}, {state::ending, task::end_shares}},
  {{"failed", state::rewinding}, {state::ending, task::end_shares}},
  {{"one is lost", state::recording}, {state::ending, task::end_shares}},
  {{"one is lost", state::rewinding}, {state::ending, task::end_shares}},
  {{"cancel", state::recording}, {state::ending, task::end_shares}},
  {{"cancel", state::rewinding}, {state::ending, task::end_shares}},
  {{"its conductor has ended", state::conducting},
   {state::ending, task::end_shares}},
  {{"its conductor has ended", state::closing}, {state::filing, task::file}},
  {{"filed", state::filing}, {state::over, task::none}},
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

/// Of a run whose attempt has lost a daemon, and which has another one.
const transition_table<attempt> ways_on{
  {{"placed", state::waiting}, {state::recording, task::none}},
  {{"cancel", state::waiting}, {state::filing, task::file}},
  {{"given up", state::waiting}, {state::filing, task::file}},
  {{"its conductor has ended", state::closing},
   {state::collecting, task::collect}},
  {{"collected", state::collecting}, {state::waiting, task::wait}},
  {{"given up", state::collecting}, {state::filing, task::file}},
};

/// What only a run that recovers takes otherwise.
const event_table<attempt> losses{
  {"one cannot be reached",
   [](attempt& run) { return run.deployed("a", loss()); }},
  {"conducted to a loss", [](attempt& run) { return run.conducted(loss()); }},
  {"a rank is missed", [](attempt& run) { return run.fail_run(loss()); }},
  {"one is lost", [](attempt& run) { return run.lose("a", loss()); }},
  {"a share does not answer",
   [](attempt& run) { return run.share_ended("a", loss()); }},
  {"failed", [](attempt& run) { return run.fail_run(trouble()); }},
};

const transition_table<attempt> ways_to_another_attempt{
  {{"a rank is missed", state::recording}, {state::ending, task::end_shares}},
  {{"a rank is missed", state::rewinding}, {state::ending, task::end_shares}},
  {{"one is lost", state::recording}, {state::ending, task::end_shares}},
  {{"one is lost", state::rewinding}, {state::ending, task::end_shares}},
  {{"failed", state::recording}, {state::ending, task::end_shares}},
  {{"failed", state::rewinding}, {state::ending, task::end_shares}},
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

CATCH_TEST_CASE("a loss ends an attempt at once, in every state", "[attempt]") {
  check_transitions<attempt>(
    straight_states, recovering, losses, ways_to_another_attempt,
    [](const attempt& run) {
      CATCH_CHECK(run.again()
                  == (run.failure() && run.failure()->code != ec::io));
    });
}

CATCH_TEST_CASE("an attempt that has lost a daemon awaits the others",
                "[attempt]") {
  auto run = recovering(state::conducting);
  CATCH_CHECK(run.lose("a", loss()) == task::end_shares);
  CATCH_CHECK(run.again());
  CATCH_CHECK_FALSE(run.awaits("a"));
  CATCH_CHECK(run.ordered_to_end() == task::none);
  CATCH_CHECK(run.share_ended("b", trouble()) == task::collect);
  CATCH_CHECK(run.again());
  CATCH_CHECK(run.failure()->message == "it is lost");
  // The one that misses it may be heard first.
  auto missed = recovering(state::conducting);
  missed.fail_run(fail(ec::timeout, "rank 1 is missing"));
  CATCH_CHECK(missed.awaits("a"));
  CATCH_CHECK(missed.lose("a", loss()) == task::none);
  CATCH_CHECK(missed.share_ended("b", {}) == task::collect);
  CATCH_CHECK(missed.failure()->message == "rank 1 is missing");
}

CATCH_TEST_CASE("what is no loss ends a run, though it recovers", "[attempt]") {
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
  over.share_ended("b", {});
  CATCH_CHECK(over.give_up(fail(ec::unavailable, "too often")) == task::file);
  CATCH_CHECK_FALSE(over.again());
  CATCH_CHECK(over.failure()->message == "too often");
}

CATCH_TEST_CASE("a user who cancels a run is not answered by another attempt",
                "[attempt]") {
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
                "[attempt]") {
  for (const auto recovers : {false, true}) {
    auto run = begun(state::conducting, recovers);
    CATCH_CHECK(run.paused(loss()) == task::end_shares);
    CATCH_CHECK(run.again());
    // Shares that end miss each other, and a daemon may be lost meanwhile.
    CATCH_CHECK(run.fail_run(loss()) == task::none);
    CATCH_CHECK(run.lose("a", loss()) == task::none);
    CATCH_CHECK(run.share_ended("b", {}) == task::collect);
    CATCH_CHECK(run.again());
    CATCH_CHECK(run.cancel() == task::none);
    CATCH_CHECK_FALSE(run.again());
    CATCH_CHECK(run.failure()->code == ec::cancelled);
    CATCH_CHECK(run.collected() == task::file);
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

CATCH_TEST_CASE("every event does what is written, in every state",
                "[attempt]") {
  check_transitions<attempt>(
    straight_states, at, events, transitions, [](const attempt& run) {
      CATCH_CHECK(run.is_closed()
                  == (run.now() == state::closing || run.now() == state::filing
                      || run.now() == state::over));
      CATCH_CHECK(run.needs_daemons()
                  == (!run.is_closed() && run.now() != state::queued));
    });
  CATCH_CHECK_FALSE(after_loss(state::waiting).needs_daemons());
  check_transitions<attempt>(
    {state::waiting, state::closing, state::collecting}, after_loss, events,
    ways_on);
}

CATCH_TEST_CASE("a run begins when every daemon has answered once",
                "[attempt]") {
  auto run = deployed_on_two();
  CATCH_CHECK(run.awaits("a"));
  CATCH_CHECK(run.deployed("a", {}) == task::none);
  CATCH_CHECK(run.deployed("a", trouble()) == task::none);
  CATCH_CHECK(run.deployed("somebody", trouble()) == task::none);
  CATCH_CHECK_FALSE(run.awaits("a"));
  CATCH_CHECK(run.deployed("b", {}) == task::conduct);
  CATCH_CHECK(run.deployed("b", {}) == task::none);
}

CATCH_TEST_CASE("a run that cannot be prepared ends with the first reason",
                "[attempt]") {
  auto run = deployed_on_two();
  run.deployed("a", trouble("no memory"));
  CATCH_CHECK(run.deployed("b", trouble("no files")) == task::none);
  CATCH_CHECK(run.fail_run(trouble("nothing")) == task::none);
  CATCH_CHECK(run.failure()->message == "no memory");
  // Those that are preparing end their shares, too.
  CATCH_CHECK(run.awaits("a"));
  CATCH_CHECK(run.awaits("b"));
}

CATCH_TEST_CASE("a run that is cancelled while it is deployed never begins",
                "[attempt]") {
  auto run = deployed_on_two();
  run.deployed("a", {});
  CATCH_CHECK(run.cancel() == task::end_shares);
  CATCH_CHECK(run.cancelled());
  CATCH_CHECK(run.deployed("b", {}) == task::none);
  CATCH_CHECK(run.cancel() == task::none);
  CATCH_CHECK(run.awaits("a"));
  CATCH_CHECK(run.awaits("b"));
  CATCH_CHECK(run.failure()->code == ec::cancelled);
  CATCH_CHECK(run.failure()->message == "cancelled before it began");
  auto later = at(state::rewinding);
  CATCH_CHECK(later.cancel() == task::end_shares);
  CATCH_CHECK(later.failure()->message == "cancelled before its next attempt");
}

CATCH_TEST_CASE("a run goes on without a daemon", "[attempt]") {
  auto run = deployed_on_two();
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
  // Before they have shares, it has other daemons or none.
  auto early = at(state::recording);
  CATCH_CHECK(early.do_without("a") == task::none);
  CATCH_CHECK_FALSE(early.does_without("a"));
  CATCH_CHECK(early.awaits("a"));
  // Of those that end, too: the others decide.
  auto late = at(state::ending);
  CATCH_CHECK(late.do_without("a") == task::none);
  CATCH_CHECK(late.do_without("a") == task::none);
  CATCH_CHECK(late.do_without("somebody") == task::none);
  CATCH_CHECK_FALSE(late.does_without("somebody"));
  CATCH_CHECK(late.share_ended("b", {}) == task::file);
  CATCH_CHECK_FALSE(late.failure());
}

CATCH_TEST_CASE("nobody waits for a daemon that is lost", "[attempt]") {
  auto run = deployed_on_two();
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

  auto alone = deployed_on_two();
  alone.lose("a", trouble());
  CATCH_CHECK(alone.lose("b", trouble()) == task::file);
  auto deserted = at(state::conducting);
  deserted.lose("a", trouble());
  deserted.lose("b", trouble());
  CATCH_CHECK(deserted.conducted(trouble()) == task::end_shares);
  CATCH_CHECK(deserted.ordered_to_end() == task::file);
  CATCH_CHECK(deserted.ordered_to_end() == task::none);
}

CATCH_TEST_CASE("a run is no success before its data are known to be sound",
                "[attempt]") {
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

CATCH_TEST_CASE("nothing of an attempt is left in the next one", "[attempt]") {
  auto run = begun(state::conducting, true);
  run.told_to_pause();
  CATCH_CHECK_FALSE(run.may_pause());
  run.lose("a", loss());
  run.share_ended("b", {});
  CATCH_CHECK(run.collected() == task::wait);
  run.place({"a", "c"}, true, false);
  CATCH_CHECK_FALSE(run.failure());
  CATCH_CHECK_FALSE(run.again());
  CATCH_CHECK_FALSE(run.has_lost("a"));
  CATCH_CHECK_FALSE(run.awaits("b"));
  // Its state is looked for before it is deployed, perhaps on others.
  CATCH_CHECK(run.recorded() == task::rewind);
  CATCH_CHECK_FALSE(run.has_shares());
  run.seat({"c", "d"});
  CATCH_CHECK(run.rewound() == task::deploy);
  CATCH_CHECK(run.has_shares());
  run.deployed("c", {});
  CATCH_CHECK(run.deployed("d", {}) == task::conduct);
  CATCH_CHECK(run.may_pause());
}

CATCH_TEST_CASE("files of a run are left alone while its conductor is there",
                "[attempt]") {
  for (const auto ends_first : {false, true}) {
    auto run = at(state::conducting);
    run.led();
    run.conducted({});
    if (ends_first)
      CATCH_CHECK(run.conductor_ended({}) == task::none);
    run.share_ended("a", {});
    CATCH_CHECK(run.share_ended("b", {})
                == (ends_first ? task::file : task::await_conductor));
    CATCH_CHECK(run.is_closed());
    if (!ends_first)
      CATCH_CHECK(run.conductor_ended({}) == task::file);
    CATCH_CHECK_FALSE(run.failure());
  }
}

} // namespace graphmill::test::attempt_states
