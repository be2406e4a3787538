#include "tests/actors/transport/sessions/caller_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

/// Each attempt at a connection fails, and its port refuses to be probed, but
/// for the attempt `silent_at`, if it is not negative.
void refuse_until_lost(caller_scene& it, int silent_at) {
  for (int attempt = 0; it.events.size() == 1; ++attempt) {
    CATCH_REQUIRE(attempt < 100);
    it.lose(fail(ec::unavailable, "nobody listens there"));
    it->probed(it.now(), attempt != silent_at);
    it.look();
    while (!it.open && it.events.size() == 1)
      it.advance(1ms);
  }
}

} // namespace

CATCH_TEST_CASE("beats are sent, and their absence means loss",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  it->keep(it.now());
  it.look();
  it.greet();
  it.sent.clear();
  it.advance(10s);
  CATCH_CHECK(it.count(message_kind::beat, method::beat) == 20);
  CATCH_CHECK(it.events.size() == 1);
  it.answers_beats = false;
  it.advance(2999ms);
  CATCH_CHECK(it.open);
  it.advance(1ms);
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[1].change == peer_event::kind::lost);
  CATCH_CHECK(it.events[1].identity.name == "peer");
  CATCH_CHECK(it.events[1].reason == "it was silent for 3000 ms");
  // It keeps trying, and tells the loss once.
  it.advance(60s);
  CATCH_CHECK(it.events.size() == 2);
  CATCH_CHECK(it.opened > 10);
  it.advance(5s);
  while (!it.open)
    it.advance(10ms);
  it.greet();
  CATCH_REQUIRE(it.events.size() == 3);
  CATCH_CHECK(it.events[2].change == peer_event::kind::up);
}

CATCH_TEST_CASE("a peer whose port is refused for a while is lost earlier",
                "[transport][session]") {
  const auto silent_at = GENERATE(-1, 0, 3);
  caller_scene it;
  it->keep(it.now());
  it.look();
  it.greet();
  // Each attempt is refused at once, but for one.
  const auto broken = it.now();
  refuse_until_lost(it, silent_at);
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[1].change == peer_event::kind::lost);
  const auto took = it.now() - broken;
  CATCH_CHECK(took >= 1s);
  CATCH_CHECK(took < 2s);
  if (silent_at > 0)
    CATCH_CHECK(took > 1250ms); // It began anew.
  // It keeps trying, tells the loss once, and that the peer is back.
  for (int i = 0; i < 50; ++i) {
    it->probed(it.now(), true);
    it.advance(100ms);
    if (it.open)
      it.lose(fail(ec::unavailable, "nobody listens there"));
  }
  CATCH_CHECK(it.events.size() == 2);
  while (!it.open)
    it.advance(10ms);
  it.greet();
  CATCH_REQUIRE(it.events.size() == 3);
  CATCH_CHECK(it.events[2].change == peer_event::kind::up);
}

CATCH_TEST_CASE("a refusal is forgotten when the peer is there again",
                "[transport][session]") {
  caller_scene it;
  it->keep(it.now());
  it.look();
  it.greet();
  for (int i = 0; i < 10; ++i) {
    it.lose();
    it->probed(it.now(), true);
    it.advance(900ms);
    CATCH_REQUIRE(it.open);
    it.greet();
  }
  CATCH_CHECK(it.events.size() == 1);
}

CATCH_TEST_CASE("a kept peer that was never there is lost, too",
                "[transport][session]") {
  caller_scene it;
  it->keep(it.now());
  it.look();
  it.lose(fail(ec::unavailable, "nobody listens there"));
  for (int i = 0; i < 100 && it.events.empty(); ++i) {
    it.advance(100ms);
    if (it.open)
      it.lose(fail(ec::unavailable, "nobody listens there"));
  }
  CATCH_REQUIRE(it.events.size() == 1);
  CATCH_CHECK(it.events[0].change == peer_event::kind::lost);
  CATCH_CHECK(it.events[0].identity
              == peer_identity{"", "", caller_scene::address()});
  CATCH_CHECK(it.events[0].reason == "nobody listens there");
}

CATCH_TEST_CASE("attempts to connect become rarer, and jitter differs by seed",
                "[transport][session]") {
  const auto times = [](std::uint64_t seed) {
    caller_scene it{seed};
    it->keep(it.now());
    it.look();
    std::vector<std::int64_t> waits;
    for (int i = 0; i < 12; ++i) {
      it.lose();
      const auto start = it.now();
      while (!it.open)
        it.advance(1ms);
      waits.push_back((it.now() - start) / 1ms);
    }
    return waits;
  };
  const auto first = times(1);
  std::int64_t bound = 50;
  for (const auto wait : first) {
    CATCH_CHECK(wait >= bound / 2);
    CATCH_CHECK(wait <= bound);
    bound = std::min<std::int64_t>(2 * bound, 2000);
  }
  CATCH_CHECK(first == times(1));
  CATCH_CHECK(first != times(2));
}

CATCH_TEST_CASE("a success makes the next attempt quick again",
                "[transport][session]") {
  caller_scene it;
  it->keep(it.now());
  it.look();
  for (int i = 0; i < 8; ++i) {
    it.lose();
    it.advance(2s);
    CATCH_REQUIRE(it.open);
  }
  it.greet();
  it.lose();
  it.advance(50ms);
  CATCH_CHECK(it.open);
}

CATCH_TEST_CASE("an idle connection is closed, a kept one stays",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  it.reply(it.ask(method::status), method::status); // Too early: ignored.
  it.greet();
  it.advance(8s);
  it.reply(1, method::status);
  it.advance(9999ms);
  CATCH_CHECK(it.open);
  it->keep(it.now());
  it.advance(60s);
  CATCH_CHECK(it.open);
  it->forget(it.now());
  it.advance(9999ms);
  CATCH_CHECK(it.open);
  CATCH_CHECK_FALSE(it->idle());
  it.sent.clear();
  it.advance(1ms);
  CATCH_CHECK_FALSE(it.open);
  CATCH_CHECK(it->idle());
  CATCH_REQUIRE_FALSE(it.sent.empty());
  CATCH_CHECK(it.sent.back().content.head.kind == message_kind::farewell);
  it.ask(method::status);
  CATCH_CHECK(it.open);
}

CATCH_TEST_CASE("a peer that is stopped for ten seconds loses nothing",
                "[transport][session]") {
  caller_scene it{liveness_options{}};
  it.answers_beats = true;
  it->keep(it.now());
  it.look();
  it.greet();
  const auto id = it.ask(method::sample);
  it.answers_beats = false;
  it.advance(10s);
  CATCH_CHECK(it.open);
  CATCH_CHECK(it.events.size() == 1);
  it.reply(id, method::sample);
  CATCH_REQUIRE(it.answers[id]);
  CATCH_CHECK(it.answers[id]->has_value());
  it.answers_beats = true;
  it.advance(10s);
  it.answers_beats = false;
  it.advance(14999ms);
  CATCH_CHECK(it.open);
  CATCH_CHECK(it.events.size() == 1);
  it.advance(1ms);
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[1].reason == "it was silent for 15000 ms");
}

CATCH_TEST_CASE("what another one can be asked waits for no silent peer",
                "[transport][session]") {
  caller_scene it{liveness_options{}};
  it.answers_beats = true;
  it->keep(it.now());
  it.look();
  it.greet();
  call_options hasty{20min, 8, 500ms};
  hasty.fails_if_refused = true;
  const auto first = it.ask(method::sample, hasty);
  const auto patient = it.ask(method::sample, {20min, 8, 5s});
  it.advance(10s);
  CATCH_CHECK_FALSE(it.answers[first]);
  it.answers_beats = false;
  it.advance(2999ms); // Five beats.
  CATCH_CHECK_FALSE(it.answers[first]);
  it.advance(1ms);
  CATCH_CHECK(it.failed(first) == ec::unavailable);
  CATCH_CHECK(
    it.answers[first]->error().message
    == "peer (" + caller_scene::address()
         + ") has not answered 5 beats while sample was under way there");
  const auto second = it.ask(method::sample, hasty);
  it.advance(500ms);
  CATCH_CHECK(it.failed(second) == ec::unavailable);
  // It is not lost, and is asked again once it is heard.
  CATCH_CHECK(it.open);
  CATCH_CHECK(it.events.size() == 1);
  it.answers_beats = true;
  it.advance(500ms);
  const auto third = it.ask(method::sample, hasty);
  it.advance(10s);
  it.reply(third, method::sample);
  it.reply(patient, method::sample);
  for (const auto id : {third, patient}) {
    CATCH_REQUIRE(it.answers[id]);
    value_of(*it.answers[id]);
  }
}

CATCH_TEST_CASE("a handshake that hangs is begun anew before the peer is lost",
                "[transport][session]") {
  caller_scene it{liveness_options{}};
  it->keep(it.now());
  it.look();
  it.advance(4999ms);
  CATCH_CHECK(it.open);
  it.advance(1ms);
  CATCH_CHECK_FALSE(it.open);
  it.advance(9999ms);
  CATCH_CHECK(it.opened == 3);
  CATCH_CHECK(it.events.empty());
  it.advance(1ms);
  CATCH_REQUIRE(it.events.size() == 1);
  CATCH_CHECK(it.events[0].change == peer_event::kind::lost);
}

CATCH_TEST_CASE("an ended process is lost within a second, whatever silence "
                "may take",
                "[transport][session]") {
  caller_scene it{liveness_options{}};
  it->keep(it.now());
  it.look();
  it.greet();
  const auto broken = it.now();
  refuse_until_lost(it, -1);
  CATCH_CHECK(it.events[1].change == peer_event::kind::lost);
  CATCH_CHECK(it.now() - broken < 1s);
}

CATCH_TEST_CASE("who waits for whom is told once, and once when it is over",
                "[transport][session]") {
  caller_scene it{liveness_options{}};
  it.answers_beats = true;
  const auto asked = GENERATE(method::sample, method::submit);
  const auto id = it.ask(asked, {20min, 1, 5s});
  it.greet();
  it.advance(29999ms);
  CATCH_CHECK(it.notes.empty());
  it.advance(60001ms);
  it.reply(id, asked);
  CATCH_CHECK(it.answers[id]->has_value());
  it.advance(1s);
  if (asked == method::submit) { // Takes as long as what it asks for.
    CATCH_CHECK(it.notes.empty());
    return;
  }
  const auto peer = "peer (" + caller_scene::address() + ")";
  CATCH_REQUIRE(it.notes.size() == 2);
  CATCH_CHECK(it.notes[0]
              == "waits for " + peer
                   + ", which has not answered sample for 30 s; its last sign "
                     "of life came 0 s ago");
  CATCH_CHECK(it.notes[1] == "got the answer of " + peer + ": it took 90 s");
}

CATCH_TEST_CASE("a session tells how its connections are",
                "[transport][session]") {
  caller_scene it;
  it.answers_beats = true;
  CATCH_CHECK(it->link() == link_state::closed);
  it->keep(it.now());
  it.look();
  CATCH_CHECK(it->link() == link_state::opening);
  it.greet();
  CATCH_CHECK(it->link() == link_state::ready);
  CATCH_CHECK(it->peer_name() == "peer");
  it.advance(10s);
  CATCH_CHECK(it->link() == link_state::ready);
  // Five beats, at two in a second, go unanswered before anything is said.
  it.answers_beats = false;
  it.advance(2400ms);
  CATCH_CHECK(it->link() == link_state::ready);
  it.advance(599ms);
  CATCH_CHECK(it->link() == link_state::silent);
  it.advance(1ms);
  CATCH_CHECK(it->link() == link_state::lost);
  CATCH_CHECK(it->reason() == "it was silent for 3000 ms");
  it.advance(5s);
  while (!it.open)
    it.advance(10ms);
  CATCH_CHECK(it->link() == link_state::lost);
  it.greet();
  CATCH_CHECK(it->link() == link_state::ready);
  it.lose(fail(ec::unavailable, "it was cut"));
  CATCH_CHECK(it->link() == link_state::broken);
  CATCH_CHECK(it->reason() == "it was cut");
  while (!it.open)
    it.advance(10ms);
  // Trying again does not make it better.
  CATCH_CHECK(it->link() == link_state::broken);
}
