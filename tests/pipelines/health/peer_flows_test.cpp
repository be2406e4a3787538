#include "pipelines/health/peer_flows.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <string>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

/// All kinds, each with a number of its own.
void add_to_all(peer_flow& to) {
  to.asked += 10;
  to.served += 20;
  to.gradients_sent += 1000;
  to.gradients_received += 2000;
  to.data_sent += 400;
  to.data_received += 600;
}

} // namespace

CATCH_TEST_CASE("flows are added to what gauges tell of a peer",
                "[pipelines][health]") {
  const peer_flows::clock::time_point begin{1h};
  peer_flows flows;
  flows.begin("r", {"b", "c", "d"}, {}, begin);
  add_to_all(*flows.to("b"));
  ++flows.to("d")->served;
  peer_flow_sampler sampler;
  std::vector<peer_health> peers{{"b", 3, 0.5, 7, 8, 9}};
  sampler.add_to(peers, flows, begin + 2s);
  // Nothing has gone to the other one.
  CATCH_REQUIRE(peers.size() == 2);
  CATCH_CHECK(peers[0].name == "b");
  CATCH_CHECK(peers[0].requests == 3);
  CATCH_CHECK(peers[0].mean_round_trip == 0.5);
  CATCH_CHECK(peers[0].sent_per_second == Approx(7 + 700));
  CATCH_CHECK(peers[0].received_per_second == Approx(8 + 1300));
  CATCH_CHECK(peers[0].asked_per_second == Approx(9 + 5));
  CATCH_CHECK(peers[0].served_per_second == Approx(10));
  CATCH_CHECK(peers[0].gradients_sent_per_second == Approx(500));
  CATCH_CHECK(peers[0].gradients_received_per_second == Approx(1000));
  CATCH_CHECK(peers[1].name == "d");
  CATCH_CHECK(peers[1].requests == 0);
  CATCH_CHECK(peers[1].served_per_second == Approx(0.5));
}

CATCH_TEST_CASE("flows are told of over a window, and of each attempt anew",
                "[pipelines][health]") {
  const peer_flows::clock::time_point begin{1h};
  peer_flows flows;
  flows.begin("r", {"b"}, {}, begin);
  peer_flow_sampler sampler;
  const auto rate = [&](peer_flows::clock::time_point now) {
    std::vector<peer_health> peers;
    sampler.add_to(peers, flows, now);
    return peers.empty() ? -1.0 : peers[0].asked_per_second;
  };
  CATCH_CHECK(rate(begin + 1s) == -1);
  flows.to("b")->asked += 100;
  CATCH_CHECK(rate(begin + 2s) == Approx(50));
  CATCH_CHECK(rate(begin + 4s) == Approx(25));
  for (int i = 5; i <= 9; ++i)
    rate(begin + i * 1s);
  CATCH_CHECK(rate(begin + 10s) == 0); // Long ago.
  flows.begin("r", {"b"}, {}, begin + 20s);
  CATCH_CHECK(rate(begin + 20s) == -1); // No time has gone by.
  flows.to("b")->asked += 30;
  CATCH_CHECK(rate(begin + 23s) == Approx(10));
}

CATCH_TEST_CASE("what is counted for runs that go on beside another one goes "
                "on, too",
                "[pipelines][health]") {
  const peer_flows::clock::time_point begin{1h};
  peer_flows flows;
  flows.begin("r", {"b", "c"}, {}, begin);
  flows.to("b")->asked += 5;
  flows.to("c")->asked += 7;
  flows.begin("s", {"c", "d"}, {"r"}, begin + 1s);
  CATCH_CHECK(flows.to("b")->asked == 5);
  CATCH_CHECK(flows.to("c")->asked == 7);
  CATCH_CHECK(flows.to("d")->asked == 0);
  CATCH_CHECK(flows.read(begin + 2s).begun == begin);
  flows.begin("t", {"d"}, {"s"}, begin + 3s); // The first one is over.
  CATCH_CHECK(flows.to("b") == nullptr);
  CATCH_CHECK(flows.to("c")->asked == 7);
  flows.begin("t", {"c"}, {}, begin + 4s); // Nobody goes on.
  CATCH_CHECK(flows.to("c")->asked == 0);
  CATCH_CHECK(flows.to("d") == nullptr);
  CATCH_CHECK(flows.read(begin + 5s).begun == begin + 4s);
}

CATCH_TEST_CASE("strangers are not counted, and a report is not outgrown",
                "[pipelines][health]") {
  const peer_flows::clock::time_point begin{1h};
  peer_flows flows;
  CATCH_CHECK(flows.to("b") == nullptr);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < health_limits::peers + 10; ++i)
    names.push_back(std::to_string(i));
  names.emplace_back(health_limits::text + 1, 'x');
  flows.begin("r", names, {}, begin);
  CATCH_CHECK(flows.to("nobody") == nullptr);
  for (const auto& name : names)
    add_to_all(*flows.to(name));
  std::vector<peer_health> peers(1);
  peers[0].name = "z";
  peer_flow_sampler sampler;
  sampler.add_to(peers, flows, begin + 1s);
  CATCH_CHECK(peers.size() == health_limits::peers);
  CATCH_CHECK(peers[0].name == "z");
}
