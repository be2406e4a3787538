#include "actors/feed/joined/feed_claim.hpp"

#include "tests/support/catch.hpp"

#include <chrono>
#include <string>

namespace graphmill::test {

using namespace std::chrono_literals;

namespace {

using task = feed_claim::task;

/// A claim, at a time that the test sets.
struct claim_scene {
  feed_claim claim{10s};
  feed_claim::time_point now{1h};

  task wait(std::chrono::milliseconds time) {
    now += time;
    return claim.due(now);
  }

  /// The run of this name begins.
  void begin(const std::string& run) {
    CATCH_REQUIRE(wait(1s) == task::ask);
    CATCH_CHECK(claim.asked(run, now) == task::none);
    claim.begun(run);
  }

  task told(run_state state, const std::string& message = {}, int code = 0) {
    return claim.told(
      feed_state_reply{state, message, static_cast<std::uint16_t>(code)}, now);
  }
};

constexpr int loss = static_cast<int>(ec::unavailable);

} // namespace

CATCH_TEST_CASE("a claim asks for one run, and how it stands", "[feed_claim]") {
  claim_scene f;
  CATCH_CHECK(f.wait(0s) == task::ask);
  CATCH_CHECK(f.wait(5s) == task::none); // It has been asked.
  CATCH_CHECK(f.claim.asked(std::string{"one"}, f.now) == task::none);
  CATCH_CHECK(f.claim.run() == "one");
  CATCH_CHECK(f.claim.waits() == "run one is being prepared");
  CATCH_CHECK(f.wait(0s) == task::none);
  CATCH_CHECK(f.wait(1s) == task::look);
  CATCH_CHECK(f.told(run_state::queued, "waits: for d1") == task::none);
  CATCH_CHECK(f.claim.waits() == "run one is queued: waits: for d1");
  f.claim.begun("one");
  CATCH_CHECK(f.claim.waits().empty());
}

CATCH_TEST_CASE("a run that is lost is followed by another one",
                "[feed_claim]") {
  claim_scene f;
  f.begin("one");
  f.claim.share_ended("another", f.now);
  CATCH_CHECK(f.claim.due(f.now) == task::none);
  f.claim.share_ended("one", f.now);
  CATCH_CHECK(f.claim.due(f.now) == task::look); // At once.
  CATCH_CHECK(f.told(run_state::failed, "d1 is lost", loss) == task::none);
  CATCH_CHECK(f.claim.run().empty());
  CATCH_CHECK(f.claim.waits() == "run one has ended: d1 is lost");
  CATCH_CHECK(f.wait(0s) == task::none); // Not at once.
  f.begin("two");
  CATCH_CHECK(f.claim.run() == "two");
}

CATCH_TEST_CASE("a claim waits as long as its patience after the last batch",
                "[feed_claim]") {
  claim_scene f;
  f.begin("one");
  f.claim.fed();
  f.wait(20s);
  CATCH_CHECK(f.told(run_state::failed, "d1 is lost", loss) == task::none);
  for (auto waited = 0s; waited < 9s; waited += 1s) {
    CATCH_REQUIRE(f.wait(1s) == task::ask);
    CATCH_REQUIRE(f.claim.asked(fail(ec::unavailable, "no d1"), f.now)
                  == task::none);
  }
  CATCH_CHECK(f.wait(1s) == task::ask);
  CATCH_CHECK(f.claim.asked(fail(ec::unavailable, "no d1"), f.now)
              == task::end);
  CATCH_CHECK(f.claim.failure().code == ec::unavailable);
  CATCH_CHECK(f.claim.failure().message
              == "no d1; no run has fed it for 10 s since (`recovery.wait`)");
  CATCH_CHECK(f.wait(1h) == task::none);
}

CATCH_TEST_CASE("runs that give no batch do not renew a claim's patience",
                "[feed_claim]") {
  claim_scene f;
  auto last = task::none;
  for (int run = 0; run < 20 && last != task::end; ++run) {
    f.begin(std::to_string(run));
    CATCH_REQUIRE(f.wait(3s) == task::look);
    last = f.told(run_state::failed, "it crashed", loss);
  }
  CATCH_CHECK(last == task::end);
}

CATCH_TEST_CASE("a batch renews a claim's patience", "[feed_claim]") {
  claim_scene f;
  for (int run = 0; run < 20; ++run) {
    f.begin(std::to_string(run));
    CATCH_REQUIRE(f.wait(3s) == task::look);
    f.claim.fed();
    CATCH_REQUIRE(f.told(run_state::failed, "it crashed", loss) == task::none);
  }
}

CATCH_TEST_CASE("a run that stands renews the patience of whoever is idle",
                "[feed_claim]") {
  claim_scene f;
  for (int run = 0; run < 5; ++run) {
    f.begin(std::to_string(run));
    for (int look = 0; look < 6; ++look) {
      CATCH_REQUIRE(f.wait(3s) == task::look);
      CATCH_REQUIRE(f.told(run_state::running) == task::none);
    }
    f.wait(3s);
    CATCH_REQUIRE(f.told(run_state::failed, "d1 is lost", loss) == task::none);
  }
}

CATCH_TEST_CASE("a feed that was dropped while its consumer was away is "
                "followed by another one",
                "[feed_claim]") {
  claim_scene f;
  f.begin("one");
  f.wait(2s);
  CATCH_CHECK(f.told(run_state::cancelled, "its consumer was gone", loss)
              == task::none);
  CATCH_CHECK(f.wait(1s) == task::ask);
}

CATCH_TEST_CASE("what no other run makes good ends a claim at once",
                "[feed_claim]") {
  claim_scene f;
  f.begin("one");
  f.wait(2s);
  const auto damage = static_cast<int>(ec::invalid_data);
  CATCH_CHECK(f.told(run_state::failed, "part 0 is damaged", damage)
              == task::end);
  CATCH_CHECK(f.claim.failure().code == ec::invalid_data);
  CATCH_CHECK(f.claim.failure().message
              == "run one has ended: part 0 is damaged");
  claim_scene g;
  g.begin("one");
  g.wait(2s);
  CATCH_CHECK(g.told(run_state::cancelled) == task::end);
  CATCH_CHECK(g.claim.failure().code == ec::cancelled);
  claim_scene h;
  CATCH_CHECK(h.wait(0s) == task::ask);
  CATCH_CHECK(h.claim.asked(fail(ec::invalid_argument, "no"), h.now)
              == task::end);
  CATCH_CHECK(h.claim.give_up(fail(ec::internal, "twice")) == task::none);
  CATCH_CHECK(h.claim.failure().message == "no");
}

CATCH_TEST_CASE("a share goes on while the coordinator is away",
                "[feed_claim]") {
  claim_scene f;
  f.begin("one");
  const error away = fail(ec::unavailable, "nobody answers");
  CATCH_REQUIRE(f.claim.waits().empty());
  for (int look = 0; look < 20; ++look) {
    CATCH_REQUIRE(f.wait(2s) == task::look);
    CATCH_REQUIRE(f.claim.told(away, f.now) == task::none);
    CATCH_REQUIRE(f.claim.run() == "one");
    CATCH_REQUIRE(f.claim.waits() == "nobody answers");
  }
  f.wait(2s); // The same coordinator is back, and then away again.
  CATCH_CHECK(f.told(run_state::running) == task::none);
  CATCH_CHECK(f.claim.waits().empty());
  f.wait(2s);
  CATCH_CHECK(f.claim.told(away, f.now) == task::none);
  f.claim.share_ended("one", f.now); // After its grace period.
  CATCH_CHECK(f.claim.due(f.now) == task::look);
  CATCH_CHECK(f.claim.told(away, f.now) == task::none);
  CATCH_CHECK(f.claim.run().empty());
  // Another coordinator knows what became of it, or nothing.
  f.begin("two");
  f.wait(3s);
  CATCH_CHECK(f.told(run_state::failed, "it is a feed") == task::none);
  f.begin("three");
  f.wait(3s);
  CATCH_CHECK(f.claim.told(fail(ec::not_found, "no such run"), f.now)
              == task::none);
  CATCH_CHECK(f.claim.run().empty());
}

CATCH_TEST_CASE("a claim whose share can make no batches waits for the "
                "coordinator as long as its patience",
                "[feed_claim]") {
  claim_scene f;
  f.begin("one");
  f.claim.fed();
  const error away = fail(ec::unavailable, "nobody answers");
  f.wait(2s);
  CATCH_REQUIRE(f.claim.told(away, f.now) == task::none);
  f.wait(1min); // No time counts while the share stands.
  CATCH_REQUIRE(f.claim.told(away, f.now) == task::none);
  f.claim.share_ended("one", f.now); // Its owner was the coordinator.
  CATCH_REQUIRE(f.claim.due(f.now) == task::look);
  CATCH_REQUIRE(f.claim.told(away, f.now) == task::none);
  CATCH_CHECK(f.claim.waits() == "nobody answers");
  for (auto waited = 0s; waited < 9s; waited += 1s) {
    CATCH_REQUIRE(f.wait(1s) == task::ask);
    CATCH_REQUIRE(f.claim.asked(away, f.now) == task::none);
    CATCH_REQUIRE(f.claim.waits() == "nobody answers");
  }
  CATCH_CHECK(f.wait(1s) == task::ask);
  CATCH_CHECK(f.claim.asked(away, f.now) == task::end);
  CATCH_CHECK(f.claim.failure().message
              == "nobody answers; no run has fed it for 10 s since "
                 "(`recovery.wait`)");
}

CATCH_TEST_CASE("a look that ends after its share tells nothing of it",
                "[feed_claim]") {
  claim_scene f;
  f.begin("one");
  CATCH_REQUIRE(f.wait(2s) == task::look);
  f.claim.share_ended("one", f.now);
  CATCH_CHECK(f.claim.due(f.now) == task::none); // It is being asked.
  CATCH_CHECK(f.told(run_state::running) == task::none);
  CATCH_CHECK(f.wait(100ms) == task::look); // Soon again.
}

} // namespace graphmill::test
