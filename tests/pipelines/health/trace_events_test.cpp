#include "pipelines/health/trace_events.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

trace_span span_of(std::uint32_t actor, actor_state state, std::int64_t begin,
                   std::int64_t end, std::int32_t rank) {
  return {actor, 0, state, begin, end, batch_place{phase::train, 0, 0, rank}};
}

/// The first step of two ranks, the second of which is the slower one.
run_trace one_step() {
  daemon_trace a;
  a.name = "a";
  a.clock.error = 1500;
  a.actors = {{actor_kind::trainer, -1, 0}, {actor_kind::sampler}};
  a.spans = {span_of(1, actor_state::running, 1000, 3000, 0),
             span_of(0, actor_state::running, 5000, 9000, 0),
             span_of(0, actor_state::waiting, 9000, 9500, 0)};
  a.requests = {{1, 1500, 2500, 64}};
  daemon_trace b;
  b.name = "b\"";
  b.lost = 2;
  b.actors = {{actor_kind::trainer, -1, 1}};
  b.spans = {span_of(0, actor_state::running, 4000, 10000, 1)};
  run_trace out;
  out.run = "r";
  out.daemons = {a, b};
  out.missing = {"c"};
  return out;
}

std::string text_of(const run_trace& trace) {
  std::string out;
  CATCH_REQUIRE(
    write_trace_events(trace, [&out](std::string_view text) -> result<void> {
      out += text;
      return ok();
    }));
  return out;
}

} // namespace

CATCH_TEST_CASE("a trace is written as events", "[pipelines][trace]") {
  const auto json = nlohmann::json::parse(text_of(one_step()));
  CATCH_CHECK(json["displayTimeUnit"] == "ms");
  CATCH_CHECK(json["otherData"].dump()
              == R"({"daemons":{"a":{"clock_error_us":1.5,"spans_lost":0},)"
                 R"("b\"":{"clock_error_us":0.0,"spans_lost":2}},)"
                 R"("missing":["c"],"run":"r"})");
  std::vector<std::string> events;
  for (const auto& event : json["traceEvents"])
    events.push_back(event.dump());
  const std::string batch_0 =
    R"({"epoch":1,"phase":"train","rank":0,"step":1})";
  const std::string batch_1 =
    R"({"epoch":1,"phase":"train","rank":1,"step":1})";
  const std::vector<std::string> expected{
    R"({"args":{"name":"a"},"name":"process_name","ph":"M","pid":1,"tid":0})",
    R"({"args":{"sort_index":1},"name":"process_sort_index","ph":"M",)"
    R"("pid":1,"tid":0})",
    R"({"args":{"name":"trainer, rank 0"},"name":"thread_name","ph":"M",)"
    R"("pid":1,"tid":2})",
    R"({"args":{"sort_index":2},"name":"thread_sort_index","ph":"M",)"
    R"("pid":1,"tid":2})",
    R"({"args":{"name":"sampler"},"name":"thread_name","ph":"M",)"
    R"("pid":1,"tid":1})",
    R"({"args":{"sort_index":1},"name":"thread_sort_index","ph":"M",)"
    R"("pid":1,"tid":1})",
    R"({"args":)" + batch_0
      + R"(,"cat":"sampler","dur":2.0,"name":"running","ph":"X",)"
        R"("pid":1,"tid":1,"ts":0.0})",
    R"({"args":)" + batch_0
      + R"(,"cat":"trainer","dur":4.0,"name":"running","ph":"X",)"
        R"("pid":1,"tid":2,"ts":4.0})",
    R"({"args":)" + batch_0
      + R"(,"cat":"trainer","dur":0.5,"name":"waiting","ph":"X",)"
        R"("pid":1,"tid":2,"ts":8.0})",
    R"({"args":{"bytes":64},"cat":"request","id":1,"name":"sampler",)"
    R"("ph":"b","pid":1,"tid":1,"ts":0.5})",
    R"({"cat":"request","id":1,"name":"sampler","ph":"e","pid":1,"tid":1,)"
    R"("ts":1.5})",
    R"({"args":{"name":"b\""},"name":"process_name","ph":"M","pid":2,)"
    R"("tid":0})",
    R"({"args":{"sort_index":2},"name":"process_sort_index","ph":"M",)"
    R"("pid":2,"tid":0})",
    R"({"args":{"name":"trainer, rank 1"},"name":"thread_name","ph":"M",)"
    R"("pid":2,"tid":1})",
    R"({"args":{"sort_index":1},"name":"thread_sort_index","ph":"M",)"
    R"("pid":2,"tid":1})",
    R"({"args":)" + batch_1
      + R"(,"cat":"trainer","dur":6.0,"name":"running","ph":"X",)"
        R"("pid":2,"tid":1,"ts":3.0})",
    // The batch of rank 0, half a microsecond within its spans.
    R"({"cat":"batch","id":1,"name":"batch","ph":"s","pid":1,"tid":1,)"
    R"("ts":0.5})",
    R"({"bp":"e","cat":"batch","id":1,"name":"batch","ph":"f","pid":1,)"
    R"("tid":2,"ts":4.5})",
    // Rank 0 waits for the gradients of rank 1, until 8.5 us.
    R"({"cat":"gradients","id":2,"name":"gradients","ph":"s","pid":2,)"
    R"("tid":1,"ts":8.25})",
    R"({"bp":"e","cat":"gradients","id":2,"name":"gradients","ph":"f",)"
    R"("pid":1,"tid":2,"ts":8.25})",
  };
  CATCH_CHECK(events == expected);
}

CATCH_TEST_CASE("a trace without spans is one, too", "[pipelines][trace]") {
  const auto json = nlohmann::json::parse(text_of({}));
  CATCH_CHECK(json["traceEvents"].empty());
  CATCH_CHECK(json["traceEvents"].is_array());
}

CATCH_TEST_CASE("a batch that was begun anew flows by its last attempt",
                "[pipelines][trace]") {
  run_trace trace;
  auto& daemon = trace.daemons.emplace_back();
  daemon.name = "a";
  daemon.actors = {{actor_kind::sampler},
                   {actor_kind::fetcher},
                   {actor_kind::batcher},
                   {actor_kind::trainer, -1, 0}};
  // The trainer computes, and then applies the sum.
  daemon.spans = {span_of(0, actor_state::running, 0, 2000, 0),
                  span_of(1, actor_state::running, 3000, 5000, 0),
                  span_of(0, actor_state::running, 10000, 12000, 0),
                  span_of(1, actor_state::running, 13000, 15000, 0),
                  span_of(2, actor_state::running, 16000, 18000, 0),
                  span_of(3, actor_state::running, 20000, 22000, 0),
                  span_of(3, actor_state::running, 24000, 26000, 0)};
  const auto json = nlohmann::json::parse(text_of(trace));
  std::string phases;
  std::vector<double> times;
  for (const auto& event : json["traceEvents"])
    if (event.contains("cat") && event["cat"] == "batch") {
      phases += event["ph"].get<std::string>();
      times.push_back(event["ts"].get<double>());
    }
  CATCH_CHECK(phases == "sttf");
  CATCH_CHECK(times == std::vector{10.5, 13.5, 16.5, 20.5});
}

CATCH_TEST_CASE("who cannot write a trace says so", "[pipelines][trace]") {
  const auto written =
    write_trace_events(one_step(), [](std::string_view) -> result<void> {
      return fail(ec::no_space, "full");
    });
  CATCH_REQUIRE_FALSE(written);
  CATCH_CHECK(written.error().code == ec::no_space);
}
