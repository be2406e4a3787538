#include "tests/actors/transport/sessions/caller_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <map>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

CATCH_TEST_CASE("nothing is sent before both channels have shaken hands",
                "[transport][session]") {
  caller_scene it;
  CATCH_CHECK(it->idle());
  const auto id = it.ask(method::sample);
  CATCH_CHECK(it.opened == 1);
  CATCH_CHECK(it.sent.size() == 2);
  CATCH_CHECK(it.count(message_kind::request, method::hello) == 2);
  it.sent.clear();
  it.answer_hello(channel::data, incarnation_a);
  CATCH_CHECK(it.requests().empty());
  it.answer_hello(channel::control, incarnation_a);
  const auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].channel == channel::data);
  CATCH_CHECK(sent[0].content.head.id == id);
  CATCH_CHECK(sent[0].content.head.attempt == 1);
  CATCH_CHECK(sent[0].content.head.time_left == 30s);
  it.reply(id, method::sample);
  CATCH_CHECK(it.answers[id]->has_value());
  it.reply(id, method::sample); // Again: nobody waits for it.
  CATCH_CHECK(it->counters().late_replies == 1);
}

CATCH_TEST_CASE("a request is repeated under its id, and ends at its deadline",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  const auto id = it.ask(method::submit, {3s, 3, 5s});
  it.greet();
  CATCH_CHECK(it.requests().size() == 1);
  it.advance(999ms);
  CATCH_CHECK(it.requests().empty());
  it.advance(1ms);
  auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].content.head.id == id);
  CATCH_CHECK(sent[0].content.head.attempt == 2);
  CATCH_CHECK(sent[0].content.head.time_left == 2s);
  it.advance(1s);
  sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].content.head.attempt == 3);
  it.advance(999ms);
  CATCH_CHECK(it.requests().empty());
  CATCH_CHECK_FALSE(it.answers[id]);
  it.advance(1ms);
  CATCH_CHECK(it.failed(id) == ec::timeout);
  CATCH_CHECK(error_of(*it.answers[id]).message
              == "no answer from peer (tcp://10.0.0.9:7800) to submit within "
                 "3000 ms (3 attempts)");
  CATCH_CHECK(it->counters().retries == 2);
  CATCH_CHECK(it.open);
}

CATCH_TEST_CASE("an answer to a retry ends the request",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  const auto first = it.ask(method::submit, {2s, 2, 5s});
  const auto second = it.ask(method::status, {2s, 1, 5s});
  it.greet();
  it.advance(1500ms);
  CATCH_CHECK(it.requests().size() == 3);
  it.reply(first, method::submit);
  CATCH_CHECK(it.answers[first]->has_value());
  CATCH_CHECK_FALSE(it.answers[second]);
  it.advance(1s);
  CATCH_CHECK(it.failed(second) == ec::timeout);
}

CATCH_TEST_CASE("failures of the peer are handed on", "[transport][session]") {
  caller_scene it;
  const auto id = it.ask(method::submit);
  it.greet();
  it.refuse(id, method::submit, fail(ec::no_space, "full"));
  CATCH_CHECK(it.failed(id) == ec::no_space);
}

CATCH_TEST_CASE("a peer out of reach fails requests after their patience",
                "[transport][session]") {
  caller_scene it;
  const auto patient = it.ask(method::submit, {30s, 3, 5s});
  const auto hasty = it.ask(method::submit, {30s, 3, 1s});
  const auto brief = it.ask(method::submit, {500ms, 3, 5s});
  it.lose(fail(ec::unavailable, "nobody listens there"));
  it.advance(999ms);
  CATCH_CHECK(it.failed(brief) == ec::timeout);
  CATCH_CHECK_FALSE(it.answers[hasty]);
  it.advance(1ms);
  CATCH_CHECK(it.failed(hasty) == ec::unavailable);
  CATCH_CHECK_FALSE(it.answers[patient]);
  it.advance(4s);
  CATCH_CHECK(it.failed(patient) == ec::unavailable);
  // Nobody wants the connection any more.
  it.advance(10s);
  CATCH_CHECK(it->idle());
}

CATCH_TEST_CASE("a request waits less long where nobody listens",
                "[transport][session]") {
  caller_scene it;
  call_options hasty{30s, 3, 5s};
  hasty.refused = 1s;
  const auto patient = it.ask(method::submit, {30s, 3, 5s});
  CATCH_CHECK_FALSE(it->worth_probing()); // Nobody would want to know.
  const auto asked = it.ask(method::submit, hasty);
  CATCH_CHECK(it->worth_probing());
  const auto pass = [&it](std::chrono::milliseconds time, bool refused) {
    for (const auto end = it.now() + time; it.now() < end; it.advance(1ms))
      if (it.open) {
        it.lose(fail(ec::unavailable, "refused"));
        it->probed(it.now(), refused);
        it.look();
      }
  };
  pass(3s, false); // Nobody says so: the machine may be out of reach.
  CATCH_CHECK_FALSE(it.answers[asked]);
  pass(1500ms, true);
  CATCH_CHECK(it.failed(asked) == ec::unavailable);
  CATCH_CHECK_FALSE(it.answers[patient]);
  const auto later = it.ask(method::submit, hasty);
  pass(990ms, true);
  CATCH_CHECK_FALSE(it.answers[later]);
}

CATCH_TEST_CASE("what another one can be asked waits for no process that ended",
                "[transport][session]") {
  caller_scene it;
  call_options hasty{30s, 3, 5s};
  hasty.fails_if_refused = true;
  const auto patient = it.ask(method::submit, {30s, 3, 5s});
  it.greet();
  it.lose();
  CATCH_CHECK_FALSE(it->worth_probing()); // Nobody would want to know.
  const auto early = it.ask(method::submit, hasty);
  CATCH_CHECK(it->worth_probing());
  it->probed(it.now(), false); // The connection was only cut.
  it.look();
  CATCH_CHECK_FALSE(it.answers[early]);
  while (!it.open)
    it.advance(1ms);
  it.lose(fail(ec::unavailable, "nobody listens there"));
  it->probed(it.now(), true);
  it.look();
  CATCH_CHECK(it.failed(early) == ec::unavailable);
  CATCH_CHECK_FALSE(it.answers[patient]);
  // So does what comes later, until the next attempt to connect.
  const auto late = it.ask(method::submit, hasty);
  CATCH_CHECK(it.failed(late) == ec::unavailable);
  while (!it.open)
    it.advance(1ms);
  const auto again = it.ask(method::submit, hasty);
  it.greet();
  it->probed(it.now(), true); // Too late to count.
  it.look();
  CATCH_CHECK_FALSE(it.answers[again]);
  it.reply(again, method::submit);
  it.reply(patient, method::submit);
  for (const auto id : {again, patient}) {
    CATCH_REQUIRE(it.answers[id]);
    value_of(*it.answers[id]);
  }
  CATCH_CHECK_FALSE(it->worth_probing());
}

CATCH_TEST_CASE("the bytes that wait are bounded", "[transport][session]") {
  caller_scene it;
  payload large;
  large.body = frame::copy(std::vector<std::byte>(600));
  std::vector<result<payload>> answers;
  const auto ask = [&](std::uint64_t id) {
    it->request(it.now(), id, method::submit, large, {},
                [&answers](auto got) { answers.push_back(std::move(got)); });
    it.look();
  };
  ask(101);
  CATCH_CHECK(answers.empty());
  ask(102);
  CATCH_REQUIRE(answers.size() == 1);
  CATCH_CHECK(error_of(answers[0]).code == ec::unavailable);
  it.greet();
  it.reply(101, method::submit);
  CATCH_CHECK(answers.size() == 2);
  ask(103);
  CATCH_CHECK(answers.size() == 2);
}

CATCH_TEST_CASE("the end cancels what is outstanding", "[transport][session]") {
  caller_scene it;
  const auto id = it.ask(method::submit);
  it.greet();
  it.sent.clear();
  it->shut(it.now());
  it.look();
  CATCH_CHECK(it.failed(id) == ec::cancelled);
  CATCH_CHECK_FALSE(it.open);
  CATCH_CHECK(it->idle());
}

CATCH_TEST_CASE("whatever happens, every request ends once, in time",
                "[transport][session]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::generate, 0, 0), 0};
    caller_scene it{seed};
    std::map<std::uint64_t, session_time> latest;
    for (int step = 0; step < 200; ++step) {
      switch (draws.below(8)) {
      case 0:
      case 1: {
        const call_options options{
          std::chrono::milliseconds{100 + draws.below(5000)},
          1 + draws.below(4),
          std::chrono::milliseconds{100 + draws.below(5000)}};
        const auto method_id =
          draws.below(2) == 0 ? method::sample : method::submit;
        const auto end = it.now() + options.deadline;
        latest[it.ask(method_id, options)] = end;
        break;
      }
      case 2:
        if (it.open)
          it.greet(draws.below(8) == 0 ? incarnation_b : incarnation_a);
        break;
      case 3:
        it.reply(1 + draws.below(static_cast<std::uint32_t>(step) + 1),
                 draws.below(8) == 0 ? method::stop : method::submit);
        break;
      case 4:
        if (draws.below(3) == 0)
          it.lose();
        break;
      case 5: {
        message stranger;
        stranger.head.kind = message_kind::stranger;
        it.receive(channel::data, stranger);
        break;
      }
      case 6:
        it.beat();
        break;
      default:
        it.advance(std::chrono::milliseconds{draws.below(800)});
      }
      for (const auto& [id, end] : latest)
        CATCH_CHECK((it.answers[id] || it.now() <= end));
    }
    it.advance(10s);
    for (const auto& [id, end] : latest)
      CATCH_CHECK(it.answers[id]);
    CATCH_CHECK(it->idle());
  }
}

CATCH_TEST_CASE("a request that finds no room is asked again, ever later",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  const auto id = it.ask(method::submit, {10s, 2, 20s});
  it.greet();
  CATCH_CHECK(it.requests().size() == 1);
  auto longest = 100ms;
  for (int i = 0; i < 3; ++i) {
    it.refuse(id, method::submit, fail(ec::unavailable, "full"), 100ms);
    it.advance(longest / 2 - 1ms);
    CATCH_CHECK(it.requests().empty());
    it.advance(longest / 2 + 1ms);
    const auto sent = it.requests();
    CATCH_REQUIRE(sent.size() == 1);
    CATCH_CHECK(sent[0].content.head.id == id);
    CATCH_CHECK(sent[0].content.head.attempt == 1); // None was lost.
    longest *= 2;
  }
  CATCH_CHECK(it->counters().put_off == 3);
  CATCH_CHECK(it->counters().retries == 0);
  CATCH_CHECK_FALSE(it.answers[id]);
  it.reply(id, method::submit);
  CATCH_CHECK(it.answers[id]->has_value());
}

CATCH_TEST_CASE("a request that finds no room in time fails",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  const auto id = it.ask(method::submit, {1s, 1, 20s});
  it.greet();
  for (int i = 0; i < 20 && !it.answers[id]; ++i) {
    it.refuse(id, method::submit, fail(ec::unavailable, "full"), 100ms);
    it.advance(50ms);
  }
  CATCH_CHECK(it.failed(id) == ec::unavailable);
}

CATCH_TEST_CASE("a request that may wait long is repeated at its own pace",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  const auto id = it.ask(method::sample, {100s, 1'000'000, 200s, 10s});
  it.greet();
  CATCH_CHECK(it.requests().size() == 1);
  it.advance(9999ms);
  CATCH_CHECK(it.requests().empty());
  it.advance(1ms);
  CATCH_CHECK(it.requests().size() == 1);
  for (int i = 0; i < 30; ++i) { // More often than any other may be sent.
    it.lose();
    it.advance(1s);
    it.greet();
    CATCH_CHECK(it.requests().size() == 1);
  }
  CATCH_CHECK_FALSE(it.answers[id]);
  it.reply(id, method::sample);
  CATCH_CHECK(it.answers[id]->has_value());
}

CATCH_TEST_CASE("a request is repeated ever more seldom if it says so",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  const auto id = it.ask(method::sample, {20min, 8, 5s, 20s, 2min});
  it.greet();
  it.requests();
  std::vector<int> seconds;
  for (int i = 1; i <= 1200; ++i) {
    CATCH_REQUIRE_FALSE(it.answers[id]);
    it.advance(1s);
    if (!it.requests().empty())
      seconds.push_back(i);
  }
  CATCH_CHECK(seconds == std::vector<int>{20, 60, 140, 260, 380, 500, 620});
  CATCH_CHECK(it.failed(id) == ec::timeout);
}
