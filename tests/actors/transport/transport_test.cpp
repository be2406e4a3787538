#include "actors/transport/port_probe.hpp"

#include "tests/actors/transport/network.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

void echo(incoming_request what) {
  what.reply.reply(std::move(what.data));
}

transport_options echo_daemon(std::string name) {
  auto out = daemon(std::move(name));
  out.on_request = echo;
  return out;
}

/// `count` frames of `bytes` each, that all share one block.
payload bulk_payload(std::size_t count, std::size_t bytes, int value) {
  auto block =
    std::make_shared<std::vector<std::byte>>(count * bytes, std::byte(value));
  payload out;
  for (std::size_t i = 0; i < count; ++i)
    out.bulk.push_back(
      frame::own(block, std::span{*block}.subspan(i * bytes, bytes)));
  return out;
}

bool holds_only(const frame& what, int value) {
  for (const auto byte : what.bytes())
    if (byte != std::byte(value))
      return false;
  return true;
}

} // namespace

CATCH_TEST_CASE("a request gets its reply", "[transport]") {
  struct question {
    method what;
    peer_identity from;
    bool in_time;
  };
  collector<question> questions;
  auto options = daemon("server");
  options.on_request = [&questions](incoming_request what) {
    questions.put({what.method, what.from,
                   what.deadline > std::chrono::steady_clock::now()});
    what.reply.reply(text_payload("hello " + text_of(what.data)));
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
  CATCH_CHECK(asked[0].what == method::submit);
  CATCH_CHECK(asked[0].from == caller->self());
  CATCH_CHECK(asked[0].in_time);
}

CATCH_TEST_CASE("errors of the server arrive as they are", "[transport]") {
  auto options = daemon("server");
  options.on_request = [](incoming_request what) {
    if (what.method == method::status)
      what.reply.reply(fail(ec::not_found, "no run {}", 7));
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

CATCH_TEST_CASE("bulk frames arrive whole, aligned and not copied",
                "[transport]") {
  for (const auto keys : {false, true}) {
    CATCH_INFO("with keys: " << keys);
    auto options = echo_daemon("server");
    auto asks = client("caller");
    if (keys)
      options.keys = asks.keys = value_of(make_keys());
    const auto server = start(std::move(options));
    const auto caller = start(std::move(asks));
    auto sent = bulk_payload(8, max_frame_bytes, 7);
    sent.bulk.push_back(frame{});
    sent.bulk.push_back(frame::copy(std::vector<std::byte>(13, std::byte{3})));
    const auto got = value_of(
      ask(*caller, server->self().address, method::gather, std::move(sent)));
    CATCH_REQUIRE(got.bulk.size() == 10);
    for (std::size_t i = 0; i < 8; ++i) {
      CATCH_CHECK(got.bulk[i].size() == max_frame_bytes);
      CATCH_CHECK(holds_only(got.bulk[i], 7));
    }
    CATCH_CHECK(got.bulk[8].empty());
    CATCH_CHECK(got.bulk[9].size() == 13);
    for (const auto& part : got.bulk)
      CATCH_CHECK(reinterpret_cast<std::uintptr_t>(part.data()) % 8 == 0);
    const auto counted = caller->statistics();
    CATCH_CHECK(counted.copied_frames == 0);
    const auto& line = counted.of(method::gather);
    CATCH_CHECK(line.requests_sent.messages == 1);
    CATCH_CHECK(line.replies_received.messages == 1);
    CATCH_CHECK(line.requests_sent.bytes > 8 * max_frame_bytes);
    CATCH_CHECK(line.requests_sent.bytes < 8 * max_frame_bytes + 1000);
  }
}

CATCH_TEST_CASE("frames that are sent are let go of", "[transport]") {
  const auto server = start(echo_daemon("server"));
  std::weak_ptr<const void> watched;
  {
    const auto caller = start(client("caller"));
    auto sent = bulk_payload(1, max_frame_bytes, 1);
    watched = sent.bulk[0].owner();
    CATCH_CHECK_FALSE(watched.expired());
    value_of(
      ask(*caller, server->self().address, method::gather, std::move(sent)));
  }
  CATCH_CHECK(watched.expired());
}

CATCH_TEST_CASE("control passes data by", "[transport]") {
  // Many MiB are on their way in both directions before the first control
  // request is asked. Behind them, it would be answered last.
  constexpr std::size_t data_requests = 16;
  constexpr std::size_t control_requests = 4;
  collector<method> order;
  const auto block = bulk_payload(8, max_frame_bytes, 1);
  auto options = daemon("server");
  options.on_request = [&block](incoming_request what) {
    what.reply.reply(what.method == method::gather ? block : payload{});
  };
  const auto server = start(std::move(options));
  const auto caller = start(client("caller"));
  value_of(ask(*caller, server->self().address, method::status));
  const auto send = [&](method what, payload data) {
    caller->request(server->self().address, what, std::move(data), patient,
                    [&order, what](result<payload> got) {
                      order.put(got ? what : method::unset);
                    });
  };
  for (std::size_t i = 0; i < data_requests; ++i)
    send(method::gather, block);
  for (std::size_t i = 0; i < control_requests; ++i)
    send(method::status, {});
  const auto got = order.wait(data_requests + control_requests);
  CATCH_REQUIRE(got.size() == data_requests + control_requests);
  CATCH_REQUIRE(std::count(got.begin(), got.end(), method::unset) == 0);
  std::size_t before = 0;
  for (std::size_t i = 0, controls = 0; controls < control_requests; ++i) {
    controls += got[i] == method::status;
    before += got[i] != method::status;
  }
  CATCH_INFO(before << " data replies came before the last control reply");
  CATCH_CHECK(before < data_requests / 2);
}

CATCH_TEST_CASE("a request that nobody answers ends at its deadline",
                "[transport]") {
  collector<responder> held;
  auto options = daemon("server");
  options.on_request = [&held](incoming_request what) {
    if (what.method == method::submit)
      held.put(what.reply);
    else
      what.reply.reply(payload{});
  };
  const auto server = start(std::move(options));
  const auto& address = server->self().address;
  const auto caller = start(client("caller"));
  value_of(ask(*caller, address, method::status));
  const auto got =
    error_of(ask(*caller, address, method::submit, {}, {2s, 20, 200s}));
  CATCH_CHECK(got.code == ec::timeout);
  CATCH_CHECK(got.message.find("server (tcp://") != std::string::npos);
  CATCH_CHECK(got.message.find("submit within 2000 ms") != std::string::npos);
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
  options.on_request = [&held](incoming_request what) {
    if (what.method == method::join)
      held.put(what.reply);
    else
      what.reply.reply(text_payload("old"));
  };
  auto server = start(options);
  const auto address = server->self().address;
  auto asks = client("caller");
  asks.on_peer = [&events](const peer_event& what) { events.put(what); };
  const auto caller = start(std::move(asks));
  caller->keep(address);
  CATCH_REQUIRE(events.wait(1).size() == 1);
  CATCH_CHECK(events.wait(1)[0].what == peer_event::kind::up);
  CATCH_CHECK(events.wait(1)[0].who == server->self());
  caller->request(
    address, method::join, {}, patient,
    [&answers](result<payload> got) { answers.put(std::move(got)); });
  CATCH_REQUIRE(held.wait(1).size() == 1);
  const auto before = server->self();
  server.reset();
  options.listen = address;
  options.on_request = [](incoming_request what) {
    what.reply.reply(text_payload("new"));
  };
  server = start(options);
  // What the old one had is gone, and that is told.
  const auto lost = answers.wait(1);
  CATCH_REQUIRE(lost.size() == 1);
  CATCH_CHECK(error_of(lost[0]).code == ec::unavailable);
  CATCH_CHECK(error_of(lost[0]).message.find("restarted") != std::string::npos);
  const auto news = events.wait(2);
  CATCH_REQUIRE(news.size() >= 2);
  CATCH_CHECK(news.back().what == peer_event::kind::replaced);
  CATCH_CHECK(news.back().who == server->self());
  CATCH_CHECK(news.back().who.incarnation != before.incarnation);
  CATCH_CHECK(text_of(value_of(ask(*caller, address, method::submit)))
              == "new");
}

CATCH_TEST_CASE("both ends tell when the other is there, changed and gone",
                "[transport]") {
  collector<peer_event> seen_by_server;
  collector<peer_event> seen_by_caller;
  auto options = echo_daemon("server");
  options.on_peer = [&](const peer_event& what) { seen_by_server.put(what); };
  auto server = start(std::move(options));
  auto asks = client("caller");
  asks.on_peer = [&](const peer_event& what) { seen_by_caller.put(what); };
  auto caller = start(std::move(asks));
  const auto who = caller->self();
  caller->keep(server->self().address);
  seen_by_caller.wait(1);
  server->announce(readiness::draining);
  auto got = seen_by_caller.wait(2);
  CATCH_REQUIRE(got.size() == 2);
  CATCH_CHECK(got[1].what == peer_event::kind::changed);
  CATCH_CHECK(got[1].readiness == readiness::draining);
  caller.reset();
  got = seen_by_server.wait(2);
  CATCH_REQUIRE(got.size() == 2);
  CATCH_CHECK(got[0].what == peer_event::kind::up);
  CATCH_CHECK(got[1].what == peer_event::kind::left);
  for (const auto& event : got) {
    CATCH_CHECK(event.inbound);
    CATCH_CHECK(event.who == who);
  }
  asks = client("watcher");
  asks.liveness.lost_after = 500ms;
  asks.on_peer = [&](const peer_event& what) { seen_by_caller.put(what); };
  const auto watcher = start(std::move(asks));
  watcher->keep(server->self().address);
  CATCH_REQUIRE(seen_by_caller.wait(3).size() == 3);
  server.reset();
  got = seen_by_caller.wait(4);
  CATCH_REQUIRE(got.size() == 4);
  CATCH_CHECK(got[3].what == peer_event::kind::lost);
  CATCH_CHECK(got[3].who.name == "server");
  CATCH_CHECK_FALSE(got[3].reason.empty());
}

CATCH_TEST_CASE("a process that has ended is lost before the beats are",
                "[transport]") {
  collector<peer_event> events;
  auto server = start(echo_daemon("server"));
  auto asks = client("caller");
  asks.liveness.refused_after = 100ms;
  asks.on_peer = [&events](const peer_event& what) { events.put(what); };
  const auto caller = start(std::move(asks));
  caller->keep(server->self().address);
  CATCH_REQUIRE(events.wait(1).size() == 1);
  server.reset();
  const auto got = events.wait(2); // For 200 s beats may fail to come.
  CATCH_REQUIRE(got.size() == 2);
  CATCH_CHECK(got[1].what == peer_event::kind::lost);
  CATCH_CHECK(got[1].reason == "nobody listens there");
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

CATCH_TEST_CASE("fifty clients at once", "[transport]") {
  collector<bool> answers;
  std::atomic<int> served{0};
  auto options = daemon("server");
  options.on_request = [&served](incoming_request what) {
    served += what.method == method::submit;
    echo(std::move(what));
  };
  const auto server = start(std::move(options));
  constexpr int clients = 50;
  constexpr int requests = 20;
  std::vector<std::unique_ptr<transport>> all;
  for (int i = 0; i < clients; ++i)
    all.push_back(start(client("client " + std::to_string(i))));
  for (int r = 0; r < requests; ++r)
    for (int i = 0; i < clients; ++i) {
      const auto text = std::to_string(i) + '/' + std::to_string(r);
      all[static_cast<std::size_t>(i)]->request(
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
  auto options = daemon("server");
  options.on_request = [&held](incoming_request what) { held.put(what.reply); };
  auto server = start(std::move(options));
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
  auto options = daemon("server");
  options.on_request = [&held](incoming_request what) { held.put(what.reply); };
  auto server = start(std::move(options));
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

CATCH_TEST_CASE("what is too large is refused at once", "[transport]") {
  auto options = daemon("server");
  options.on_request = [](incoming_request what) {
    what.reply.reply(bulk_payload(1, max_frame_bytes + 1, 1));
  };
  const auto server = start(std::move(options));
  auto asks = client("caller");
  asks.queue_bytes = 3 << 20;
  const auto caller = start(std::move(asks));
  const auto& address = server->self().address;
  CATCH_CHECK(error_of(ask(*caller, address, method::gather,
                           bulk_payload(1, max_frame_bytes + 1, 1)))
                .code
              == ec::invalid_argument);
  CATCH_CHECK(
    error_of(ask(*caller, address, method::gather, bulk_payload(65, 1, 1))).code
    == ec::invalid_argument);
  CATCH_CHECK(error_of(ask(*caller, address, method::gather)).code
              == ec::internal);
}

CATCH_TEST_CASE("who cannot start says why", "[transport]") {
  auto options = daemon("server");
  options.listen = "tcp://0.0.0.0:0";
  auto why = error_of(transport::start(options));
  CATCH_CHECK(why.code == ec::permission);
  CATCH_CHECK(why.message.find("keygen") != std::string::npos);
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
  why = error_of(transport::start(options));
  CATCH_CHECK(why.message.find(first->self().address) != std::string::npos);
  options.listen = "nonsense";
  CATCH_CHECK(error_of(transport::start(options)).code == ec::invalid_argument);
}
