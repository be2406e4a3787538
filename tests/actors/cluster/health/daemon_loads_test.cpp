#include "actors/cluster/health/daemon_loads.hpp"

#include "tests/support/catch.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

const daemon_loads::clock::time_point began{1000s};

daemon_health told_by(const std::string& daemon, std::uint64_t memory) {
  daemon_health out;
  out.daemon = daemon;
  out.cores = 1.5;
  out.memory_bytes = memory;
  out.peak_memory_bytes = memory + 1;
  out.mapped_bytes = memory + 2;
  out.threads = 3;
  out.descriptors = 4;
  out.most_descriptors = 5;
  out.disk_read_per_second = 6;
  out.disk_written_per_second = 7;
  out.sent_per_second = 8;
  out.received_per_second = 9;
  return out;
}

} // namespace

CATCH_TEST_CASE("what daemons take is known while they tell",
                "[cluster][health]") {
  daemon_loads loads;
  loads.take(told_by("a", 100), began);
  loads.take(told_by("b", 200), began);
  loads.take(told_by("a", 300), began + 3s);
  const auto status_at = [&loads](auto after) {
    std::vector<daemon_status> out(3);
    out[0].name = "a";
    out[1].name = "b";
    out[2].name = "c";
    loads.add_to(out, began + after);
    return out;
  };
  auto now = status_at(5s);
  CATCH_REQUIRE(now[0].load);
  const auto& load = *now[0].load;
  CATCH_CHECK(load.cores == 1.5);
  CATCH_CHECK(load.memory_bytes == 300);
  CATCH_CHECK(load.peak_memory_bytes == 301);
  CATCH_CHECK(load.mapped_bytes == 302);
  CATCH_CHECK(load.threads == 3);
  CATCH_CHECK(load.descriptors == 4);
  CATCH_CHECK(load.most_descriptors == 5);
  CATCH_CHECK(load.disk_read_per_second == 6);
  CATCH_CHECK(load.disk_written_per_second == 7);
  CATCH_CHECK(load.sent_per_second == 8);
  CATCH_CHECK(load.received_per_second == 9);
  CATCH_REQUIRE(now[1].load);
  CATCH_CHECK(now[1].load->memory_bytes == 200);
  CATCH_CHECK_FALSE(now[2].load);
  now = status_at(6s);
  CATCH_CHECK(now[0].load);
  CATCH_CHECK_FALSE(now[1].load); // It is silent.
  std::vector<daemon_status> lost(1);
  lost[0].name = "a";
  lost[0].state = daemon_state::lost;
  loads.add_to(lost, began + 3s);
  CATCH_CHECK_FALSE(lost[0].load);
  loads.forget_silent(began + 6s);
  CATCH_CHECK_FALSE(status_at(4s)[1].load);
  CATCH_CHECK(status_at(6s)[0].load);
}

CATCH_TEST_CASE("who is forgotten may tell no more than before",
                "[cluster][health]") {
  daemon_loads loads;
  const auto taken = [&loads](auto after) {
    int out = 0;
    for (int i = 0; i < 100; ++i)
      out += loads.admit("a", 1000, began + after).has_value();
    return out;
  };
  CATCH_CHECK(taken(0s) == 5);
  loads.forget_silent(began + 2s);
  CATCH_CHECK(taken(2s) == 2);
  loads.forget_silent(began + 1h);
  CATCH_CHECK(taken(1h) == 5);
  CATCH_CHECK_FALSE(loads.admit("b", health_limits::bytes + 1, began));
}

} // namespace graphmill::test
