#include "tests/actors/transport/sessions/caller_scene.hpp"
#include "tests/actors/transport/sessions/server_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

// What a server does for others while one client floods it.

namespace {

server_scene fair_server(std::size_t places = 4096) {
  server_session::settings with;
  with.max_peers = places;
  with.fair.emplace();
  return server_scene{std::move(with)};
}

std::string incarnation_of(std::size_t number) {
  auto text = std::to_string(number);
  return std::string(32 - text.size(), '0') + text;
}

/// Greets over both channels; connections are named after the number.
void flood_greeting(server_scene& it, std::size_t number) {
  const auto name = std::to_string(number);
  it.hello("c" + name, channel::control, incarnation_of(number));
  it.hello("d" + name, channel::data, incarnation_of(number));
}

} // namespace

CATCH_TEST_CASE("a flood of watches leaves a status its way",
                "[transport][limits]") {
  auto it = fair_server();
  it.host = "127.0.0.1";
  flood_greeting(it, 1);
  flood_greeting(it, 2);
  it.sent.clear();
  for (std::uint64_t id = 1; id <= 24'000; ++id)
    it.ask("c1", id, method::watch);
  CATCH_CHECK(it.delivered.size() == 16);
  CATCH_CHECK(it.sent.size() == 24'000 - 16);
  for (const auto& out : it.sent) {
    CATCH_REQUIRE(out.content.head.failure.code == ec::unavailable);
    CATCH_REQUIRE(out.content.head.retry_after > 0ms);
  }
  CATCH_CHECK(it->put_off() == 24'000 - 16);
  CATCH_REQUIRE(it.refusals.size()
                == 1); // The others are told with later ones.
  CATCH_CHECK(it.refusals[0].host == "127.0.0.1");
  CATCH_CHECK(it.refusals[0].what == method::watch);
  it.ask("c2", 1, method::status);
  CATCH_REQUIRE(it.delivered.size() == 17);
  CATCH_CHECK(it.delivered[16].method == method::status);
  CATCH_CHECK(it.delivered[16].host == "127.0.0.1");
  it.answer(0);
  it.ask("c1", 30'000, method::watch);
  CATCH_CHECK(it.delivered.size() == 18);
}

CATCH_TEST_CASE("a flood of greetings takes no place from others",
                "[transport][limits]") {
  auto it = fair_server(64); // 56 are open to newcomers.
  it.host = "10.0.0.1";
  for (std::size_t i = 0; i < 4200; ++i)
    flood_greeting(it, i);
  CATCH_CHECK(it->peers() == 38); // Two for each of the 18 that are free.
  CATCH_CHECK(it.sent.back().content.head.failed);
  CATCH_CHECK(it.sent.back().content.head.retry_after > 0ms);
  it.host = "10.0.0.2";
  flood_greeting(it, 5000);
  CATCH_CHECK_FALSE(it.sent.back().content.head.failed);
  CATCH_CHECK(it->peers() == 39);
  // On the host itself a newcomer waits until one has been idle for a moment.
  it.host = "10.0.0.1";
  flood_greeting(it, 5001);
  CATCH_CHECK(it.sent.back().content.head.failed);
  it.now += 1s;
  flood_greeting(it, 5001);
  CATCH_CHECK_FALSE(it.sent.back().content.head.failed);
  CATCH_CHECK(it->peers() == 39);
  CATCH_CHECK(it.estranged.size() == 2);
  // Whoever gave up its place is told to greet again when it says something.
  it.ask(it.estranged[0], 1, method::status);
  CATCH_CHECK(it.sent.back().content.head.kind == message_kind::stranger);
}

CATCH_TEST_CASE("who greets and goes gives its place up at once",
                "[transport][limits]") {
  auto it = fair_server(64);
  it.host = "10.0.0.1";
  for (std::size_t i = 0; i < 4200; ++i) {
    flood_greeting(it, i);
    CATCH_REQUIRE_FALSE(it.sent.back().content.head.failed);
    it->disconnected("c" + std::to_string(i));
    it->disconnected("d" + std::to_string(i));
  }
  CATCH_CHECK(it->peers() == 38);
}

CATCH_TEST_CASE("daemons that are kept are taken when others are not",
                "[transport][limits]") {
  auto it = fair_server(64);
  it.host = "10.0.0.1";
  for (std::size_t i = 0; i < 100; ++i)
    flood_greeting(it, i);
  flood_greeting(it, 200);
  CATCH_CHECK(it.sent.back().content.head.failed);
  it->keep("tcp://10.0.0.1:7800", incarnation_of(200));
  flood_greeting(it, 200);
  CATCH_CHECK_FALSE(it.sent.back().content.head.failed);
  it.now += 10s; // Idle as it is, it stays.
  CATCH_CHECK(it->peers() == 39);
  for (std::size_t i = 300; i < 400; ++i)
    flood_greeting(it, i);
  CATCH_CHECK(it->knows("c200"));
}

CATCH_TEST_CASE("requests between daemons are not counted as those of clients",
                "[transport][limits]") {
  auto it = fair_server();
  hello_message hello;
  hello.name = "daemon";
  hello.incarnation = incarnation_of(1);
  hello.address = "tcp://10.0.0.1:7800";
  hello.channel = channel::data;
  hello.lost_after = 3s;
  it.receive("d1", hello_request(hello));
  for (std::uint64_t id = 1; id <= 3000; ++id)
    it.ask("d1", id, method::gather);
  CATCH_CHECK(it.delivered.size() == 3000);
  CATCH_CHECK(it->put_off() == 0);
}

CATCH_TEST_CASE("what only daemons ask counts if a client asks it",
                "[transport][limits]") {
  const auto which = GENERATE(method::health_report, method::run_event,
                              method::gather, method::order);
  auto it = fair_server();
  flood_greeting(it, 1);
  flood_greeting(it, 2);
  const auto over = traits_of(which).channel == channel::data ? "d1" : "c1";
  for (std::uint64_t id = 1; id <= 1000; ++id)
    it.ask(over, id, which);
  CATCH_CHECK(it.delivered.size() == 32); // As many as questions.
  CATCH_CHECK(it->put_off() == 1000 - 32);
  CATCH_CHECK(it.refusals.at(0).what == which);
  // They count until they are answered.
  it.ask("c1", 2000, method::status);
  CATCH_CHECK(it.delivered.size() == 32);
  it.ask("c2", 1, method::status);
  CATCH_CHECK(it.delivered.size() == 33);
  it.answer(0);
  it.ask("c1", 2001, method::status);
  CATCH_CHECK(it.delivered.size() == 34);
}

CATCH_TEST_CASE("what a lost client had under way counts when it is back",
                "[transport][limits]") {
  auto it = fair_server();
  flood_greeting(it, 1);
  for (std::uint64_t id = 1; id <= 16; ++id)
    it.ask("c1", id, method::watch);
  it.advance(3s); // Lost.
  CATCH_CHECK(it->peers() == 0);
  flood_greeting(it, 1);
  it.ask("c1", 17, method::watch);
  CATCH_CHECK(it.delivered.size() == 16);
  it.answer(0);
  it.ask("c1", 18, method::watch);
  CATCH_CHECK(it.delivered.size() == 17);
}

CATCH_TEST_CASE("a caller that finds no place greets again",
                "[transport][limits]") {
  caller_scene it;
  const auto id = it.ask(method::status, {30s, 3, 5s});
  it.hellos();
  message full;
  full.head.kind = message_kind::reply;
  full.head.method = method::hello;
  full.head.failed = true;
  full.head.failure = fail(ec::unavailable, "no place");
  full.head.retry_after = 100ms;
  it.receive(channel::control, full);
  CATCH_CHECK_FALSE(it.open);
  CATCH_CHECK_FALSE(it.answers[id]);
  it.advance(99ms);
  CATCH_CHECK(it.opened == 1);
  it.advance(1ms);
  CATCH_CHECK(it.opened == 2);
  it.greet();
  it.reply(id, method::status);
  CATCH_REQUIRE(it.answers[id]);
  CATCH_CHECK(it.answers[id]->has_value());
}

CATCH_TEST_CASE("whoever is kept anew is tried at once",
                "[transport][limits]") {
  caller_scene it;
  it->keep(it.now());
  it.look();
  for (int i = 0; i < 8; ++i) {
    it.lose();
    it.advance(2s);
  }
  it.lose();
  const auto before = it.opened;
  it->keep(it.now());
  it.advance(0ms);
  CATCH_CHECK(it.opened == before + 1);
}
