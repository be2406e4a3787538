#include "actors/transport/sockets/connections/port_probe.hpp"

#include "actors/transport/sessions/address.hpp"
#include "tests/actors/transport/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

CATCH_TEST_CASE("a request waits for a daemon that starts late",
                "[transport]") {
  collector<result<payload>> answers;
  std::string address;
  { address = start(echo_daemon("early"))->self().address; }
  const auto caller = start(client("caller"));
  caller->request(
    address, method::submit, text_payload("late"), patient,
    [&answers](result<payload> got) { answers.put(std::move(got)); });
  auto options = echo_daemon("late");
  options.listen = address;
  const auto server = start(std::move(options));
  const auto got = answers.wait(1);
  CATCH_REQUIRE(got.size() == 1);
  CATCH_CHECK(text_of(value_of(got[0])) == "late");
}

CATCH_TEST_CASE("a daemon that starts again under its address is another",
                "[transport]") {
  collector<result<payload>> answers;
  collector<peer_event> events;
  collector<responder> held;
  auto options = daemon("server");
  options.on_request = [&held](incoming_request request) {
    if (request.method == method::join)
      held.put(request.reply);
    else
      request.reply.reply(text_payload("old"));
  };
  auto server = start(options);
  const auto address = server->self().address;
  auto asks = client("caller");
  asks.on_peer = [&events](const peer_event& event) { events.put(event); };
  const auto caller = start(std::move(asks));
  caller->keep(address);
  CATCH_REQUIRE(events.wait(1).size() == 1);
  CATCH_CHECK(events.wait(1)[0].change == peer_event::kind::up);
  CATCH_CHECK(events.wait(1)[0].identity == server->self());
  caller->request(
    address, method::join, {}, patient,
    [&answers](result<payload> got) { answers.put(std::move(got)); });
  CATCH_REQUIRE(held.wait(1).size() == 1);
  const auto before = server->self();
  server.reset();
  options.listen = address;
  options.on_request = [](incoming_request request) {
    request.reply.reply(text_payload("new"));
  };
  server = start(options);
  // What the old one had is gone, and that is told.
  const auto lost = answers.wait(1);
  CATCH_REQUIRE(lost.size() == 1);
  CATCH_CHECK(error_of(lost[0]).code == ec::unavailable);
  CATCH_CHECK(error_of(lost[0]).message.find("restarted") != std::string::npos);
  const auto news = events.wait(2);
  CATCH_REQUIRE(news.size() >= 2);
  CATCH_CHECK(news.back().change == peer_event::kind::replaced);
  CATCH_CHECK(news.back().identity == server->self());
  CATCH_CHECK(news.back().identity.incarnation != before.incarnation);
  CATCH_CHECK(text_of(value_of(ask(*caller, address, method::submit)))
              == "new");
}

CATCH_TEST_CASE("both ends tell when the other is there and gone",
                "[transport]") {
  collector<peer_event> seen_by_server;
  collector<peer_event> seen_by_caller;
  auto options = echo_daemon("server");
  options.on_peer = [&](const peer_event& event) { seen_by_server.put(event); };
  auto server = start(std::move(options));
  auto asks = client("caller");
  asks.on_peer = [&](const peer_event& event) { seen_by_caller.put(event); };
  auto caller = start(std::move(asks));
  const auto identity = caller->self();
  caller->keep(server->self().address);
  seen_by_caller.wait(1);
  caller.reset();
  auto got = seen_by_server.wait(2);
  CATCH_REQUIRE(got.size() == 2);
  CATCH_CHECK(got[0].change == peer_event::kind::up);
  CATCH_CHECK(got[1].change == peer_event::kind::left);
  for (const auto& event : got) {
    CATCH_CHECK(event.inbound);
    CATCH_CHECK(event.identity == identity);
  }
  asks = client("watcher");
  asks.liveness.lost_after = 3s;
  asks.on_peer = [&](const peer_event& event) { seen_by_caller.put(event); };
  const auto watcher = start(std::move(asks));
  watcher->keep(server->self().address);
  CATCH_REQUIRE(seen_by_caller.wait(2).size() == 2);
  server.reset();
  got = seen_by_caller.wait(3);
  CATCH_REQUIRE(got.size() == 3);
  CATCH_CHECK(got[2].change == peer_event::kind::lost);
  CATCH_CHECK(got[2].identity.name == "server");
  CATCH_CHECK_FALSE(got[2].reason.empty());
}

CATCH_TEST_CASE("a process that has ended is lost before the beats are",
                "[transport]") {
  const auto by_name = GENERATE(false, true);
  if (by_name && !resolve_host("localhost")) {
    CATCH_WARN("skipped: this machine does not know \"localhost\"");
    return;
  }
  collector<peer_event> events;
  auto server = start(echo_daemon("server"));
  auto asks = client("caller");
  asks.liveness.refused_after = 100ms;
  asks.on_peer = [&events](const peer_event& event) { events.put(event); };
  const auto caller = start(std::move(asks));
  auto where = value_of(parse_endpoint(server->self().address));
  if (by_name)
    where.host = "localhost";
  caller->keep(to_string(where));
  CATCH_REQUIRE(events.wait(1).size() == 1);
  server.reset();
  const auto got = events.wait(2); // For 200 s beats may fail to come.
  CATCH_REQUIRE(got.size() == 2);
  CATCH_CHECK(got[1].change == peer_event::kind::lost);
  CATCH_CHECK(got[1].reason == "nobody listens there");
}

CATCH_TEST_CASE(
  "what another one can be asked fails when the process has ended",
  "[transport]") {
  collector<result<payload>> answers;
  collector<responder> held;
  auto server = start(holding_daemon("server", held));
  const auto caller = start(client("caller"));
  auto hasty = patient; // It may be out of reach for 200 s.
  hasty.fails_if_refused = true;
  const auto ask_it = [&, address = server->self().address] {
    caller->request(
      address, method::submit, {}, hasty,
      [&answers](result<payload> got) { answers.put(std::move(got)); });
  };
  ask_it();
  CATCH_REQUIRE(held.wait(1).size() == 1);
  server.reset();
  CATCH_REQUIRE(answers.wait(1).size() == 1);
  ask_it(); // Nor do those wait who come later.
  const auto got = answers.wait(2);
  CATCH_REQUIRE(got.size() == 2);
  for (const auto& each : got) {
    CATCH_CHECK(error_of(each).code == ec::unavailable);
    CATCH_CHECK(error_of(each).message.find("nobody listens at its port")
                != std::string::npos);
  }
}

CATCH_TEST_CASE("a probe tells a port without listener from one with it",
                "[transport]") {
  const auto outcome = [](const std::string& host, std::uint16_t port) {
    port_probe probe{{host, port}};
    for (int i = 0; i < 2000; ++i) {
      if (const auto known = probe.refused())
        return *known;
      std::this_thread::sleep_for(5ms);
    }
    CATCH_FAIL("the probe does not end");
    return false;
  };
  auto server = start(echo_daemon("server"));
  const auto where = value_of(parse_endpoint(server->self().address));
  CATCH_CHECK_FALSE(outcome(where.host, where.port));
  server.reset();
  CATCH_CHECK(outcome(where.host, where.port));
  CATCH_CHECK_FALSE(outcome("localhost", where.port)); // Is not looked up.
}
