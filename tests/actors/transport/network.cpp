#include "tests/actors/transport/network.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <future>

namespace graphmill::test {

transport_options daemon(std::string name) {
  auto out = client(std::move(name));
  out.listen = "tcp://127.0.0.1:0";
  return out;
}

transport_options client(std::string name) {
  transport_options out;
  out.name = std::move(name);
  out.seed = 1;
  out.liveness.beat_every = std::chrono::milliseconds{50};
  out.liveness.lost_after = std::chrono::seconds{200};
  out.liveness.greeted_within = std::chrono::seconds{200};
  out.liveness.refused_after = std::chrono::seconds{200};
  out.liveness.retry_first = std::chrono::milliseconds{10};
  out.liveness.retry_last = std::chrono::milliseconds{100};
  return out;
}

transport_options echo_daemon(std::string name) {
  auto out = daemon(std::move(name));
  out.on_request = [](incoming_request request) {
    request.reply.reply(std::move(request.data));
  };
  return out;
}

transport_options holding_daemon(std::string name, collector<responder>& held) {
  auto out = daemon(std::move(name));
  out.on_request = [&held](incoming_request request) {
    held.put(request.reply);
  };
  return out;
}

std::unique_ptr<transport> start(transport_options options) {
  return value_of(transport::start(std::move(options)));
}

result<payload> ask(transport& from, const std::string& address,
                    method method_id, payload data, call_options options) {
  // Shared, for a test that gives up must not take it away.
  auto answer = std::make_shared<std::promise<result<payload>>>();
  auto there = answer->get_future();
  from.request(
    address, method_id, std::move(data), options,
    [answer](result<payload> got) { answer->set_value(std::move(got)); });
  if (there.wait_for(std::chrono::seconds{250}) != std::future_status::ready)
    CATCH_FAIL("a request has not ended");
  return there.get();
}

payload text_payload(std::string_view text) {
  return {frame::copy(std::as_bytes(std::span{text.data(), text.size()})), {}};
}

std::string text_of(const payload& data) {
  return {reinterpret_cast<const char*>(data.body.data()), data.body.size()};
}

message hello_request(const hello_message& hello) {
  message out;
  out.head.kind = message_kind::request;
  out.head.method = method::hello;
  out.data.body = encode_hello(hello);
  return out;
}

message request_of(std::uint64_t id, method method_id, std::uint16_t attempt) {
  message out;
  out.head.kind = message_kind::request;
  out.head.id = id;
  out.head.method = method_id;
  out.head.attempt = attempt;
  out.head.time_left = std::chrono::seconds{10};
  return out;
}

} // namespace graphmill::test
