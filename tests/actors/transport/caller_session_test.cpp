#include "actors/transport/caller_session.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <optional>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

const std::string incarnation_a(32, 'a');
const std::string incarnation_b(32, 'b');

/// A session whose peer and clock are the test.
class scene {
public:
  explicit scene(std::uint64_t seed = 1) : session_(address(), with(seed)) {}

  static std::string address() { return "tcp://10.0.0.9:7800"; }

  caller_session& operator*() { return session_; }
  caller_session* operator->() { return &session_; }
  session_time now() const { return now_; }

  /// Does what the session asks for, by keeping book of it.
  void look() {
    for (auto& what : session_.take()) {
      if (std::holds_alternative<caller_session::open_link>(what)) {
        ++opened;
        open = true;
      } else if (std::holds_alternative<caller_session::close_link>(what)) {
        open = false;
      } else if (auto* out = std::get_if<caller_session::send>(&what)) {
        sent.push_back(std::move(*out));
      } else if (auto* done = std::get_if<caller_session::finish>(&what)) {
        done->on_reply(std::move(done->answer));
      } else {
        events.push_back(std::get<peer_event>(what));
      }
    }
  }

  /// Moves the clock to each time at which the session wants to be woken.
  void advance(std::chrono::milliseconds time) {
    const auto end = now_ + time;
    for (int wakes = 0; session_.next_tick() <= end; ++wakes) {
      CATCH_REQUIRE(wakes < 100000);
      now_ = std::max(now_, session_.next_tick());
      session_.tick(now_);
      look();
      if (answers_beats && open)
        beat();
    }
    now_ = end;
  }

  void beat(readiness ready = readiness::ready) {
    message back;
    back.head.kind = message_kind::beat;
    back.head.readiness = ready;
    receive(lane::control, std::move(back));
  }

  void receive(lane over, message what) {
    session_.receive(now_, over, std::move(what));
    look();
  }

  void answer_hello(lane over, const std::string& incarnation) {
    hello_message hello;
    hello.name = "peer";
    hello.incarnation = incarnation;
    hello.lane = over;
    message back;
    back.head.kind = message_kind::reply;
    back.head.method = method::hello;
    back.data.body = encode_hello(hello);
    receive(over, std::move(back));
  }

  /// Both lanes.
  void greet(const std::string& incarnation = incarnation_a) {
    answer_hello(lane::control, incarnation);
    answer_hello(lane::data, incarnation);
  }

  std::uint64_t ask(method what, call_options options = {}) {
    const auto id = next_id_++;
    answers.resize(next_id_);
    session_.request(now_, id, what, {}, options, [this, id](auto got) {
      CATCH_CHECK_FALSE(answers[id]); // Exactly once.
      answers[id] = std::move(got);
    });
    look();
    return id;
  }

  void reply(std::uint64_t id, method what) {
    message back;
    back.head.kind = message_kind::reply;
    back.head.id = id;
    back.head.method = what;
    receive(traits_of(what).lane, std::move(back));
  }

  void lose(error why = fail(ec::unavailable, "the connection broke")) {
    session_.link_down(now_, why);
    look();
  }

  /// Requests sent since the last call, the transport's own apart.
  std::vector<caller_session::send> requests() {
    std::vector<caller_session::send> out;
    for (auto& what : sent)
      if (what.what.head.kind == message_kind::request
          && what.what.head.method != method::hello)
        out.push_back(std::move(what));
    sent.clear();
    return out;
  }

  std::size_t count(message_kind kind, method what) const {
    std::size_t n = 0;
    for (const auto& out : sent)
      n += out.what.head.kind == kind && out.what.head.method == what;
    return n;
  }

  ec failed(std::uint64_t id) {
    CATCH_REQUIRE(answers[id]);
    return error_of(*answers[id]).code;
  }

  int opened = 0;
  bool open = false;
  bool answers_beats = false;
  std::vector<caller_session::send> sent;
  std::vector<peer_event> events;
  std::vector<std::optional<result<payload>>> answers;

private:
  static caller_session::settings with(std::uint64_t seed) {
    caller_session::settings out;
    out.self.name = "self";
    out.self.incarnation = std::string(32, '0');
    out.seed = seed;
    out.queue_bytes = 1000;
    out.liveness.lost_after = 3s;
    return out;
  }

  caller_session session_;
  session_time now_{std::chrono::hours{1}};
  std::uint64_t next_id_ = 1;
};

} // namespace

CATCH_TEST_CASE("nothing is sent before both lanes have shaken hands",
                "[transport][session]") {
  scene it;
  CATCH_CHECK(it->idle());
  const auto id = it.ask(method::sample);
  CATCH_CHECK(it.opened == 1);
  CATCH_CHECK(it.sent.size() == 2);
  CATCH_CHECK(it.count(message_kind::request, method::hello) == 2);
  it.sent.clear();
  it.answer_hello(lane::data, incarnation_a);
  CATCH_CHECK(it.requests().empty());
  it.answer_hello(lane::control, incarnation_a);
  const auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].lane == lane::data);
  CATCH_CHECK(sent[0].what.head.id == id);
  CATCH_CHECK(sent[0].what.head.attempt == 1);
  CATCH_CHECK(sent[0].what.head.time_left == 30s);
  it.reply(id, method::sample);
  CATCH_CHECK(it.answers[id]->has_value());
  it.reply(id, method::sample); // Again: nobody waits for it.
  CATCH_CHECK(it->counted().late_replies == 1);
}

CATCH_TEST_CASE("a request is repeated under its id, and ends at its deadline",
                "[transport][session]") {
  scene it;
  it.answers_beats = true;
  const auto id = it.ask(method::submit, {3s, 3, 5s});
  it.greet();
  CATCH_CHECK(it.requests().size() == 1);
  it.advance(999ms);
  CATCH_CHECK(it.requests().empty());
  it.advance(1ms);
  auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].what.head.id == id);
  CATCH_CHECK(sent[0].what.head.attempt == 2);
  CATCH_CHECK(sent[0].what.head.time_left == 2s);
  it.advance(1s);
  sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].what.head.attempt == 3);
  it.advance(999ms);
  CATCH_CHECK(it.requests().empty());
  CATCH_CHECK_FALSE(it.answers[id]);
  it.advance(1ms);
  CATCH_CHECK(it.failed(id) == ec::timeout);
  CATCH_CHECK(error_of(*it.answers[id]).message
              == "no answer from peer (tcp://10.0.0.9:7800) to submit within "
                 "3000 ms (3 attempts)");
  CATCH_CHECK(it->counted().retries == 2);
  CATCH_CHECK(it.open);
}

CATCH_TEST_CASE("an answer to a retry ends the request",
                "[transport][session]") {
  scene it;
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
  scene it;
  const auto id = it.ask(method::submit);
  it.greet();
  message back;
  back.head.kind = message_kind::reply;
  back.head.id = id;
  back.head.method = method::submit;
  back.head.failed = true;
  back.head.failure = fail(ec::no_space, "full");
  it.receive(lane::control, back);
  CATCH_CHECK(it.failed(id) == ec::no_space);
}

CATCH_TEST_CASE("a broken connection is made again, and requests repeated",
                "[transport][session]") {
  scene it;
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
  CATCH_CHECK(sent[0].what.head.id == twice);
  CATCH_CHECK(sent[0].what.head.attempt == 2);
  CATCH_CHECK(sent[1].what.head.id == fresh);
  CATCH_CHECK(sent[1].what.head.attempt == 1);
  CATCH_CHECK(it.failed(once) == ec::unavailable);
  CATCH_CHECK_FALSE(it.answers[twice]);
}

CATCH_TEST_CASE("another incarnation fails at once what the old one had",
                "[transport][session]") {
  scene it;
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
  CATCH_CHECK(sent[0].what.head.id == fresh);
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[0].what == peer_event::kind::up);
  CATCH_CHECK(it.events[0].who.incarnation == incarnation_a);
  CATCH_CHECK(it.events[1].what == peer_event::kind::replaced);
  CATCH_CHECK(it.events[1].who
              == peer_identity{"peer", incarnation_b, scene::address()});
}

CATCH_TEST_CASE("two incarnations in one handshake begin it again",
                "[transport][session]") {
  scene it;
  const auto id = it.ask(method::submit);
  it.answer_hello(lane::control, incarnation_a);
  it.answer_hello(lane::data, incarnation_b);
  CATCH_CHECK_FALSE(it.open);
  it.advance(50ms);
  CATCH_CHECK(it.opened == 2);
  it.greet(incarnation_b);
  CATCH_CHECK(it.requests().size() == 1);
  CATCH_CHECK_FALSE(it.answers[id]);
}

CATCH_TEST_CASE("a server that has forgotten us is greeted again",
                "[transport][session]") {
  scene it;
  const auto id = it.ask(method::submit);
  it.greet();
  it.sent.clear();
  message stranger;
  stranger.head.kind = message_kind::stranger;
  it.receive(lane::control, stranger);
  it.receive(lane::data, stranger);
  CATCH_CHECK(it.count(message_kind::request, method::hello) == 2);
  CATCH_CHECK(it.opened == 1);
  it.greet();
  const auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].what.head.id == id);
  CATCH_CHECK(sent[0].what.head.attempt == 2);
}

CATCH_TEST_CASE("beats are sent, and their absence means loss",
                "[transport][session]") {
  scene it;
  it.answers_beats = true;
  it->keep(it.now());
  it.look();
  it.greet();
  it.sent.clear();
  it.advance(10s);
  CATCH_CHECK(it.count(message_kind::beat, method::beat) == 20);
  CATCH_CHECK(it.events.size() == 1);
  it.beat(readiness::draining);
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[1].what == peer_event::kind::changed);
  CATCH_CHECK(it.events[1].readiness == readiness::draining);
  it.answers_beats = false;
  it.advance(2999ms);
  CATCH_CHECK(it.open);
  it.advance(1ms);
  CATCH_REQUIRE(it.events.size() == 3);
  CATCH_CHECK(it.events[2].what == peer_event::kind::lost);
  CATCH_CHECK(it.events[2].who.name == "peer");
  CATCH_CHECK(it.events[2].reason == "it was silent for 3000 ms");
  // It keeps trying, and tells the loss once.
  it.advance(60s);
  CATCH_CHECK(it.events.size() == 3);
  CATCH_CHECK(it.opened > 10);
  it.advance(5s);
  while (!it.open)
    it.advance(10ms);
  it.greet();
  CATCH_REQUIRE(it.events.size() == 4);
  CATCH_CHECK(it.events[3].what == peer_event::kind::up);
}

CATCH_TEST_CASE("a peer whose port is refused for a while is lost earlier",
                "[transport][session]") {
  const auto silent_at = GENERATE(-1, 0, 3);
  scene it;
  it->keep(it.now());
  it.look();
  it.greet();
  // Each attempt is refused at once, but for one.
  const auto broken = it.now();
  for (int attempt = 0; it.events.size() == 1; ++attempt) {
    CATCH_REQUIRE(attempt < 100);
    it.lose(fail(ec::unavailable, "nobody listens there"));
    it->probed(it.now(), attempt != silent_at);
    it.look();
    while (!it.open && it.events.size() == 1)
      it.advance(1ms);
  }
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[1].what == peer_event::kind::lost);
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
  CATCH_CHECK(it.events[2].what == peer_event::kind::up);
}

CATCH_TEST_CASE("a refusal is forgotten when the peer is there again",
                "[transport][session]") {
  scene it;
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
  scene it;
  it->keep(it.now());
  it.look();
  it.lose(fail(ec::unavailable, "nobody listens there"));
  for (int i = 0; i < 100 && it.events.empty(); ++i) {
    it.advance(100ms);
    if (it.open)
      it.lose(fail(ec::unavailable, "nobody listens there"));
  }
  CATCH_REQUIRE(it.events.size() == 1);
  CATCH_CHECK(it.events[0].what == peer_event::kind::lost);
  CATCH_CHECK(it.events[0].who == peer_identity{"", "", scene::address()});
  CATCH_CHECK(it.events[0].reason == "nobody listens there");
}

CATCH_TEST_CASE("attempts to connect become rarer, and jitter differs by seed",
                "[transport][session]") {
  const auto times = [](std::uint64_t seed) {
    scene it{seed};
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
  scene it;
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

CATCH_TEST_CASE("a peer out of reach fails requests after their patience",
                "[transport][session]") {
  scene it;
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

CATCH_TEST_CASE("a handshake that hangs is given up and begun again",
                "[transport][session]") {
  scene it;
  it.ask(method::submit, {30s, 3, 20s});
  it.advance(3s);
  CATCH_CHECK_FALSE(it.open);
  it.advance(50ms);
  CATCH_CHECK(it.opened == 2);
}

CATCH_TEST_CASE("refusals fail everything at once", "[transport][session]") {
  scene it;
  const auto id = it.ask(method::submit);
  it->keep(it.now());
  CATCH_SECTION("of the key") {
    it.lose(fail(ec::permission, "another key"));
    CATCH_CHECK(it.failed(id) == ec::permission);
  }
  CATCH_SECTION("by the handshake's answer") {
    message back;
    back.head.kind = message_kind::reply;
    back.head.method = method::hello;
    back.head.failed = true;
    back.head.failure = fail(ec::version_mismatch, "too old");
    it.receive(lane::control, back);
    CATCH_CHECK(it.failed(id) == ec::version_mismatch);
    CATCH_CHECK(error_of(*it.answers[id]).message.find("too old")
                != std::string::npos);
  }
  CATCH_SECTION("of a newer protocol, by us") {
    message back;
    back.head.version = protocol_version + 1;
    back.head.kind = message_kind::reply;
    it.receive(lane::control, back);
    CATCH_CHECK(it.failed(id) == ec::version_mismatch);
    CATCH_CHECK(error_of(*it.answers[id]).message.find(scene::address())
                != std::string::npos);
  }
  CATCH_CHECK_FALSE(it.open);
  CATCH_REQUIRE(it.events.size() == 1);
  CATCH_CHECK(it.events[0].what == peer_event::kind::lost);
  it.advance(999ms); // Trying soon is of no use.
  CATCH_CHECK(it.opened == 1);
  it.advance(1001ms);
  CATCH_CHECK(it.opened == 2);
}

CATCH_TEST_CASE("what a server must not send ends the connection",
                "[transport][session]") {
  scene it;
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
  it.receive(lane::control, wrong);
  CATCH_CHECK_FALSE(it.open);
  CATCH_CHECK_FALSE(it.answers[id]);
}

CATCH_TEST_CASE("an idle connection is closed, a kept one stays",
                "[transport][session]") {
  scene it;
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
  CATCH_CHECK(it.sent.back().what.head.kind == message_kind::farewell);
  it.ask(method::status);
  CATCH_CHECK(it.open);
}

CATCH_TEST_CASE("the bytes that wait are bounded", "[transport][session]") {
  scene it;
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
  scene it;
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
    scene it{seed};
    std::map<std::uint64_t, session_time> latest;
    for (int step = 0; step < 200; ++step) {
      switch (draws.below(8)) {
      case 0:
      case 1: {
        const call_options options{
          std::chrono::milliseconds{100 + draws.below(5000)},
          1 + draws.below(4),
          std::chrono::milliseconds{100 + draws.below(5000)}};
        const auto what = draws.below(2) == 0 ? method::sample : method::submit;
        const auto end = it.now() + options.deadline;
        latest[it.ask(what, options)] = end;
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
        it.receive(lane::data, stranger);
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
