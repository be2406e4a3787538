#include "tests/actors/transport/sessions/caller_scene.hpp"
#include "tests/actors/transport/sessions/server_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

// Data channels by a local socket: who offers what, and who may come.

namespace {

/// A server with a local socket.
server_scene local_server() {
  server_session::settings with;
  with.local = true;
  return server_scene{std::move(with)};
}

/// The token in the answer to a greeting over the control channel.
std::string token_for(server_scene& it, const std::string& connection_id,
                      const std::string& incarnation = someone) {
  it.sent.clear();
  it.hello(connection_id, channel::control, incarnation);
  CATCH_REQUIRE(it.sent.size() == 1);
  return value_of(decode_hello(it.sent[0].content.data.body)).local_token;
}

void come_locally(server_scene& it, const std::string& connection_id,
                  channel over, const std::string& token,
                  const std::string& incarnation = someone) {
  hello_message hello;
  hello.name = "caller";
  hello.incarnation = incarnation;
  hello.channel = over;
  hello.local_token = token;
  hello.lost_after = 3s;
  it.sent.clear();
  it.receive(connection_id, hello_request(hello), true);
}

} // namespace

CATCH_TEST_CASE("a token of the control channel opens the local socket",
                "[transport][session][local]") {
  auto it = local_server();
  const auto token = token_for(it, "c");
  CATCH_CHECK(token.size() == 32);
  come_locally(it, "d", channel::data, token);
  CATCH_CHECK(it.dropped.empty());
  CATCH_REQUIRE(it.sent.size() == 1);
  CATCH_CHECK_FALSE(it.sent[0].content.head.failed);
  // What answers the data channel tells nobody a token.
  CATCH_CHECK(
    value_of(decode_hello(it.sent[0].content.data.body)).local_token.empty());
  it.ask("d", 5, method::sample);
  CATCH_CHECK(it.delivered.size() == 1);
  CATCH_CHECK(it.events.size() == 1); // One peer, not two.
}

CATCH_TEST_CASE("without its token nobody comes by the local socket",
                "[transport][session][local]") {
  auto it = local_server();
  const auto token = token_for(it, "c");
  const std::string other(32, 'b');
  CATCH_SECTION("none") {
    come_locally(it, "x", channel::data, "");
  }
  CATCH_SECTION("a wrong one") {
    come_locally(it, "x", channel::data, std::string(32, '0'));
  }
  CATCH_SECTION("that of somebody else") {
    CATCH_CHECK(token_for(it, "e", other) != token);
    come_locally(it, "x", channel::data, token, other);
  }
  CATCH_SECTION("of nobody who is there") {
    come_locally(it, "x", channel::data, token, other);
  }
  CATCH_SECTION("an old one") {
    CATCH_CHECK(token_for(it, "c2") != token);
    come_locally(it, "x", channel::data, token);
  }
  CATCH_SECTION("of a control channel that has gone") {
    it->disconnected("c");
    come_locally(it, "x", channel::data, token);
  }
  CATCH_SECTION("of a control channel that was ended") {
    it->malformed("c", "nonsense");
    it.look();
    it.dropped.clear();
    come_locally(it, "x", channel::data, token);
  }
  CATCH_SECTION("of a caller that was lost") {
    it.advance(3s);
    come_locally(it, "x", channel::data, token);
  }
  CATCH_SECTION("as a control channel") {
    come_locally(it, "x", channel::control, token);
  }
  CATCH_CHECK(it.dropped == std::vector<std::string>{"x"});
  CATCH_CHECK(it.sent.empty());
  it.ask("x", 5, method::sample);
  CATCH_CHECK(it.delivered.empty());
}

CATCH_TEST_CASE("without a local socket there are no tokens",
                "[transport][session][local]") {
  server_scene it;
  CATCH_CHECK(token_for(it, "c").empty());
  come_locally(it, "x", channel::data, "");
  CATCH_CHECK(it.dropped == std::vector<std::string>{"x"});
}

CATCH_TEST_CASE("the data channel waits for what the control channel is told",
                "[transport][session][local]") {
  const std::string token(32, '7');
  caller_scene it{1, true};
  const auto id = it.ask(method::sample);
  CATCH_CHECK(it.data_links.empty());
  CATCH_CHECK(it.hellos().size() == 1);
  CATCH_SECTION("a local socket") {
    it.answer_hello(channel::control, incarnation_a, token);
    CATCH_CHECK(it.data_links == std::vector<std::string>{incarnation_a});
    const auto said = it.hellos();
    CATCH_REQUIRE(said.size() == 1);
    CATCH_CHECK(said[0].channel == channel::data);
    CATCH_CHECK(said[0].local_token == token);
  }
  CATCH_SECTION("no such thing") {
    it.answer_hello(channel::control, incarnation_a);
    CATCH_CHECK(it.data_links == std::vector<std::string>{""});
    const auto said = it.hellos();
    CATCH_REQUIRE(said.size() == 1);
    CATCH_CHECK(said[0].local_token.empty());
  }
  CATCH_CHECK(it.requests().empty());
  it.answer_hello(channel::data, incarnation_a);
  const auto sent = it.requests();
  CATCH_REQUIRE(sent.size() == 1);
  CATCH_CHECK(sent[0].content.head.id == id);
}

CATCH_TEST_CASE("a local socket that leads nowhere is not tried again",
                "[transport][session][local]") {
  const std::string token(32, '7');
  caller_scene it{1, true};
  const auto id = it.ask(method::sample, {30s, 3, 20s});
  it.answer_hello(channel::control, incarnation_a, token);
  CATCH_SECTION("it breaks") {
    it.lose();
  }
  CATCH_SECTION("nobody answers") {
    it.advance(3s);
  }
  CATCH_SECTION("somebody else answers") {
    it.answer_hello(channel::data, incarnation_b);
    CATCH_CHECK_FALSE(it.open);
    return;
  }
  CATCH_CHECK_FALSE(it.open);
  it.advance(50ms);
  CATCH_CHECK(it.opened == 2);
  it.hellos();
  it.answer_hello(channel::control, incarnation_a, token);
  CATCH_CHECK(it.data_links == std::vector<std::string>{incarnation_a, ""});
  CATCH_CHECK(it.hellos().at(0).local_token.empty());
  it.answer_hello(channel::data, incarnation_a);
  CATCH_CHECK_FALSE(it.answers[id]);
  CATCH_CHECK(it.requests().size() == 1);
  // Another process has another socket.
  it.lose();
  it.advance(50ms);
  it.answer_hello(channel::control, incarnation_b, token);
  CATCH_CHECK(it.data_links.back() == incarnation_b);
}

CATCH_TEST_CASE("a local socket that broke in use is tried again",
                "[transport][session][local]") {
  const std::string token(32, '7');
  caller_scene it{1, true};
  it.ask(method::sample);
  it.answer_hello(channel::control, incarnation_a, token);
  it.answer_hello(channel::data, incarnation_a);
  it.lose();
  it.advance(50ms);
  it.answer_hello(channel::control, incarnation_a, token);
  CATCH_CHECK(it.data_links
              == std::vector<std::string>{incarnation_a, incarnation_a});
}

CATCH_TEST_CASE("who is forgotten shows a new token on the same connection",
                "[transport][session][local]") {
  const std::string first(32, '7');
  const std::string second(32, '8');
  caller_scene it{1, true};
  it.ask(method::sample);
  it.answer_hello(channel::control, incarnation_a, first);
  it.answer_hello(channel::data, incarnation_a);
  it.hellos();
  message stranger;
  stranger.head.kind = message_kind::stranger;
  it.receive(channel::data, stranger);
  it.receive(channel::control, stranger);
  auto said = it.hellos();
  CATCH_REQUIRE(said.size() == 1);
  CATCH_CHECK(said[0].channel == channel::control);
  it.answer_hello(channel::control, incarnation_a, second);
  said = it.hellos();
  CATCH_REQUIRE(said.size() == 1);
  CATCH_CHECK(said[0].local_token == second);
  it.answer_hello(channel::data, incarnation_a);
  CATCH_CHECK(it.opened == 1);
  CATCH_CHECK(it.data_links.size() == 1);
  CATCH_CHECK(it.requests().size() == 1);
}
