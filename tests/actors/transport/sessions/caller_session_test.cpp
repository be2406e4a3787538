#include "tests/actors/transport/sessions/caller_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

CATCH_TEST_CASE("a broken connection is made again, and requests repeated",
                "[transport][session]") {
  caller_scene it;
  const auto twice = it.ask(method::submit);
  const auto once = it.ask(method::status, {30s, 1, 5s});
  it.greet();
  it.requests();
  it.lose();
  CATCH_CHECK_FALSE(it.open);
  const auto fresh = it.ask(method::runs, {30s, 1, 5s});
  it.advance(50ms); // The longest first wait.
  CATCH_CHECK(it.opened == 2);
  it.greet();
  const auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 2);
  CATCH_CHECK(sent[0].content.head.id == twice);
  CATCH_CHECK(sent[0].content.head.attempt == 2);
  CATCH_CHECK(sent[1].content.head.id == fresh);
  CATCH_CHECK(sent[1].content.head.attempt == 1);
  CATCH_CHECK(it.failed(once) == ec::unavailable);
  CATCH_CHECK_FALSE(it.answers[twice]);
}

CATCH_TEST_CASE("another incarnation fails at once what the old one had",
                "[transport][session]") {
  caller_scene it;
  it->keep(it.now());
  const auto old = it.ask(method::submit);
  it.greet(incarnation_a);
  it.requests();
  it.lose();
  const auto fresh = it.ask(method::submit);
  it.advance(50ms);
  it.greet(incarnation_b);
  CATCH_CHECK(it.failed(old) == ec::unavailable);
  CATCH_CHECK(error_of(*it.answers[old]).message.find("restarted")
              != std::string::npos);
  const auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].content.head.id == fresh);
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[0].change == peer_event::kind::up);
  CATCH_CHECK(it.events[0].identity.incarnation == incarnation_a);
  CATCH_CHECK(it.events[1].change == peer_event::kind::replaced);
  CATCH_CHECK(it.events[1].identity
              == peer_identity{"peer", incarnation_b, caller_scene::address()});
}

CATCH_TEST_CASE("two incarnations in one handshake begin it again",
                "[transport][session]") {
  caller_scene it;
  const auto id = it.ask(method::submit);
  it.answer_hello(channel::control, incarnation_a);
  it.answer_hello(channel::data, incarnation_b);
  CATCH_CHECK_FALSE(it.open);
  it.advance(50ms);
  CATCH_CHECK(it.opened == 2);
  it.greet(incarnation_b);
  CATCH_CHECK(it.requests().size() == 1);
  CATCH_CHECK_FALSE(it.answers[id]);
}

CATCH_TEST_CASE("a server that has forgotten us is greeted again",
                "[transport][session]") {
  caller_scene it;
  const auto id = it.ask(method::submit);
  it.greet();
  it.sent.clear();
  message stranger;
  stranger.head.kind = message_kind::stranger;
  it.receive(channel::control, stranger);
  it.receive(channel::data, stranger);
  CATCH_CHECK(it.count(message_kind::request, method::hello) == 2);
  CATCH_CHECK(it.opened == 1);
  it.greet();
  const auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].content.head.id == id);
  CATCH_CHECK(sent[0].content.head.attempt == 2);
}

CATCH_TEST_CASE("a handshake that hangs is given up and begun again",
                "[transport][session]") {
  caller_scene it;
  it.ask(method::submit, {30s, 3, 20s});
  it.advance(3s);
  CATCH_CHECK_FALSE(it.open);
  it.advance(50ms);
  CATCH_CHECK(it.opened == 2);
}

CATCH_TEST_CASE("refusals fail everything at once", "[transport][session]") {
  caller_scene it;
  const auto id = it.ask(method::submit);
  it->keep(it.now());
  CATCH_SECTION("of the key") {
    it.lose(fail(ec::permission, "another key"));
    CATCH_CHECK(it.failed(id) == ec::permission);
  }
  CATCH_SECTION("by the handshake's answer") {
    it.refuse(0, method::hello, fail(ec::version_mismatch, "too old"));
    CATCH_CHECK(it.failed(id) == ec::version_mismatch);
    CATCH_CHECK(error_of(*it.answers[id]).message.find("too old")
                != std::string::npos);
  }
  CATCH_SECTION("of a newer protocol, by us") {
    message back;
    back.head.version = protocol_version + 1;
    back.head.kind = message_kind::reply;
    it.receive(channel::control, back);
    CATCH_CHECK(it.failed(id) == ec::version_mismatch);
    CATCH_CHECK(error_of(*it.answers[id]).message.find(caller_scene::address())
                != std::string::npos);
  }
  CATCH_CHECK_FALSE(it.open);
  CATCH_REQUIRE(it.events.size() == 1);
  CATCH_CHECK(it.events[0].change == peer_event::kind::lost);
  it.advance(999ms); // Trying soon is of no use.
  CATCH_CHECK(it.opened == 1);
  it.advance(1001ms);
  CATCH_CHECK(it.opened == 2);
}

CATCH_TEST_CASE("what may be chance is a refusal when it comes again and again",
                "[transport][session]") {
  caller_scene it;
  const auto suspicion = fail(ec::permission, "another key, it seems");
  const call_options patient{1h, 1000, 1h};
  // Until something is told; returns how often the connection was cut.
  const auto cut = [&](std::uint64_t id, std::chrono::milliseconds limit) {
    const auto end = it.now() + limit;
    auto times = 0U;
    while (!it.answers[id] && it.now() < end) {
      if (it.open) {
        ++times;
        it.lose(suspicion, false);
      }
      it.advance(10ms);
    }
    return times;
  };
  it->keep(it.now());
  const auto id = it.ask(method::submit, patient);
  CATCH_SECTION("by one who has never let us in: after a second") {
    const auto start = it.now();
    CATCH_CHECK(cut(id, 990ms) >= 4);
    CATCH_CHECK_FALSE(it.answers[id]);
    CATCH_CHECK(it.events.empty());
    CATCH_SECTION("whatever else happens") {
      it.advance(500ms);
      it.lose();
    }
    cut(id, 10s);
    CATCH_CHECK(it.failed(id) == ec::permission);
    CATCH_CHECK(it.now() - start <= 5s);
    CATCH_REQUIRE(it.events.size() == 1);
    CATCH_CHECK(it.events[0].reason == "another key, it seems");
    const auto opened = it.opened;
    it.advance(2s);
    CATCH_CHECK(it.opened == opened + 1);
    const auto next = it.ask(method::submit, patient);
    it.lose(suspicion, false); // Nothing has changed.
    CATCH_CHECK(it.failed(next) == ec::permission);
  }
  CATCH_SECTION("not if it lets us in now and then") {
    for (auto round = 0; round < 50; ++round) {
      cut(id, 900ms);
      it.advance(2s);
      CATCH_REQUIRE(it.open);
      it.greet();
      it.lose();
      it.advance(50ms);
    }
    CATCH_CHECK_FALSE(it.answers[id]);
  }
  CATCH_SECTION("by one who has let us in: when it would be lost by silence") {
    it.greet();
    it.lose();
    it.advance(50ms);
    CATCH_CHECK(cut(id, 2900ms) >= 5);
    CATCH_CHECK_FALSE(it.answers[id]);
    cut(id, 5s);
    CATCH_CHECK(it.failed(id) == ec::permission);
  }
  CATCH_SECTION("not if it came a few times, however long ago") {
    for (auto time = 1U; time < caller_session::suspicions_of_refusal; ++time) {
      CATCH_REQUIRE(it.open);
      it.lose(suspicion, false);
      it.advance(2s);
    }
    CATCH_CHECK_FALSE(it.answers[id]);
  }
}

CATCH_TEST_CASE("what a server must not send ends the connection",
                "[transport][session]") {
  caller_scene it;
  const auto id = it.ask(method::submit);
  it.greet();
  message wrong;
  CATCH_SECTION("a request") {
    wrong.head.kind = message_kind::request;
  }
  CATCH_SECTION("a farewell") {
    wrong.head.kind = message_kind::farewell;
  }
  CATCH_SECTION("an answer to another question") {
    wrong.head.kind = message_kind::reply;
    wrong.head.id = id;
    wrong.head.method = method::stop;
  }
  it.receive(channel::control, wrong);
  CATCH_CHECK_FALSE(it.open);
  CATCH_CHECK_FALSE(it.answers[id]);
}
