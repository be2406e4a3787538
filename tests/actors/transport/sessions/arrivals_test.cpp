#include "actors/transport/sessions/arrivals.hpp"
#include "actors/transport/sockets/descriptors.hpp"
#include "tests/support/catch.hpp"

#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

using descriptors = std::vector<int>;

CATCH_TEST_CASE("of too many strangers, the oldest are ended",
                "[transport][arrivals]") {
  arrivals it{3, 10s};
  session_time now{1h};
  for (int i = 1; i <= 3; ++i)
    it.opened(now, i);
  it.settled(2); // Has said who it is.
  it.opened(now, 4);
  CATCH_CHECK(it.excess(now).empty());
  it.opened(now, 5);
  CATCH_CHECK(it.excess(now) == descriptors{1});
  CATCH_CHECK(it.excess(now).empty());
  CATCH_CHECK(it.is_stranger(3));
  CATCH_CHECK_FALSE(it.is_stranger(2));
  CATCH_CHECK(it.older_half() == descriptors{3, 4});
  CATCH_CHECK(it.strangers() == 1);
}

CATCH_TEST_CASE("a stranger that stays one is ended", "[transport][arrivals]") {
  arrivals it{3, 10s};
  const session_time start{1h};
  CATCH_CHECK(it.next_tick() == session_time::max());
  it.opened(start, 1);
  it.opened(start + 4s, 2);
  CATCH_CHECK(it.next_tick() == start + 10s);
  CATCH_CHECK(it.excess(start + 9s).empty());
  CATCH_CHECK(it.excess(start + 10s) == descriptors{1});
  it.opened(start + 11s, 2); // The number is of another connection now.
  CATCH_CHECK(it.excess(start + 14s).empty());
  it.settled(2);
  it.settled(2);
  CATCH_CHECK(it.excess(start + 1h).empty());
}

CATCH_TEST_CASE("descriptors are shared out within their limit",
                "[transport][arrivals]") {
  for (const std::uint64_t limit : {256, 512, 1024, 4096, 65536}) {
    const auto quota = split_descriptors(limit);
    CATCH_CHECK(quota.reserve + quota.strangers
                  + quota.peers * descriptors_per_peer
                <= limit);
    CATCH_CHECK(quota.reserve >= 32);
  }
  CATCH_CHECK(split_descriptors(1024).peers == 76);
  CATCH_CHECK(split_descriptors(std::uint64_t{1} << 20).peers == 4096);
  CATCH_CHECK(split_descriptors(10).peers == 1); // Of no use, but no nonsense.
}
