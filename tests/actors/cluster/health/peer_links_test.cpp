#include "actors/cluster/health/peer_links.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

namespace graphmill::test {

using namespace std::chrono_literals;

CATCH_TEST_CASE("peers are told of with how their connections are",
                "[cluster][health]") {
  const std::chrono::steady_clock::time_point now{1h};
  peer_flows run;
  run.begin("r", {"b", "c", "d", "e"}, {}, now);
  std::vector<peer_health> peers(1);
  peers[0].name = "b";
  add_links(peers,
            {{"b", link_state::ready, now - 4s, {}},
             {"c", link_state::broken, now - 3s, "cut"},
             // Nothing goes there, and all is well.
             {"d", link_state::ready, now - 4s, {}},
             {"e", link_state::silent, now - 2s, {}},
             // None of the run.
             {"f", link_state::lost, now - 2s, "gone"}},
            run, now);
  CATCH_REQUIRE(peers.size() == 3);
  CATCH_CHECK((peers[0].state == actor_state::running));
  CATCH_CHECK(peers[0].in_state == 4);
  CATCH_CHECK(peers[1].name == "c");
  CATCH_CHECK((peers[1].state == actor_state::restarting));
  CATCH_CHECK(peers[1].why == "cut");
  CATCH_CHECK(peers[2].name == "e");
  CATCH_CHECK((peers[2].state == actor_state::waiting));
  CATCH_CHECK_FALSE(peers[2].why.empty());
}

CATCH_TEST_CASE("what is wrong with connections is told in words",
                "[cluster][health]") {
  const std::chrono::steady_clock::time_point now{1h};
  CATCH_CHECK(trouble_of({"b", link_state::ready, now - 4s, {}}, now).empty());
  CATCH_CHECK(trouble_of({"b", link_state::opening, now, {}}, now).empty());
  CATCH_CHECK(trouble_of({"b", link_state::silent, now - 4s, {}}, now)
              == "leaves signs of life unanswered for 4 s");
  CATCH_CHECK(trouble_of({"b", link_state::broken, now - 2500ms, "cut"}, now)
              == "its connections are broken for 2 s: cut");
}

CATCH_TEST_CASE("no more peers are told of than a report has room for",
                "[cluster][health]") {
  std::vector<std::string> names;
  std::vector<link_standing> links;
  for (std::size_t i = 0; i < health_limits::peers + 5; ++i) {
    names.push_back("d" + std::to_string(i));
    links.push_back({names.back(), link_state::lost, {}, "gone"});
  }
  peer_flows run;
  run.begin("r", names);
  std::vector<peer_health> peers;
  add_links(peers, links, run, peer_flows::clock::now());
  CATCH_CHECK(peers.size() == health_limits::peers);
}

} // namespace graphmill::test
