#include "messages/wire/trace.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/actors/commands/user.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace graphmill::test {

namespace {

constexpr std::int64_t a_second = 1'000'000'000;

trace_span trained(actor_state state, std::int64_t begin, std::int64_t end,
                   std::int64_t step) {
  return {0, 0, state, begin, end, batch_place{phase::train, 0, step, 0}};
}

/// The answer of a daemon whose clock is ahead. Its trainer has done two steps,
/// each on a page of its own.
trace_reply told_by(const trace_request& asked, std::int64_t ahead) {
  trace_reply out;
  out.run = asked.run;
  out.daemon = asked.daemon;
  if (asked.most == 0) { // 10 ns there, 20 for the answer, 14 back.
    out.asked = 1000;
    out.came = 1010 + ahead;
    out.left = 1030 + ahead;
    out.answered = 1044;
    return out;
  }
  out.actors = {{actor_kind::trainer, -1, 0}};
  out.over = true;
  out.first = asked.from;
  const auto step = static_cast<std::int64_t>(asked.from / 2);
  const auto begin = ahead + a_second + 5000 * step;
  out.spans = {trained(actor_state::running, begin, begin + 3000, step),
               trained(actor_state::waiting, begin + 3000, begin + 4000, step)};
  out.next = asked.from + 2;
  out.more = out.next < 4;
  return out;
}

/// Daemon a has the coordinator's clock, b is 5 s ahead, c has done nothing of
/// the run, and d does not answer.
result<payload> trace_of_cluster(const payload& data) {
  const auto asked = value_of(decode_trace_request(data));
  if (asked.run != "good-1")
    return fail(ec::internal, "another run");
  if (asked.daemon.empty()) {
    trace_reply out;
    out.daemons = {"a", "b", "c", "d"};
    return encode(out);
  }
  if (asked.daemon == "c")
    return fail(ec::not_found, "no traces");
  if (asked.daemon == "d")
    return fail(ec::unavailable, "it is away");
  return encode(told_by(asked, asked.daemon == "b" ? 5 * a_second : 0));
}

} // namespace

CATCH_TEST_CASE("a trace has the spans of all daemons on one clock",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(runs_reply{{record(run_state::finished)}, false});
  });
  coordinator.on(method::trace, trace_of_cluster);
  const auto told = user.asks("trace good-1 --out all.json");
  // Ways of 24 ns in all: the clock is known to 12.
  CATCH_CHECK(told.dump()
              == R"({"clock_error_us":0.012,"daemons":2,"file":"all.json",)"
                 R"("missing":["d"],"run":"good-1","spans":8,"steps":2})");
  const auto trace =
    nlohmann::json::parse(content_of(user.folder() / "all.json"));
  CATCH_CHECK(trace["otherData"]["missing"].dump() == R"(["d"])");
  std::map<int, std::string> times; // By daemon.
  for (const auto& event : trace["traceEvents"])
    if (event["ph"] == "X")
      times[event["pid"]] += event["name"].get<std::string>() + " from "
                             + event["ts"].dump() + " for "
                             + event["dur"].dump() + "; ";
  const std::string expected = "running from 0.0 for 3.0; "
                               "waiting from 3.0 for 1.0; "
                               "running from 5.0 for 3.0; "
                               "waiting from 8.0 for 1.0; ";
  CATCH_CHECK(times
              == std::map<int, std::string>{{1, expected}, {2, expected}});
  const auto last = user.asks("trace good-1 --steps 1");
  CATCH_CHECK(last["steps"] == 1);
  CATCH_CHECK(last["spans"] == 4);
  CATCH_CHECK(last["file"] == "trace.json");
  const auto said = user.runs("trace good-1 --last 500ms");
  CATCH_CHECK(said.code == 0);
  CATCH_CHECK_THAT(said.output, contains("trace.json: 2 training steps of run "
                                         "good-1, 8 spans of 2 daemons"));
  CATCH_CHECK_THAT(said.output,
                   contains("without d, which did not answer"));
}

CATCH_TEST_CASE("what cannot be traced is said", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  std::atomic<run_state> state{run_state::queued};
  coordinator.on(method::runs, [&state](const payload&) -> result<payload> {
    return encode(runs_reply{{record(state)}, false});
  });
  coordinator.on(method::trace, [](const payload&) -> result<payload> {
    return encode(trace_reply{});
  });
  const auto early = user.runs("trace good-1");
  CATCH_CHECK(early.code == 1);
  CATCH_CHECK_THAT(early.errors, contains("has not started yet"));
  state = run_state::finished;
  const auto late = user.runs("trace good-1");
  CATCH_CHECK(late.code == 1);
  CATCH_CHECK_THAT(late.errors, contains("no daemon has traces of run good-1"));
  for (const auto* wrong : {"--steps 0", "--last 0s", "--last 3x",
                            "--last 5s --steps 2", "--steps 1001"})
    CATCH_CHECK(user.runs(std::string{"trace good-1 "} + wrong).code == 2);
}

} // namespace graphmill::test
