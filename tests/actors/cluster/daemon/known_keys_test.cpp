#include "actors/cluster/daemon/known_keys.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

namespace graphmill::test::known_key {

key_holder daemon_of(const std::string& name) {
  return {key_role::daemon, name, "key of " + name};
}

deployment run_on(std::string run, const std::vector<std::string>& daemons,
                  std::vector<std::string> beside = {}) {
  deployment out;
  out.run = std::move(run);
  for (const auto& name : daemons) {
    out.daemons.push_back({name, "tcp://" + name});
    out.daemon_keys.push_back("key of " + name);
  }
  out.beside = std::move(beside);
  return out;
}

CATCH_TEST_CASE("keys of the daemons of all runs that are on are expected at "
                "their addresses",
                "[roles]") {
  key_table admitted;
  admitted.add(key_holder{key_role::coordinator, "first", "key of first"});
  known_keys keys;
  keys.hear({daemon_of("a"), daemon_of("b"), daemon_of("c")});
  CATCH_CHECK(keys.with(admitted).servers.empty());
  keys.begin(run_on("r", {"a", "b"}), admitted);
  keys.begin(run_on("s", {"b", "c"}, {"r"}), admitted);
  auto table = keys.with(admitted);
  CATCH_CHECK(table.servers.size() == 3);
  CATCH_CHECK(table.servers.at("tcp://a") == "key of a");
  CATCH_CHECK(table.find("key of c") != nullptr);
  keys.begin(run_on("t", {"c"}, {"s"}), admitted); // The other one is over.
  table = keys.with(admitted);
  CATCH_CHECK(table.servers.size() == 2);
  CATCH_CHECK_FALSE(table.servers.contains("tcp://a"));
  // Who has just joined is known by the run before the coordinator tells it.
  keys.begin(run_on("u", {"d", "first"}), admitted);
  table = keys.with(admitted);
  CATCH_CHECK(table.servers.size() == 2);
  CATCH_CHECK(table.find("key of d") != nullptr);
  // Who was revoked since is let in no more.
  keys.hear({daemon_of("a")});
  table = keys.with(admitted);
  CATCH_CHECK(table.find("key of d") == nullptr);
  CATCH_CHECK(table.servers.size() == 1);
}

} // namespace graphmill::test::known_key
