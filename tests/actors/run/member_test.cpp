#include "actors/run/member/member.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

/// A cache filler that never answers.
class silent_filler {
public:
  using interface = cache_filler_actor;
  static constexpr const char* name = "silent_filler";
  using promises = std::vector<caf::typed_response_promise<cache_filled>>;

  silent_filler(interface::pointer self, std::shared_ptr<promises> open)
    : self_(self), open_(std::move(open)) {}

  interface::behavior_type make_behavior() {
    return {[this](const fill_cache&) -> caf::result<cache_filled> {
      open_->push_back(self_->make_response_promise<cache_filled>());
      return open_->back();
    }};
  }

private:
  interface::pointer self_;
  std::shared_ptr<promises> open_;
};

/// Hears of failures as a conductor does.
class failure_ear {
public:
  using interface = run_reports_actor;
  static constexpr const char* name = "failure_ear";

  failure_ear(interface::pointer, std::shared_ptr<std::vector<error>> heard)
    : heard_(std::move(heard)) {}

  interface::behavior_type make_behavior() {
    return {
      [](const member_ready&) {},
      [](const step_result&) {},
      [](const trainer_stopped&) {},
      [this](const run_failed& failed) { heard_->push_back(failed.reason); },
    };
  }

private:
  std::shared_ptr<std::vector<error>> heard_;
};

/// A member that is asked to fill its cache, and has nothing else.
struct filling_member {
  std::shared_ptr<silent_filler::promises> open =
    std::make_shared<silent_filler::promises>();
  std::shared_ptr<std::vector<error>> failures =
    std::make_shared<std::vector<error>>();
  std::shared_ptr<std::optional<error>> refused =
    std::make_shared<std::optional<error>>();
  simulation sim;
  cache_filler_actor filler;
  member_actor member;

  filling_member() {
    member_config config;
    config.access.cache = [this](caf::actor_system& system) {
      filler = sim.own(spawn_state<silent_filler>(system, open));
      return filler;
    };
    member = sim.own(
      spawn_member(sim.system(), std::move(config), {},
                   sim.own(spawn_state<failure_ear>(sim.system(), failures))));
    sim.own(sim.system().spawn(
      [to = member, refused = refused](caf::event_based_actor* self) {
        ask(self, to, 200h, trainer_request{trainer_action::fill_cache})
          .then([](const member_state&) {},
                [refused](const caf::error& reason) {
                  *refused = from_caf(reason, "the member");
                });
      }));
    sim.run();
    CATCH_REQUIRE(open->size() == 1);
    CATCH_REQUIRE_FALSE(*refused);
  }
};

} // namespace

CATCH_TEST_CASE("a member that ends answers who waits for its cache",
                "[actors][member]") {
  filling_member f;
  stop_actor(f.member);
  f.sim.run();
  CATCH_REQUIRE(*f.refused);
  CATCH_CHECK((*f.refused)->code == ec::cancelled);
  CATCH_CHECK((*f.refused)->message == "the member of the run has ended");
  CATCH_CHECK(f.failures->empty());
}

CATCH_TEST_CASE("a cache filler that dies fails the run", "[actors][member]") {
  filling_member f;
  caf::anon_send_exit(f.filler, caf::exit_reason::kill);
  f.sim.run();
  CATCH_REQUIRE(f.failures->size() == 1);
  CATCH_CHECK(f.failures->front().message.find("the cache filler ended") == 0);
}

} // namespace graphmill::test
