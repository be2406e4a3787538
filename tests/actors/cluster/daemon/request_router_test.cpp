#include "actors/cluster/daemon/request_router.hpp"

#include "messages/wire/log.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace graphmill::test {

namespace {

peer_identity peer_with(key_role role, std::string address) {
  peer_identity out{"somebody", "", std::move(address)};
  out.holder.role = role;
  return out;
}

/// What a router answers at once, without any actor.
result<payload> routed(request_router& router, peer_identity from,
                       payload data) {
  std::optional<result<payload>> out;
  incoming_request request;
  request.method = method::log_lines;
  request.from = std::move(from);
  request.data = std::move(data);
  request.reply =
    responder{[&out](result<payload> answer) { out = std::move(answer); }};
  router.serve(request);
  CATCH_REQUIRE(out.has_value());
  return *std::move(out);
}

} // namespace

CATCH_TEST_CASE("the lines of a daemon's log are told to its coordinator alone",
                "[agent][roles][logs]") {
  const std::string address = "tcp://127.0.0.1:1";
  const auto lines = std::make_shared<log_ring>(log_ring::of_daemon);
  lines->add({.text = "one"});
  request_router router{std::make_shared<const rank_inboxes>(), lines};
  const auto all = encode(log_request{});
  for (const auto role : {key_role::all, key_role::coordinator}) {
    const auto page = value_of(decode_log_reply(
      value_of(routed(router, peer_with(role, address), all))));
    CATCH_REQUIRE(page.lines.size() == 1);
    CATCH_CHECK(page.lines[0].text == "one");
    CATCH_CHECK(error_of(routed(router, peer_with(role, {}), all)).code
                == ec::permission);
  }
  for (const auto role : {key_role::daemon, key_role::client, key_role::reader})
    CATCH_CHECK(error_of(routed(router, peer_with(role, address), all)).code
                == ec::permission);
  const auto leader = peer_with(key_role::coordinator, address);
  CATCH_CHECK(error_of(routed(router, leader, {})).code == ec::invalid_data);
  // A coordinator has its own at hand.
  request_router of_coordinator{std::make_shared<const rank_inboxes>()};
  CATCH_CHECK(error_of(routed(of_coordinator, leader, all)).code
              == ec::permission);
}

} // namespace graphmill::test
