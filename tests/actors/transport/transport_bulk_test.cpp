#include "tests/actors/transport/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <memory>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

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

bool holds_only(const frame& from, int value) {
  for (const auto byte : from.bytes())
    if (byte != std::byte(value))
      return false;
  return true;
}

} // namespace

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
  options.on_request = [&block](incoming_request request) {
    request.reply.reply(request.method == method::gather ? block : payload{});
  };
  const auto server = start(std::move(options));
  const auto caller = start(client("caller"));
  value_of(ask(*caller, server->self().address, method::status));
  const auto send = [&](method method_id, payload data) {
    caller->request(server->self().address, method_id, std::move(data), patient,
                    [&order, method_id](result<payload> got) {
                      order.put(got ? method_id : method::unset);
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

CATCH_TEST_CASE("what is too large is refused at once", "[transport]") {
  auto options = daemon("server");
  options.on_request = [](incoming_request request) {
    request.reply.reply(bulk_payload(1, max_frame_bytes + 1, 1));
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
