#include "messages/base/random.hpp"
#include "pipelines/flow/credit_ledger.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <set>

using namespace graphmill;

namespace {

using sequences = std::vector<credit_ledger::sequence>;

} // namespace

CATCH_TEST_CASE("items enter in order, as they fit", "[flow][credit_ledger]") {
  credit_ledger ledger{{100, 3}};
  CATCH_CHECK(ledger.request(1, 50).empty()); // 0 has not asked yet
  CATCH_CHECK(ledger.request(0, 60) == sequences{0});
  CATCH_CHECK(ledger.request(2, 10).empty()); // would fit, but 1 is first
  CATCH_CHECK(ledger.statistics().waiting == 2);
  CATCH_CHECK(ledger.shrink(0, 40) == sequences{1, 2});
  CATCH_CHECK(ledger.statistics().used_bytes == 100);
  CATCH_CHECK(ledger.statistics().oldest == 0);
  CATCH_CHECK(ledger.request(3, 0).empty()); // three items at most
  CATCH_CHECK(ledger.release(1) == sequences{3});
  CATCH_CHECK(ledger.held(1) == std::nullopt);
  CATCH_CHECK(ledger.held(0) == 40);
  CATCH_CHECK(ledger.statistics().peak_bytes == 100);
}

CATCH_TEST_CASE("an item beyond the budget runs alone",
                "[flow][credit_ledger]") {
  credit_ledger ledger{{100, 8}, 5};
  CATCH_CHECK(ledger.request(5, 10) == sequences{5});
  CATCH_CHECK(ledger.request(6, 500).empty());
  CATCH_CHECK(ledger.request(7, 1).empty());
  CATCH_CHECK(ledger.release(5) == sequences{6});
  CATCH_CHECK(ledger.statistics().oversize == 1);
  CATCH_CHECK(ledger.statistics().peak_bytes == 500);
  CATCH_CHECK(ledger.release(6) == sequences{7});
}

CATCH_TEST_CASE("repeated and unknown calls change nothing",
                "[flow][credit_ledger]") {
  credit_ledger ledger{{100, 8}};
  CATCH_CHECK(ledger.request(0, 80) == sequences{0});
  CATCH_CHECK(ledger.shrink(0, 30).empty());
  CATCH_CHECK(ledger.request(0, 80) == sequences{0}); // after a crash
  CATCH_CHECK(ledger.held(0) == 30);
  CATCH_CHECK(ledger.statistics().in_flight == 1);
  CATCH_CHECK(ledger.shrink(9, 5).empty());
  CATCH_CHECK(ledger.release(0).empty());
  CATCH_CHECK(ledger.release(0).empty());
  CATCH_CHECK(ledger.request(0, 80).empty());
  CATCH_CHECK(ledger.statistics().used_bytes == 0);
  CATCH_CHECK(ledger.statistics().in_flight == 0);
  CATCH_CHECK(ledger.request(1, 5) == sequences{1});
}

CATCH_TEST_CASE("growth is booked", "[flow][credit_ledger]") {
  credit_ledger ledger{{100, 8}};
  CATCH_CHECK(ledger.request(0, 50) == sequences{0});
  CATCH_CHECK(ledger.shrink(0, 70).empty());
  CATCH_CHECK(ledger.statistics().used_bytes == 70);
  CATCH_CHECK(ledger.request(1, 40).empty());
  CATCH_CHECK(ledger.release(0) == sequences{1});
}

CATCH_TEST_CASE("released items are passed over", "[flow][credit_ledger]") {
  credit_ledger ledger{{10, 1}};
  CATCH_CHECK(ledger.request(0, 10) == sequences{0});
  CATCH_CHECK(ledger.request(1, 10).empty());
  CATCH_CHECK(ledger.release(1).empty()); // waited
  CATCH_CHECK(ledger.release(2).empty()); // never asked
  CATCH_CHECK(ledger.request(2, 10).empty());
  CATCH_CHECK(ledger.request(3, 10).empty());
  CATCH_CHECK(ledger.release(0) == sequences{3});
  CATCH_CHECK(ledger.statistics().next == 4);
}

CATCH_TEST_CASE("any interleaving makes progress within the budget",
                "[flow][credit_ledger]") {
  random_stream draws{stream_key(9, purpose::generate, 0, 0), 0};
  for (int round = 0; round < 400; ++round) {
    CATCH_INFO("seed 9, round " << round);
    const credit_limits limits{draws.below(4) ? 1 + draws.below(200) : 1,
                               1 + draws.below(5)};
    credit_ledger ledger{limits};
    constexpr std::uint64_t total = 60;
    // Every item: asked for (perhaps twice), admitted, shrunk, released; in
    // any order that a set of crashing stages could give.
    std::vector<std::uint64_t> unasked(total);
    for (std::uint64_t i = 0; i < total; ++i)
      unasked[i] = i;
    std::set<std::uint64_t> running;
    std::uint64_t admitted = 0;
    std::uint64_t finished = 0;
    const auto take = [&](const sequences& told) {
      for (auto which : told)
        if (running.insert(which).second)
          CATCH_REQUIRE(which == admitted++);
    };
    int idle = 0;
    while (finished < total) {
      CATCH_REQUIRE(++idle < 10000);
      const auto pick = draws.below(4);
      if (pick == 0 && !unasked.empty()) {
        const auto at = draws.below(std::min<std::size_t>(unasked.size(), 8));
        const auto which = unasked[at];
        unasked.erase(unasked.begin() + at);
        take(ledger.request(which, draws.below(120)));
      } else if (pick == 1 && !running.empty()) {
        take(ledger.request(*running.begin(), draws.below(120)));
      } else if (pick == 2 && !running.empty()) {
        const auto which = *running.rbegin();
        const auto held = ledger.held(which).value();
        take(ledger.shrink(which, held - draws.below(held + 1)));
      } else if (pick == 3 && !running.empty()) {
        auto which = running.begin();
        std::advance(which, draws.below(running.size()));
        const auto released = *which;
        running.erase(which);
        ++finished;
        take(ledger.release(released));
      }
      const auto now = ledger.statistics();
      CATCH_REQUIRE(now.in_flight == running.size());
      CATCH_REQUIRE(now.in_flight <= limits.items);
      if (now.used_bytes > limits.bytes)
        CATCH_REQUIRE(now.in_flight == 1);
      // Nothing runs and everything has been asked for: that would be a stall.
      if (running.empty() && unasked.empty())
        CATCH_REQUIRE(finished == total);
    }
    CATCH_REQUIRE(ledger.statistics().used_bytes == 0);
  }
}
