#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sockets/connections/wire_io.hpp"
#include "messages/base/random.hpp"
#include "tests/actors/transport/network.hpp"
#include "tests/actors/transport/sockets/raw_connection.hpp"
#include "tests/actors/transport/sockets/raw_dealer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <unistd.h>

#include <stdexcept>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

message hello_message_of(const std::string& incarnation) {
  hello_message hello;
  hello.name = "raw";
  hello.incarnation = incarnation;
  return hello_request(hello);
}

/// A server that everybody may attack, and an honest caller of it.
struct target {
  target() {
    auto options = daemon("server");
    options.on_request = [this](incoming_request request) {
      served.put(request.method);
      request.reply.reply(text_payload("fine"));
    };
    options.on_log = [this](const std::string& line) { logged.put(line); };
    server = start(std::move(options));
    honest = start(client("honest"));
    check();
  }

  const std::string& address() const { return server->self().address; }

  /// The honest caller is served, over the connection that it has.
  void check() {
    CATCH_CHECK(text_of(value_of(ask(*honest, address(), method::submit)))
                == "fine");
    CATCH_CHECK(honest->statistics().retries == 0);
    CATCH_CHECK(honest->statistics().of(method::hello).requests_sent.messages
                == 2);
  }

  collector<method> served;
  collector<std::string> logged;
  std::unique_ptr<transport> server;
  std::unique_ptr<transport> honest;
};

std::vector<std::byte> random_bytes(random_stream& draws, std::size_t count) {
  std::vector<std::byte> out(count);
  for (auto& byte : out)
    byte = std::byte(draws.next());
  return out;
}

} // namespace

CATCH_TEST_CASE("random bytes on the port harm nobody",
                "[transport][hostile]") {
  target it;
  random_stream draws{stream_key(5, purpose::generate, 0, 0), 0};
  std::vector<std::unique_ptr<raw_connection>> held;
  for (int i = 0; i < 50; ++i) {
    held.push_back(std::make_unique<raw_connection>(it.address()));
    // Some begin as ZeroMQ does.
    auto bytes = random_bytes(draws, draws.below(3000));
    if (i % 2 == 0 && bytes.size() >= 12) {
      bytes[0] = std::byte{0xff};
      bytes[9] = std::byte{0x7f};
      bytes[10] = std::byte{3};
    }
    held.back()->write(bytes);
    if (i % 3 == 0)
      held.pop_back();
  }
  it.check();
  CATCH_CHECK(it.served.size() == 2);
}

CATCH_TEST_CASE("a malformed message costs its sender the connection",
                "[transport][hostile]") {
  target it;
  random_stream draws{stream_key(6, purpose::generate, 0, 0), 0};
  const auto good = encode_envelope(request_of(1, method::submit, 1).head);
  for (int i = 0; i < 40; ++i) {
    CATCH_INFO("message " << i);
    raw_dealer attacker{it.address()};
    auto bytes = random_bytes(draws, draws.below(200));
    if (i % 4 == 1)
      bytes.assign(good.bytes().begin(), good.bytes().end() - 1);
    if (i % 4 == 2)
      bytes.assign(good.bytes().begin(), good.bytes().begin() + 8);
    if (i % 4 == 3)
      bytes.clear();
    for (int part = 0; part < i % 3; ++part)
      attacker.socket().send(zmq::buffer(bytes), zmq::send_flags::sndmore);
    attacker.socket().send(zmq::buffer(bytes), zmq::send_flags::none);
    CATCH_CHECK(attacker.closed());
  }
  CATCH_CHECK(it.server->statistics().malformed == 40);
  // Those that are alike are summed up.
  CATCH_CHECK(it.logged.size() >= 1);
  CATCH_CHECK(it.logged.size() < 40);
  it.check();
  CATCH_CHECK(it.served.size() == 2);
}

CATCH_TEST_CASE("too many and too long frames cost the connection",
                "[transport][hostile]") {
  target it;
  {
    raw_dealer attacker{it.address()};
    for (int i = 0; i < 1000; ++i)
      attacker.socket().send(zmq::str_buffer("x"), zmq::send_flags::sndmore);
    attacker.socket().send(zmq::str_buffer("x"), zmq::send_flags::none);
    CATCH_CHECK(attacker.closed());
  }
  {
    raw_dealer attacker{it.address()};
    attacker.socket().send(zmq::message_t{2 * max_frame_bytes},
                           zmq::send_flags::none);
    CATCH_CHECK(attacker.closed());
  }
  it.check();
}

CATCH_TEST_CASE("a protocol breaker that has shaken hands is put out",
                "[transport][hostile]") {
  target it;
  raw_dealer attacker{it.address()};
  attacker.send(hello_message_of(std::string(32, 'e')));
  CATCH_CHECK(attacker.receive().head.method == method::hello);
  message wrong;
  wrong.head.kind = message_kind::reply;
  attacker.send(wrong);
  CATCH_CHECK(attacker.closed());
  it.check();
}

CATCH_TEST_CASE("a server answers requests of every attempt once",
                "[transport][hostile]") {
  // A caller written by hand: sees what comes over the wire.
  target it;
  raw_dealer caller{it.address()};
  caller.send(request_of(1, method::stop, 1));
  CATCH_CHECK(caller.receive().head.kind == message_kind::stranger);
  caller.send(hello_message_of(std::string(32, 'e')));
  CATCH_CHECK(caller.receive().head.method == method::hello);
  for (std::uint16_t attempt = 1; attempt <= 3; ++attempt) {
    caller.send(request_of(1, method::stop, attempt));
    const auto back = caller.receive();
    CATCH_CHECK(back.head.id == 1);
    CATCH_CHECK(back.head.attempt == attempt);
    CATCH_CHECK(text_of(back.data) == "fine");
  }
  CATCH_CHECK(it.served.size() == 2); // The honest one's, and one.
  CATCH_CHECK(it.server->statistics().duplicates == 2);
}

CATCH_TEST_CASE("callbacks that throw cost nobody else anything",
                "[transport][hostile]") {
  auto options = daemon("server");
  options.on_request = [](const incoming_request& request) {
    if (request.method == method::submit)
      throw 42; // Not even an exception of the library's.
    if (request.method == method::cancel)
      throw std::runtime_error("no");
    request.reply.reply(payload{});
  };
  options.on_peer = [](const peer_event&) { throw 42; };
  options.on_log = [](const std::string&) { throw std::runtime_error("full"); };
  const auto server = start(std::move(options));
  const auto caller = start(client("caller"));
  const auto& there = server->self().address;
  CATCH_CHECK(error_of(ask(*caller, there, method::submit)).code
              == ec::internal);
  CATCH_CHECK(error_of(ask(*caller, there, method::cancel)).code
              == ec::internal);
  CATCH_CHECK(ask(*caller, there, method::status).has_value());
}

CATCH_TEST_CASE("a newer protocol is refused with a sentence",
                "[transport][hostile]") {
  target it;
  raw_dealer caller{it.address()};
  auto hello = hello_message_of(std::string(32, 'e'));
  hello.head.version = protocol_version + 1;
  caller.send(hello);
  const auto back = caller.receive();
  CATCH_CHECK(back.head.failure.code == ec::version_mismatch);
  CATCH_CHECK(back.head.failure.message.find("same version")
              != std::string::npos);
  it.check();
}

namespace {

/// A server written by hand, that answers as the test says.
class raw_router {
public:
  raw_router() : socket_(context_, ZMQ_ROUTER) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.bind("tcp://127.0.0.1:*");
  }

  std::string address() { return socket_.get(zmq::sockopt::last_endpoint); }

  arrival receive() {
    for (int i = 0; i < 60000; ++i) {
      if (auto got = receive_message(socket_, true, counters_))
        return std::move(*got);
      ::usleep(1000);
    }
    CATCH_FAIL("no message came");
    return {};
  }

  void send(const std::string& connection_id, const message& outgoing) {
    CATCH_REQUIRE(send_message(socket_, &connection_id, outgoing, counters_)
                  == sent::done);
  }

  /// Answers hellos and beats, up to the next request.
  arrival next_request() {
    for (;;) {
      auto got = receive();
      CATCH_REQUIRE(got.content);
      if (got.content->head.method == method::hello)
        greet(got);
      else if (got.content->head.kind == message_kind::request)
        return got;
    }
  }

  void greet(const arrival& question,
             std::uint16_t version = protocol_version) {
    auto hello = value_of(decode_hello(question.content->data.body));
    hello.name = "raw server";
    hello.incarnation = std::string(32, 'd');
    message back;
    back.head.version = version;
    back.head.kind = message_kind::reply;
    back.head.method = method::hello;
    back.data.body = encode_hello(hello);
    send(question.connection_id, back);
  }

  zmq::socket_t& socket() { return socket_; }

private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  traffic counters_;
};

} // namespace

CATCH_TEST_CASE("a request whose first attempt is dropped is repeated",
                "[transport][hostile]") {
  collector<result<payload>> answers;
  raw_router server;
  auto options = client("caller");
  const auto caller = start(std::move(options));
  caller->request(
    server.address(), method::submit, text_payload("x"), {200s, 2000, 200s},
    [&answers](result<payload> got) { answers.put(std::move(got)); });
  const auto first = server.next_request();
  CATCH_CHECK(first.content->head.attempt == 1);
  auto second = server.next_request();
  CATCH_CHECK(second.content->head.attempt == 2);
  CATCH_CHECK(second.content->head.id == first.content->head.id);
  CATCH_CHECK(text_of(second.content->data) == "x");
  auto back = *second.content;
  back.head.kind = message_kind::reply;
  server.send(second.connection_id, back);
  const auto got = answers.wait(1);
  CATCH_REQUIRE(got.size() == 1);
  CATCH_CHECK(text_of(value_of(got[0])) == "x");
}

CATCH_TEST_CASE("a caller survives what a server sends",
                "[transport][hostile]") {
  collector<result<payload>> answers;
  raw_router server;
  const auto caller = start(client("caller"));
  const auto begin = [&](collector<result<payload>>& answers) {
    caller->request(
      server.address(), method::submit, {}, {200s, 5, 200s},
      [&answers](result<payload> got) { answers.put(std::move(got)); });
  };
  begin(answers);
  auto asked = server.next_request();
  // Garbage makes it connect anew, and ask again.
  server.socket().send(zmq::buffer(asked.connection_id),
                       zmq::send_flags::sndmore);
  server.socket().send(zmq::str_buffer("garbage!garbage!"),
                       zmq::send_flags::none);
  const auto again = server.next_request();
  CATCH_CHECK(again.connection_id != asked.connection_id);
  CATCH_CHECK(again.content->head.id == asked.content->head.id);
  CATCH_CHECK(again.content->head.attempt > 1);
  auto back = *again.content;
  back.head.kind = message_kind::reply;
  server.send(again.connection_id, back);
  CATCH_REQUIRE(answers.wait(1).size() == 1);
  value_of(answers.wait(1)[0]);
  CATCH_CHECK(caller->statistics().malformed == 1);
}

CATCH_TEST_CASE("a server of a newer protocol is refused by the caller",
                "[transport][hostile]") {
  collector<result<payload>> answers;
  raw_router server;
  const auto caller = start(client("caller"));
  caller->request(
    server.address(), method::submit, {}, patient,
    [&answers](result<payload> got) { answers.put(std::move(got)); });
  server.greet(server.receive(), protocol_version + 1);
  const auto got = answers.wait(1);
  CATCH_REQUIRE(got.size() == 1);
  CATCH_CHECK(error_of(got[0]).code == ec::version_mismatch);
}
