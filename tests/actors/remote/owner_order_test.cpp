#include "actors/remote/owner_order.hpp"

#include "tests/support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace graphmill;

namespace {

using positions = std::vector<std::uint16_t>;

/// A run in which these daemons own every one of some parts.
deployment owned_by(const std::vector<std::string>& addresses,
                    const positions& owners, std::size_t parts = 1) {
  deployment out;
  for (const auto& address : addresses)
    out.daemons.push_back({address, address});
  out.owner_of_part.assign(parts, owners.front());
  part_replicas others;
  others.daemons.assign(owners.begin() + 1, owners.end());
  out.replicas_of_part.assign(parts, others);
  return out;
}

positions order_for(deployment of, std::uint16_t asker, part_id part = 0) {
  of.you = asker;
  return owner_order(of, part);
}

} // namespace

CATCH_TEST_CASE("owners near by are asked first", "[owner_order]") {
  const std::vector<std::string> addresses{
    "tcp://10.0.0.1:1", "tcp://10.0.0.2:1", "tcp://10.0.0.3:1",
    "tcp://10.0.0.2:2", "tcp://[fd00::7]:1"};
  const auto run = owned_by(addresses, {0, 1, 2, 4});
  CATCH_CHECK(order_for(run, 3).front() == 1); // On its host.
  CATCH_CHECK(order_for(run, 1).front() == 1); // Itself.
  CATCH_CHECK(order_for(run, 4).front() == 4);
  // Two on one host, of which one asks.
  const auto near = owned_by(addresses, {0, 1, 3});
  CATCH_CHECK(order_for(near, 1) == positions{1, 3, 0});
  CATCH_CHECK(order_for(near, 3) == positions{3, 1, 0});
  // Loopback has many addresses.
  const auto here = owned_by(
    {"tcp://127.0.0.1:1", "tcp://10.0.0.2:1", "tcp://127.0.0.2:1"}, {1, 2});
  CATCH_CHECK(order_for(here, 0) == positions{2, 1});
}

CATCH_TEST_CASE("owners that are equally near are asked evenly",
                "[owner_order]") {
  const auto run =
    owned_by({"a:1", "b:1", "c:1", "d:1", "e:1", "f:1"}, {4, 1}, 2);
  CATCH_CHECK(order_for(run, 0, 0) == positions{1, 4});
  CATCH_CHECK(order_for(run, 0, 1) == positions{4, 1});
  CATCH_CHECK(order_for(run, 2, 0) == positions{1, 4});
  CATCH_CHECK(order_for(run, 3, 0) == positions{4, 1});
  for (part_id part = 0; part < 2; ++part) {
    std::map<std::uint16_t, int> asked;
    for (const std::uint16_t asker : {0, 2, 3, 5})
      ++asked[order_for(run, asker, part).front()];
    CATCH_CHECK(asked[1] == 2);
    CATCH_CHECK(asked[4] == 2);
  }
}

CATCH_TEST_CASE("a part with one owner has an order of one", "[owner_order]") {
  deployment run;
  run.daemons = {{"a", "tcp://a:1"}, {"b", "no address"}};
  run.owner_of_part = {1};
  CATCH_CHECK(order_for(run, 0) == positions{1});
}
