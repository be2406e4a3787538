#include "tests/actors/transport/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

CATCH_TEST_CASE("a request gets its reply", "[transport]") {
  struct question {
    method method_id;
    peer_identity from;
    bool in_time;
  };
  collector<question> questions;
  auto options = daemon("server");
  options.on_request = [&questions](incoming_request request) {
    questions.put({request.method, request.from,
                   request.deadline > std::chrono::steady_clock::now()});
    request.reply.reply(text_payload("hello " + text_of(request.data)));
  };
  const auto server = start(std::move(options));
  const auto caller = start(client("caller"));
  CATCH_CHECK(server->self().name == "server");
  CATCH_CHECK(server->self().incarnation.size() == 32);
  CATCH_CHECK(server->self().address.starts_with("tcp://127.0.0.1:"));
  CATCH_CHECK(caller->self().address.empty());
  const auto answer = value_of(
    ask(*caller, server->self().address, method::submit, text_payload("you")));
  CATCH_CHECK(text_of(answer) == "hello you");
  const auto asked = questions.wait(1);
  CATCH_REQUIRE(asked.size() == 1);
  CATCH_CHECK(asked[0].method_id == method::submit);
  CATCH_CHECK(asked[0].from == caller->self());
  CATCH_CHECK(asked[0].in_time);
}

CATCH_TEST_CASE("the transport's thread says what it is at", "[transport]") {
  const auto gauge = std::make_shared<work_gauge>("the transport's thread");
  collector<work_gauge::reading> at_work;
  auto options = daemon("server");
  options.gauge = gauge;
  options.on_request = [&at_work, gauge](incoming_request request) {
    at_work.put(gauge->read());
    request.reply.reply(payload{});
  };
  const auto server = start(std::move(options));
  const auto caller = start(client("caller"));
  value_of(ask(*caller, server->self().address, method::submit));
  const auto seen = at_work.wait(1);
  CATCH_REQUIRE(seen.size() == 1);
  CATCH_CHECK(seen[0].turns % 2 == 1);
  CATCH_CHECK(std::string{seen[0].what} == "submit");
  // It waits for messages again, which is no work.
  const auto until = std::chrono::steady_clock::now() + 250s;
  while (gauge->read().turns % 2 == 1
         && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  CATCH_CHECK(gauge->read().turns > seen[0].turns);
}

CATCH_TEST_CASE("errors of the server arrive as they are", "[transport]") {
  auto options = daemon("server");
  options.on_request = [](incoming_request request) {
    if (request.method == method::status)
      request.reply.reply(fail(ec::not_found, "no run {}", 7));
    // Else it is dropped.
  };
  const auto server = start(std::move(options));
  const auto caller = start(client("caller"));
  auto got = error_of(ask(*caller, server->self().address, method::status));
  CATCH_CHECK(got.code == ec::not_found);
  CATCH_CHECK(got.message == "no run 7");
  got = error_of(ask(*caller, server->self().address, method::submit));
  CATCH_CHECK(got.code == ec::internal);
  CATCH_CHECK(got.message.find("no answer") != std::string::npos);
}

CATCH_TEST_CASE("a daemon asks itself, and two daemons each other",
                "[transport]") {
  const auto first = start(echo_daemon("first"));
  const auto second = start(echo_daemon("second"));
  for (auto* from : {first.get(), second.get()})
    for (auto* to : {first.get(), second.get()})
      CATCH_CHECK(text_of(value_of(ask(*from, to->self().address, method::join,
                                       text_payload("x"))))
                  == "x");
}

CATCH_TEST_CASE("a request that nobody answers ends at its deadline",
                "[transport]") {
  collector<responder> held;
  auto options = daemon("server");
  options.on_request = [&held](incoming_request request) {
    if (request.method == method::submit)
      held.put(request.reply);
    else
      request.reply.reply(payload{});
  };
  const auto server = start(std::move(options));
  const auto& address = server->self().address;
  const auto caller = start(client("caller"));
  value_of(ask(*caller, address, method::status));
  const auto got =
    error_of(ask(*caller, address, method::submit, {}, {5s, 20, 200s}));
  CATCH_CHECK(got.code == ec::timeout);
  CATCH_CHECK(got.message.find("server (tcp://") != std::string::npos);
  CATCH_CHECK(got.message.find("submit within 5000 ms") != std::string::npos);
  CATCH_CHECK(caller->statistics().retries >= 1);
  // The retries were attached to the first attempt.
  const auto first = held.wait(1);
  CATCH_REQUIRE(first.size() == 1);
  // The late answer harms nobody.
  first[0].reply(payload{});
  value_of(ask(*caller, address, method::status));
}

CATCH_TEST_CASE("nobody listens: the error comes after the time to reach",
                "[transport]") {
  const auto caller = start(client("caller"));
  std::string address;
  { address = start(echo_daemon("gone"))->self().address; }
  const auto got =
    error_of(ask(*caller, address, method::submit, {}, {30s, 3, 150ms}));
  CATCH_CHECK(got.code == ec::unavailable);
  CATCH_CHECK(got.message.find(address) != std::string::npos);
  for (const auto* wrong : {"nonsense", "tcp://127.0.0.1:0", "tcp://*:77"})
    CATCH_CHECK(error_of(ask(*caller, wrong, method::submit)).code
                == ec::invalid_argument);
}

CATCH_TEST_CASE("fifty clients at once", "[transport]") {
  collector<bool> answers;
  std::atomic<int> served{0};
  auto options = daemon("server");
  options.on_request = [&served](incoming_request request) {
    served += request.method == method::submit;
    request.reply.reply(std::move(request.data));
  };
  const auto server = start(std::move(options));
  constexpr int clients = 50;
  constexpr int requests = 20;
  std::vector<std::unique_ptr<transport>> callers;
  for (int i = 0; i < clients; ++i)
    callers.push_back(start(client("client " + std::to_string(i))));
  for (int r = 0; r < requests; ++r)
    for (int i = 0; i < clients; ++i) {
      const auto text = std::to_string(i) + '/' + std::to_string(r);
      callers[static_cast<std::size_t>(i)]->request(
        server->self().address, r % 2 == 0 ? method::submit : method::gather,
        text_payload(text), patient, [&answers, text](result<payload> got) {
          answers.put(got && text_of(got.value()) == text);
        });
    }
  const auto got = answers.wait(clients * requests);
  CATCH_CHECK(got.size() == clients * requests);
  CATCH_CHECK(std::count(got.begin(), got.end(), true) == clients * requests);
  // What must not run twice has not; the others may have, on a slow machine.
  CATCH_CHECK(served == clients * requests / 2);
}

CATCH_TEST_CASE("the end of a transport ends its requests", "[transport]") {
  collector<result<payload>> answers;
  collector<responder> held;
  auto server = start(holding_daemon("server", held));
  auto caller = start(client("caller"));
  for (int i = 0; i < 3; ++i)
    caller->request(
      server->self().address, method::submit, {}, patient,
      [&answers](result<payload> got) { answers.put(std::move(got)); });
  held.wait(3);
  caller.reset();
  CATCH_REQUIRE(answers.size() == 3);
  for (const auto& got : answers.wait(3))
    CATCH_CHECK(error_of(got).code == ec::cancelled);
  server.reset();
  for (const auto& late : held.wait(3))
    late.reply(payload{});
}

CATCH_TEST_CASE("a reply given just before the end still leaves",
                "[transport]") {
  collector<result<payload>> answers;
  collector<responder> held;
  auto server = start(holding_daemon("server", held));
  const auto caller = start(client("caller"));
  caller->request(
    server->self().address, method::stop, {}, patient,
    [&answers](result<payload> got) { answers.put(std::move(got)); });
  held.wait(1)[0].reply(text_payload("bye"));
  server.reset();
  const auto got = answers.wait(1);
  CATCH_REQUIRE(got.size() == 1);
  CATCH_CHECK(text_of(value_of(got[0])) == "bye");
}

CATCH_TEST_CASE("who cannot start says why", "[transport]") {
  auto options = daemon("server");
  options.listen = "tcp://0.0.0.0:0";
  auto reason = error_of(transport::start(options));
  CATCH_CHECK(reason.code == ec::permission);
  CATCH_CHECK(reason.message.find("keygen") != std::string::npos);
  options.insecure = true;
  options.advertise = "here.example";
  CATCH_CHECK(
    start(options)->self().address.starts_with("tcp://here.example:"));
  for (const auto* forwarded :
       {"here.example:9000", "[2001:db8::1]:9000", "10.0.0.1:9000"}) {
    options.advertise = forwarded;
    CATCH_CHECK(start(options)->self().address == "tcp://" + options.advertise);
  }
  options.advertise = "2001:db8::1";
  CATCH_CHECK(
    start(options)->self().address.starts_with("tcp://[2001:db8::1]:"));
  options.advertise = "here.example:http";
  CATCH_CHECK(error_of(transport::start(options)).code == ec::invalid_argument);
  options.advertise.clear();
  options.route_to = "tcp://127.0.0.1:9";
  CATCH_CHECK(start(options)->self().address.starts_with("tcp://127.0.0.1:"));
  options.interface_name = "lo";
  CATCH_CHECK(start(options)->self().address.starts_with("tcp://127.0.0.1:"));
  options.interface_name = "no-such-one";
  CATCH_CHECK(error_of(transport::start(options)).code == ec::not_found);
  const auto first = start(daemon("first"));
  options = daemon("second");
  options.listen = first->self().address;
  reason = error_of(transport::start(options));
  CATCH_CHECK(reason.message.find(first->self().address) != std::string::npos);
  options.listen = "nonsense";
  CATCH_CHECK(error_of(transport::start(options)).code == ec::invalid_argument);
}
