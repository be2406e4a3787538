#include "tests/actors/transport/sessions/server_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

CATCH_TEST_CASE("a hello is answered in kind", "[transport][session]") {
  server_scene it;
  it.hello("c", channel::control);
  CATCH_REQUIRE(it.sent.size() == 1);
  CATCH_CHECK(it.sent[0].to == "c");
  CATCH_CHECK(it.sent[0].content.head.kind == message_kind::reply);
  CATCH_CHECK(it.sent[0].content.head.method == method::hello);
  const auto back = value_of(decode_hello(it.sent[0].content.data.body));
  CATCH_CHECK(back.name == "server");
  CATCH_CHECK(back.channel == channel::control);
  it.hello("d", channel::data);
  CATCH_CHECK(value_of(decode_hello(it.sent[1].content.data.body)).channel
              == channel::data);
  CATCH_REQUIRE(it.events.size() == 1); // One peer, not two.
  CATCH_CHECK(it.events[0].change == peer_event::kind::up);
  CATCH_CHECK(it.events[0].inbound);
  CATCH_CHECK(it.events[0].identity == peer_identity{"caller", someone, ""});
}

CATCH_TEST_CASE("requests are delivered and answered on their channel",
                "[transport][session]") {
  server_scene it;
  it.greet();
  it.ask("d", 5, method::sample);
  it.ask("c", 6, method::submit);
  CATCH_REQUIRE(it.delivered.size() == 2);
  CATCH_CHECK(it.delivered[0].from.name == "caller");
  CATCH_CHECK(it.delivered[0].deadline == it.now + 10s);
  it.answer(1, fail(ec::not_found, "what"));
  it.answer(0);
  CATCH_REQUIRE(it.sent.size() == 2);
  CATCH_CHECK(it.sent[0].to == "c");
  CATCH_CHECK(it.sent[0].content.head.id == 6);
  CATCH_CHECK(it.sent[0].content.head.failed);
  CATCH_CHECK(it.sent[0].content.head.failure.message == "what");
  CATCH_CHECK(it.sent[1].to == "d");
  CATCH_CHECK(it.sent[1].content.head.id == 5);
  it.answer(0); // A second answer is for nobody.
  CATCH_CHECK(it.sent.size() == 2);
  CATCH_CHECK(it->running() == 0);
}

CATCH_TEST_CASE("who has not shaken hands is told to", "[transport][session]") {
  server_scene it;
  it.ask("x", 1, method::submit);
  message beat;
  beat.head.kind = message_kind::beat;
  it.receive("x", beat);
  CATCH_REQUIRE(it.sent.size() == 2);
  for (const auto& out : it.sent)
    CATCH_CHECK(out.content.head.kind == message_kind::stranger);
  CATCH_CHECK(it.delivered.empty());
}

CATCH_TEST_CASE("a repeated request is attached to the one that runs",
                "[transport][session]") {
  for (const auto method_id : {method::submit, method::sample}) {
    server_scene it;
    it.greet();
    const auto* connection_id = method_id == method::sample ? "d" : "c";
    it.ask(connection_id, 5, method_id, 1);
    it.ask(connection_id, 5, method_id, 2);
    CATCH_CHECK(it.delivered.size() == 1);
    CATCH_CHECK(it->duplicates() == 1);
    it.answer(0);
    CATCH_REQUIRE(it.sent.size() == 1);
    CATCH_CHECK(it.sent[0].content.head.attempt == 2);
  }
}

CATCH_TEST_CASE("an answered request gets its answer again, or runs again",
                "[transport][session]") {
  server_scene it;
  it.greet();
  it.ask("c", 5, method::submit);
  it.answer(0, fail(ec::no_space, "full"));
  it.ask("c", 5, method::submit, 2);
  CATCH_CHECK(it.delivered.size() == 1);
  CATCH_REQUIRE(it.sent.size() == 2);
  CATCH_CHECK(it.sent[1].content.head.failure.message == "full");
  CATCH_CHECK(it.sent[1].content.head.attempt == 2);
  // What may run again is not kept.
  it.ask("d", 6, method::sample);
  it.answer(1);
  it.ask("d", 6, method::sample, 2);
  CATCH_CHECK(it.delivered.size() == 3);
  // Nobody asks again after the deadline.
  it.advance(2s);
  it.ask("c", 5, method::submit, 3);
  CATCH_CHECK(it.delivered.size() == 3);
}

CATCH_TEST_CASE("two callers with one id are two requests",
                "[transport][session]") {
  server_scene it;
  it.greet();
  it.hello("e", channel::control, std::string(32, 'b'));
  it.ask("c", 5, method::submit);
  it.ask("e", 5, method::submit);
  CATCH_CHECK(it.delivered.size() == 2);
}

CATCH_TEST_CASE("a caller that connects anew gets its answers there",
                "[transport][session]") {
  server_scene it;
  it.greet();
  it.ask("c", 5, method::submit);
  it.ask("c", 6, method::cancel);
  it.answer(1); // Lost with the connection.
  it.hello("c2", channel::control);
  it.hello("d2", channel::data);
  it.sent.clear();
  it.ask("c2", 5, method::submit, 2);
  it.ask("c2", 6, method::cancel, 2);
  CATCH_CHECK(it.delivered.size() == 2);
  CATCH_REQUIRE(it.sent.size() == 1);
  CATCH_CHECK(it.sent[0].content.head.id == 6);
  it.answer(0);
  CATCH_REQUIRE(it.sent.size() == 2);
  CATCH_CHECK(it.sent[1].to == "c2");
  CATCH_CHECK(it.sent[1].content.head.id == 5);
  CATCH_CHECK(it.events.size() == 1); // It has never been away.
  CATCH_CHECK(it.estranged == std::vector<std::string>{"c", "d"});
  it.sent.clear();
  it.ask("c", 7, method::submit); // What still came over the old one.
  CATCH_REQUIRE(it.sent.size() == 1);
  CATCH_CHECK(it.sent[0].content.head.kind == message_kind::stranger);
}

CATCH_TEST_CASE("a silent caller is lost, and finds its answers when back",
                "[transport][session]") {
  server_scene it;
  it.greet();
  it.ask("c", 5, method::submit);
  it.ask("c", 6, method::submit);
  it.answer(0);
  it.advance(2999ms);
  CATCH_CHECK(it.events.size() == 1);
  message beat;
  beat.head.kind = message_kind::beat;
  it.receive("c", beat);
  CATCH_CHECK(it.sent.back().content.head.kind == message_kind::beat);
  it.advance(2999ms);
  CATCH_CHECK(it.events.size() == 1);
  it.advance(1ms);
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[1].change == peer_event::kind::lost);
  CATCH_CHECK(it.events[1].reason == "it was silent for 3000 ms");
  CATCH_CHECK(it->peers() == 0);
  CATCH_CHECK(it.estranged == std::vector<std::string>{"c", "d"});
  it.sent.clear();
  it.ask("c", 5, method::submit, 2);
  CATCH_CHECK(it.sent[0].content.head.kind == message_kind::stranger);
  it.hello("c", channel::control);
  it.sent.clear();
  it.ask("c", 5, method::submit, 2);
  it.ask("c", 6, method::submit, 2);
  CATCH_CHECK(it.delivered.size() == 2);
  CATCH_REQUIRE(it.sent.size() == 1);
  CATCH_CHECK(it.sent[0].content.head.id == 5);
  it.answer(1);
  CATCH_CHECK(it.sent.size() == 2);
  CATCH_CHECK(it->running() == 0);
}

CATCH_TEST_CASE("a caller cannot keep its place by words alone",
                "[transport][session]") {
  server_scene it;
  auto claims = [](channel over) {
    hello_message hello;
    hello.name = "caller";
    hello.incarnation = someone;
    hello.channel = over;
    hello.lost_after = std::chrono::hours{1};
    return hello_request(hello);
  };
  it.receive("c", claims(channel::control));
  it.receive("d", claims(channel::data));
  it->disconnected("c"); // The other connection is there.
  it.advance(30s);
  CATCH_CHECK(it->peers() == 1);
  it->disconnected("d");
  // What it had sent is still to be taken.
  it.ask("c", 1, method::submit);
  CATCH_CHECK(it.delivered.size() == 1);
  it.advance(5s);
  CATCH_CHECK(it->peers() == 0);
  // Connected, it may be silent for a minute.
  it.receive("e", claims(channel::control));
  it.advance(59s);
  CATCH_CHECK(it->peers() == 1);
  it.advance(1s);
  CATCH_CHECK(it->peers() == 0);
}

CATCH_TEST_CASE("an error that is told has a limit", "[transport][session]") {
  server_scene it;
  it.greet();
  it.ask("c", 1, method::submit);
  it.answer(0, fail(ec::io, "{}", std::string(1 << 20, 'x')));
  const auto& told = it.sent.back().content.head.failure.message;
  CATCH_CHECK(told.size() == max_failure_text);
  CATCH_CHECK(told.capacity() < 2 * max_failure_text);
}

CATCH_TEST_CASE("a farewell ends a peer at once", "[transport][session]") {
  server_scene it;
  it.greet();
  it.ask("c", 5, method::submit);
  message farewell;
  farewell.head.kind = message_kind::farewell;
  it.receive("c", farewell);
  CATCH_REQUIRE(it.events.size() == 2);
  CATCH_CHECK(it.events[1].change == peer_event::kind::left);
  CATCH_CHECK(it->peers() == 0);
  it.answer(0); // For nobody.
  CATCH_CHECK(it.sent.empty());
  it.receive("c", farewell);
  CATCH_CHECK(it.events.size() == 2);
}

CATCH_TEST_CASE("another version is answered with a sentence",
                "[transport][session]") {
  server_scene it;
  auto hello = server_scene::hello_from(channel::control, someone);
  hello.head.version = protocol_version + 1;
  it.receive("c", hello);
  hello_message future;
  future.name = "caller";
  future.incarnation = someone;
  future.oldest_version = protocol_version + 1;
  hello.head.version = protocol_version;
  hello.data.body = encode_hello(future);
  it.receive("c", hello);
  // As of the build before, whose ranks tell each other less of a step.
  hello = server_scene::hello_from(channel::control, someone);
  hello.head.version = oldest_protocol_version - 1;
  it.receive("c", hello);
  CATCH_REQUIRE(it.sent.size() == 3);
  for (const auto& out : it.sent) {
    CATCH_CHECK(out.content.head.method == method::hello);
    CATCH_CHECK(out.content.head.failure.code == ec::version_mismatch);
    CATCH_CHECK(out.content.head.failure.message.find("same version")
                != std::string::npos);
  }
  CATCH_CHECK(it->peers() == 0);
  it.greet();
  for (const std::uint64_t unknown : {6, 15, 9999}) { // Two were retired.
    it.sent.clear();
    it.ask("c", unknown, static_cast<method>(unknown));
    CATCH_REQUIRE(it.sent.size() == 1);
    CATCH_CHECK(it.sent[0].content.head.failure.code == ec::version_mismatch);
    CATCH_CHECK(it.delivered.empty());
  }
}

CATCH_TEST_CASE("whoever breaks the protocol loses that connection only",
                "[transport][session]") {
  server_scene it;
  it.greet();
  it.hello("other", channel::control, std::string(32, 'b'));
  message wrong;
  CATCH_SECTION("a reply") {
    wrong.head.kind = message_kind::reply;
  }
  CATCH_SECTION("a stranger") {
    wrong.head.kind = message_kind::stranger;
  }
  CATCH_SECTION("no id") {
    wrong.head.kind = message_kind::request;
    wrong.head.method = method::submit;
  }
  CATCH_SECTION("a broken handshake") {
    wrong.head.kind = message_kind::request;
    wrong.head.method = method::hello;
    wrong.data.body = frame::copy(std::vector<std::byte>(8, std::byte{0xff}));
  }
  CATCH_SECTION("another identity") {
    wrong = server_scene::hello_from(channel::control, std::string(32, 'f'));
  }
  CATCH_SECTION("another channel") {
    wrong = server_scene::hello_from(channel::data, someone);
  }
  it.receive("c", wrong);
  CATCH_CHECK(it.dropped == std::vector<std::string>{"c"});
  it.ask("other", 1, method::submit);
  it.ask("d", 1, method::sample);
  CATCH_CHECK(it.delivered.size() == 2);
}

CATCH_TEST_CASE("peers, requests and answers are bounded",
                "[transport][session]") {
  server_scene it{{.self = {},
                   .reply_cache_bytes = 1 << 20,
                   .max_peers = 1,
                   .max_running = 2}};
  it.greet();
  it.hello("e", channel::control, std::string(32, 'b'));
  CATCH_REQUIRE(it.sent.size() == 1);
  CATCH_CHECK(it.sent[0].content.head.failure.code == ec::unavailable);
  CATCH_REQUIRE(it.notes.size() == 1);
  CATCH_CHECK(it.notes[0].find("refused caller") != std::string::npos);
  for (std::uint64_t id = 1; id <= 3; ++id)
    it.ask("c", id, method::submit);
  CATCH_CHECK(it.delivered.size() == 2);
  CATCH_CHECK(it.sent.back().content.head.failure.code == ec::unavailable);
  CATCH_CHECK(it.sent.back().content.head.retry_after > 0ms);
  payload large;
  large.body = frame::copy(std::vector<std::byte>(max_frame_bytes + 8));
  it.answer(0, large);
  CATCH_CHECK(it.sent.back().content.head.failure.code == ec::internal);
  it.ask("c", 4, method::submit);
  CATCH_CHECK(it.delivered.size() == 3);
}

CATCH_TEST_CASE("requests under way have a limit in bytes",
                "[transport][session]") {
  server_session::settings with;
  with.max_bytes = 8000;
  with.max_peer_bytes = 6000;
  server_scene it{with};
  it.greet();
  it.hello("e", channel::control, std::string(32, 'b'));
  it.hello("f", channel::control, std::string(32, 'c'));
  it.sent.clear();
  it.ask("c", 1, method::sample, 1, 1000);
  it.ask("c", 2, method::sample, 1, 2500);
  CATCH_CHECK(it.delivered.size() == 2);
  it.ask("c", 3, method::sample, 1, 2500); // Its own share is full.
  it.ask("c", 2, method::sample, 2, 2500); // A repetition takes no room.
  CATCH_CHECK(it.delivered.size() == 2);
  it.ask("e", 1, method::sample, 1, 1000);
  CATCH_CHECK(it.delivered.size() == 3);
  it.ask("f", 1, method::sample, 1, 1000); // All have no more.
  CATCH_CHECK(it.delivered.size() == 3);
  CATCH_REQUIRE(it.sent.size() == 2);
  for (const auto& out : it.sent) {
    CATCH_CHECK(out.content.head.failure.code == ec::unavailable);
    CATCH_CHECK(out.content.head.retry_after > 0ms);
  }
  CATCH_CHECK(it->put_off() == 2);
  CATCH_REQUIRE(it.notes.size() == 2);
  CATCH_CHECK(it.notes[0].find("caller") != std::string::npos);
  it.answer(1);
  it.ask("f", 1, method::sample, 1, 1000);
  it.ask("c", 3, method::sample, 1, 500);
  CATCH_CHECK(it.delivered.size() == 5);
  for (std::size_t i = 0; i < 5; ++i)
    it.answer(i);
  // One that is larger than all that is allowed runs alone.
  it.ask("c", 4, method::sample, 1, 20000);
  CATCH_CHECK(it.delivered.size() == 6);
}

CATCH_TEST_CASE("what a lost caller has under way counts when it is back",
                "[transport][session]") {
  server_session::settings with;
  with.max_peer_bytes = 3000;
  server_scene it{with};
  it.greet();
  it.ask("c", 1, method::submit, 1, 1500);
  it.advance(3s);
  CATCH_CHECK(it->peers() == 0);
  it.hello("c", channel::control);
  it.ask("c", 2, method::submit, 1, 1500);
  CATCH_CHECK(it.delivered.size() == 1);
  it.answer(0);
  it.ask("c", 2, method::submit, 1, 1500);
  CATCH_CHECK(it.delivered.size() == 2);
}

CATCH_TEST_CASE("an answer that nobody waits for is not sent",
                "[transport][session]") {
  server_scene it;
  it.greet();
  it.ask("d", 1, method::sample);
  it.ask("d", 2, method::sample);
  it.now += 10s;
  it.answer(0);
  CATCH_CHECK(it.sent.size() == 1);
  it.now += 1ms;
  it.answer(1);
  CATCH_CHECK(it.sent.size() == 1);
  CATCH_CHECK(it->running() == 0);
}
