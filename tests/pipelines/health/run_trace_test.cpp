#include "pipelines/health/board_trace.hpp"
#include "pipelines/health/clock_offset.hpp"
#include "pipelines/health/run_trace.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t the_sampler = 0, the_trainer = 1;

trace_span did(std::uint32_t actor, actor_state state, std::int64_t begin,
               std::int64_t end, std::int64_t step) {
  return {actor, 0, state, begin, end, batch_place{phase::train, 0, step, 0}};
}

/// Three steps of one trainer, the last of which is not over: it samples for
/// 10 ns, computes for 20 and waits for 5.
run_trace three_steps() {
  daemon_trace daemon;
  daemon.name = "a";
  daemon.actors = {{actor_kind::sampler},
                   {actor_kind::trainer, -1, 0},
                   {actor_kind::gradient_group}};
  for (std::int64_t step = 0; step < 3; ++step) {
    const auto begin = 100 * step;
    daemon.spans.push_back(
      did(the_sampler, actor_state::running, begin, begin + 10, step));
    daemon.spans.push_back(
      did(the_trainer, actor_state::running, begin + 20, begin + 40, step));
    if (step < 2)
      daemon.spans.push_back(
        did(the_trainer, actor_state::waiting, begin + 40, begin + 45, step));
  }
  daemon.requests = {{the_sampler, 2, 6, 9}, {the_sampler, 95, 102, 9}};
  run_trace out;
  out.run = "r";
  out.daemons = {daemon};
  return out;
}

} // namespace

CATCH_TEST_CASE("clocks are compared by the question that took least",
                "[pipelines][trace]") {
  // The other clock is 1000 ahead; the ways take 10 and 30, then 4 and 2.
  const std::vector<clock_probe> probes{{0, 1010, 1015, 45},
                                        {100, 1104, 1204, 206}};
  const auto offset = offset_by(probes);
  CATCH_REQUIRE(offset);
  // Of the second: it lies between 1204 - 206 = 998 and 1104 - 100 = 1004.
  CATCH_CHECK((*offset == clock_offset{1001, 3}));
  const auto first = offset_by(std::vector{probes[0]});
  CATCH_REQUIRE(first); // Between 970 and 1010.
  CATCH_CHECK((*first == clock_offset{990, 20}));
}

CATCH_TEST_CASE("an answer that cannot be counts for nothing",
                "[pipelines][trace]") {
  CATCH_CHECK_FALSE(offset_by({}));
  // It says that it took longer than all, or left before it came.
  CATCH_CHECK_FALSE(offset_by(std::vector<clock_probe>{{0, 5, 50, 20}}));
  CATCH_CHECK_FALSE(offset_by(std::vector<clock_probe>{{0, 9, 8, 20}}));
  // Clocks that are the same, and a question that takes no time.
  const auto same = offset_by(std::vector<clock_probe>{{7, 7, 7, 7}});
  CATCH_REQUIRE(same);
  CATCH_CHECK((*same == clock_offset{0, 0}));
}

CATCH_TEST_CASE("a trace is put on one clock", "[pipelines][trace]") {
  auto trace = three_steps();
  trace.daemons[0].clock = {-50, 1};
  trace.daemons[0].now = {did(the_trainer, actor_state::starved, 240, 300, 0)};
  trace.align();
  const auto& daemon = trace.daemons[0];
  CATCH_CHECK(daemon.spans.front().begin == 50);
  CATCH_CHECK(daemon.spans.front().end == 60);
  CATCH_CHECK(daemon.spans.back().begin == 290);
  CATCH_CHECK(daemon.requests[0].begin == 52);
  CATCH_CHECK(daemon.now.empty());
}

CATCH_TEST_CASE("steps count when their gradients have come",
                "[pipelines][trace]") {
  auto trace = three_steps();
  CATCH_CHECK(steps_in(trace) == 2);
  keep_steps(trace, 1, 5);
  // The second step, from its sampler's begin to its trainer's end.
  const auto& daemon = trace.daemons[0];
  CATCH_REQUIRE(daemon.spans.size() == 3);
  CATCH_CHECK(daemon.spans[0].begin == 100);
  CATCH_CHECK(daemon.spans[2].end == 145);
  CATCH_REQUIRE(daemon.requests.size() == 1);
  CATCH_CHECK(daemon.requests[0].begin == 100); // Cut.
  CATCH_CHECK(daemon.requests[0].end == 102);
  trace = three_steps();
  keep_steps(trace, 0, 1);
  CATCH_REQUIRE(trace.daemons[0].spans.size() == 3);
  CATCH_CHECK(trace.daemons[0].spans[2].end == 45);
  CATCH_CHECK(trace.daemons[0].requests.size() == 1);
}

CATCH_TEST_CASE("steps of a loop count when it has had their batches",
                "[pipelines][trace]") {
  auto trace = three_steps();
  trace.daemons[0].actors.pop_back(); // A loader has no gradients.
  CATCH_CHECK(steps_in(trace) == 3);
  keep_steps(trace, 2, 1);
  const auto& spans = trace.daemons[0].spans;
  CATCH_REQUIRE(spans.size() == 2);
  CATCH_CHECK(spans[0].begin == 200);
  CATCH_CHECK(spans[1].end == 240);
}

CATCH_TEST_CASE("the last of a trace is what lies before its end",
                "[pipelines][trace]") {
  auto trace = three_steps();
  keep_last(trace, 110); // From 130, for the last trainer is done at 240.
  const auto& spans = trace.daemons[0].spans;
  CATCH_REQUIRE(spans.size() == 4);
  CATCH_CHECK(spans[0].begin == 130); // Cut.
  CATCH_CHECK(spans[0].end == 140);
  CATCH_CHECK(spans[1].begin == 140);
  CATCH_CHECK(spans[3].end == 240);
  CATCH_CHECK(trace.daemons[0].requests.empty());
  run_trace empty;
  keep_last(empty, 5);
  keep_steps(empty, 0, 5);
  CATCH_CHECK(steps_in(empty) == 0);
}

CATCH_TEST_CASE("the last of a run that goes on ends where all have told of it",
                "[pipelines][trace]") {
  run_trace trace;
  for (const std::int64_t told : {300, 200}) { // The second one is asked first.
    trace_reply page;
    page.actors = {{actor_kind::trainer}};
    page.spans = {did(0, actor_state::running, 0, 150, 0),
                  did(0, actor_state::waiting, 150, told, 0)};
    trace.daemons.emplace_back().take(page);
  }
  auto over = trace;
  keep_last(trace, 100); // From 100 to 200.
  for (const auto& daemon : trace.daemons) {
    CATCH_REQUIRE(daemon.spans.size() == 2);
    CATCH_CHECK(daemon.spans[0].begin == 100);
    CATCH_CHECK(daemon.spans[1].end == 200);
  }
  // One that has ended has nothing more to tell.
  over.daemons[1].over = true;
  keep_last(over, 120);
  CATCH_CHECK(over.daemons[0].spans.back().end == 300);
  CATCH_CHECK(over.daemons[1].spans.size() == 1);
}

CATCH_TEST_CASE("a daemon's answers are put together", "[pipelines][trace]") {
  daemon_trace out;
  out.name = "a";
  trace_reply page;
  page.first = 0;
  page.next = 2;
  page.actors = {{actor_kind::trainer}};
  page.spans = {did(0, actor_state::running, 1, 2, 0)};
  page.requests = {{0, 1, 2, 3}};
  out.take(page);
  page.first = 5;
  page.next = 6;
  page.requests.clear();
  page.over = true;
  out.take(page);
  CATCH_CHECK(out.size() == 3);
  CATCH_CHECK(out.next == 6);
  CATCH_CHECK(out.lost == 3); // 2, 3 and 4 were overwritten.
  CATCH_CHECK(out.over);
  // Another attempt at the run has numbers of its own.
  page.attempt = 2;
  out.take(page);
  CATCH_CHECK(out.size() == 0);
  CATCH_CHECK(out.next == 0);
  CATCH_CHECK(out.name == "a");
  CATCH_CHECK_FALSE(out.over);
}

CATCH_TEST_CASE("what was overwritten counts if it may have been of the time",
                "[pipelines][trace]") {
  trace_reply page;
  page.first = 7;
  page.next = 9;
  page.actors = {{actor_kind::trainer}};
  page.spans = {did(0, actor_state::running, 100, 200, 0),
                did(0, actor_state::waiting, 200, 300, 0)};
  run_trace trace;
  trace.daemons.emplace_back().take(page);
  CATCH_CHECK(trace.daemons[0].before == 7);
  auto all = trace;
  keep_last(all, 250); // From 50: nothing is known of what ended before 200.
  CATCH_CHECK(all.daemons[0].lost == 7);
  keep_last(trace, 50); // From 250: what had ended by 200 is before that.
  CATCH_CHECK(trace.daemons[0].lost == 0);
  CATCH_CHECK(trace.daemons[0].before == 0);
}

CATCH_TEST_CASE("a board tells what its actors did", "[pipelines][trace]") {
  gauge_board board;
  const auto pool = board.add({actor_kind::fetcher}, 2);
  const auto link = board.add({actor_kind::feature_proxy, 3, -1, "b"});
  const auto begin = trace_time();
  pool->enter(actor_state::starved, 1);
  pool->works_on({phase::validation, 1, 2, 3}, 1);
  pool->enter(actor_state::running, 1);
  pool->enter(actor_state::starved, 1);
  link->enter(actor_state::starved);
  link->asked(5);
  link->answered(1us, 77);
  link->enter(actor_state::stopped);
  const auto seen = trace_of(board, 0, 100);
  CATCH_CHECK(seen.check());
  CATCH_REQUIRE(seen.actors.size() == 2);
  CATCH_CHECK(seen.actors[0].workers == 2);
  CATCH_CHECK(seen.actors[1].peer == "b");
  CATCH_CHECK(seen.first == 0);
  CATCH_CHECK(seen.next == 8);
  CATCH_CHECK_FALSE(seen.more);
  // Of the fetcher: starting, starved, running. Of the proxy: starting,
  // starved, waiting, starved.
  CATCH_REQUIRE(seen.spans.size() == 7);
  const auto& worked = seen.spans[2];
  CATCH_CHECK(worked.actor == 0);
  CATCH_CHECK(worked.worker == 1);
  CATCH_CHECK((worked.state == actor_state::running));
  CATCH_CHECK(worked.begin >= begin);
  CATCH_CHECK(worked.begin == seen.spans[1].end);
  CATCH_REQUIRE(worked.batch);
  CATCH_CHECK((worked.batch->phase == phase::validation));
  CATCH_CHECK(worked.batch->step == 2);
  CATCH_CHECK_FALSE(seen.spans[1].batch);
  CATCH_REQUIRE(seen.requests.size() == 1);
  CATCH_CHECK(seen.requests[0].actor == 1);
  CATCH_CHECK(seen.requests[0].end - seen.requests[0].begin == 1000);
  CATCH_CHECK(seen.requests[0].bytes == 77);
  // Who has ended is in no state; the other workers are.
  CATCH_REQUIRE(seen.now.size() == 2);
  CATCH_CHECK((seen.now[0].state == actor_state::starting));
  CATCH_CHECK((seen.now[1].state == actor_state::starved));
  CATCH_CHECK(seen.now[1].begin == worked.end);
  // In pages, and for the clock alone.
  const auto page = trace_of(board, 1, 2);
  CATCH_CHECK(page.spans.size() == 2);
  CATCH_CHECK(page.next == 3);
  CATCH_CHECK(page.more);
  CATCH_CHECK(page.now.empty());
  CATCH_CHECK(trace_of(board, 0, 0).actors.empty());
}

CATCH_TEST_CASE("no span of actors that join meanwhile is left out",
                "[pipelines][trace]") {
  constexpr std::uint64_t actors = 500;
  gauge_board board;
  std::thread joining{[&board] {
    for (std::uint64_t i = 0; i < actors; ++i) // Each ends its start.
      board.add({actor_kind::sampler})->enter(actor_state::running);
  }};
  std::size_t spans = 0;
  for (std::uint64_t next = 0; next < actors;) {
    const auto page = trace_of(board, next, trace_limits::spans);
    next = page.next;
    spans += page.spans.size();
  }
  joining.join();
  CATCH_CHECK(spans == actors);
}
