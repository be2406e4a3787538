#include "messages/wire/trace.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/sample_trace.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("what actors did comes there and back", "[messages][trace]") {
  const auto got = value_of(decode_trace_reply(encode(some_trace())));
  CATCH_CHECK(got.run == "r");
  CATCH_CHECK(got.daemon == "b");
  CATCH_CHECK(got.daemons == std::vector<std::string>{"a", "b"});
  CATCH_CHECK(got.asked == 1);
  CATCH_CHECK(got.came == 2);
  CATCH_CHECK(got.left == 3);
  CATCH_CHECK(got.answered == 4);
  CATCH_CHECK(got.over);
  CATCH_CHECK(got.first == 5);
  CATCH_CHECK(got.next == 7);
  CATCH_CHECK(got.more);
  CATCH_CHECK(got.attempt == 8);
  CATCH_REQUIRE(got.actors.size() == 1);
  CATCH_CHECK((got.actors[0].kind == actor_kind::feature_proxy));
  CATCH_CHECK(got.actors[0].part == 3);
  CATCH_CHECK(got.actors[0].rank == -1);
  CATCH_CHECK(got.actors[0].peer == "a");
  CATCH_CHECK(got.actors[0].workers == 2);
  CATCH_REQUIRE(got.spans.size() == 1);
  CATCH_CHECK(got.spans[0].worker == 1);
  CATCH_CHECK((got.spans[0].state == actor_state::waiting));
  CATCH_CHECK(got.spans[0].begin == 10);
  CATCH_CHECK(got.spans[0].end == 20);
  CATCH_REQUIRE(got.spans[0].batch);
  CATCH_CHECK((got.spans[0].batch->phase == phase::validation));
  CATCH_CHECK(got.spans[0].batch->rank == 3);
  CATCH_REQUIRE(got.requests.size() == 1);
  CATCH_CHECK(got.requests[0].begin == 11);
  CATCH_CHECK(got.requests[0].end == 19);
  CATCH_CHECK(got.requests[0].bytes == 64);
  CATCH_REQUIRE(got.now.size() == 1);
  CATCH_CHECK((got.now[0].state == actor_state::starved));
  CATCH_CHECK_FALSE(got.now[0].batch);
  const auto asked =
    value_of(decode_trace_request(encode(trace_request{"r", "b", 9, 10})));
  CATCH_CHECK(asked.run == "r");
  CATCH_CHECK(asked.daemon == "b");
  CATCH_CHECK(asked.from == 9);
  CATCH_CHECK(asked.most == 10);
}

CATCH_TEST_CASE("a trace that cannot be is refused", "[messages][trace]") {
  const auto refused = [](auto change) {
    auto trace = some_trace();
    change(trace);
    return !decode_trace_reply(encode(trace));
  };
  const auto span = some_trace().spans[0];
  CATCH_CHECK_FALSE(refused([](trace_reply&) {}));
  CATCH_CHECK(refused([](auto& t) { t.spans[0].actor = 1; }));
  CATCH_CHECK(refused([](auto& t) { t.spans[0].worker = 2; }));
  CATCH_CHECK(refused([](auto& t) { t.spans[0].end = 9; }));
  CATCH_CHECK(refused([](auto& t) { t.spans[0].begin = -1; }));
  CATCH_CHECK(
    refused([](auto& t) { t.spans[0].end = (std::int64_t{1} << 60) + 1; }));
  CATCH_CHECK(refused([](auto& t) {
    t.spans[0].batch->step = std::numeric_limits<std::int64_t>::max();
  }));
  CATCH_CHECK(refused([](auto& t) { t.spans[0].batch->epoch = -1; }));
  CATCH_CHECK(refused([](auto& t) { t.requests[0].actor = 1; }));
  CATCH_CHECK(refused([](auto& t) { t.requests[0].end = 10; }));
  CATCH_CHECK(refused([](auto& t) { t.now[0].end = 19; }));
  CATCH_CHECK(refused([](auto& t) { t.came = -1; }));
  CATCH_CHECK(refused([](auto& t) { t.first = 8; }));
  CATCH_CHECK(refused([](auto& t) { t.run.assign(257, 'x'); }));
  CATCH_CHECK(refused([](auto& t) { t.daemons[1].assign(257, 'x'); }));
  CATCH_CHECK(refused([](auto& t) { t.actors[0].peer.assign(65, 'x'); }));
  CATCH_CHECK_FALSE(refused([](auto& t) { t.actors[0].workers = 65'536; }));
  CATCH_CHECK(refused([](auto& t) { t.actors[0].workers = 65'537; }));
  CATCH_CHECK(refused([](auto& t) { // In 32 bits they would add up to 2.
    t.actors.push_back({});
    t.actors[0].workers = 0xffffffff;
    t.actors[1].workers = 3;
  }));
  CATCH_CHECK(refused([&](auto& t) {
    t.spans.assign(trace_limits::spans, span); // And a request.
  }));
  CATCH_CHECK(
    refused([&](auto& t) { t.now.assign(trace_limits::now + 1, span); }));
}

CATCH_TEST_CASE("the largest trace fits into a frame", "[messages][trace]") {
  auto trace = some_trace();
  trace.requests.clear();
  trace.daemons.clear(); // They come without spans.
  trace.daemon.assign(trace_limits::text, 'd');
  trace.run.assign(trace_limits::text, 'r');
  auto actor = trace.actors[0];
  actor.peer.assign(trace_limits::peer, 'p');
  trace.actors.assign(trace_limits::actors, actor);
  const auto span = trace.spans[0];
  trace.spans.assign(trace_limits::spans, span);
  trace.now.assign(trace_limits::now, span);
  const auto sent = encode(trace);
  CATCH_CHECK(sent.byte_size() <= max_frame_bytes);
  CATCH_CHECK(value_of(decode_trace_reply(sent)).spans.size()
              == trace_limits::spans);
  trace_reply names;
  names.daemons.assign(trace_limits::daemons,
                       std::string(trace_limits::text, 'd'));
  CATCH_CHECK(encode(names).byte_size() <= max_frame_bytes);
}
