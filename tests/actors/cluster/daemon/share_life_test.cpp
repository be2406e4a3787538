#include "actors/cluster/daemon/shares/share_life.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/state_table.hpp"

#include <vector>

namespace graphmill::test::share_life_states {

namespace {

using state = share_life::state;
using task = share_life::task;

const std::vector states{state::preparing, state::abandoned, state::hosted,
                         state::broken,    state::ending,    state::verifying,
                         state::over};

result<void> damaged() {
  return fail(ec::invalid_data, "a digest differs");
}

/// A share whose data are not verified yet. Where it is to end, its run has
/// succeeded.
share_life at(state where) {
  share_life share;
  switch (where) {
  case state::preparing:
    break;
  case state::abandoned:
    share.end(true);
    break;
  case state::hosted:
    share.prepared(true);
    break;
  case state::broken:
    share.prepared(true);
    share.member_gone();
    break;
  case state::ending:
    share.prepared(true);
    share.end(true);
    break;
  case state::verifying:
    share.prepared(true);
    share.end(true);
    share.member_gone();
    break;
  case state::over:
    share.prepared(false);
    break;
  }
  return share;
}

/// What can happen to it.
const event_table<share_life> events{
  {"prepared", [](share_life& share) { return share.prepared(true); }},
  {"not prepared", [](share_life& share) { return share.prepared(false); }},
  {"member gone", [](share_life& share) { return share.member_gone(); }},
  {"sound", [](share_life& share) { return share.verified(ok()); }},
  {"damaged", [](share_life& share) { return share.verified(damaged()); }},
  {"end", [](share_life& share) { return share.end(false); }},
  {"finish", [](share_life& share) { return share.end(true); }},
  {"finish after an end",
   [](share_life& share) {
     share.end(false);
     return share.end(true);
   }},
};

const transition_table<share_life> transitions{
  {{"prepared", state::preparing}, {state::hosted, task::verify}},
  {{"prepared", state::abandoned}, {state::over, task::forget}},
  {{"not prepared", state::preparing}, {state::over, task::forget}},
  {{"not prepared", state::abandoned}, {state::over, task::forget}},
  {{"member gone", state::hosted}, {state::broken, task::report}},
  {{"member gone", state::ending}, {state::verifying, task::hurry}},
  {{"sound", state::verifying}, {state::over, task::forget}},
  {{"damaged", state::hosted}, {state::hosted, task::report_data}},
  {{"damaged", state::broken}, {state::broken, task::report_data}},
  {{"damaged", state::verifying}, {state::over, task::forget}},
  {{"end", state::preparing}, {state::abandoned, task::none}},
  {{"end", state::hosted}, {state::ending, task::stop}},
  {{"end", state::broken}, {state::over, task::forget}},
  {{"end", state::verifying}, {state::over, task::forget}},
  {{"finish", state::preparing}, {state::abandoned, task::none}},
  {{"finish", state::hosted}, {state::ending, task::stop}},
  {{"finish", state::broken}, {state::verifying, task::hurry}},
  {{"finish", state::verifying}, {state::verifying, task::hurry}},
  {{"finish after an end", state::preparing}, {state::abandoned, task::refuse}},
  {{"finish after an end", state::abandoned}, {state::abandoned, task::refuse}},
  {{"finish after an end", state::hosted}, {state::ending, task::refuse}},
  {{"finish after an end", state::broken}, {state::over, task::none}},
  {{"finish after an end", state::ending}, {state::ending, task::refuse}},
  {{"finish after an end", state::verifying}, {state::over, task::none}},
};

} // namespace

CATCH_TEST_CASE("every event does what is written, in every state of a share",
                "[share_life]") {
  check_transitions<share_life>(
    states, at, events, transitions, [](const share_life& share) {
      const auto lives = share.now() == state::preparing
                         || share.now() == state::hosted
                         || share.now() == state::broken;
      CATCH_CHECK(share.is_over() != lives);
    });
}

CATCH_TEST_CASE("a share whose data are verified in time ends with its member",
                "[share_life]") {
  for (const auto& known : {result<void>{ok()}, damaged()}) {
    share_life before = at(state::hosted);
    before.verified(known);
    CATCH_CHECK(before.end(true) == task::stop);
    CATCH_CHECK(before.member_gone() == task::forget);
    share_life meanwhile = at(state::ending);
    CATCH_CHECK(meanwhile.verified(known) == task::none);
    CATCH_CHECK(meanwhile.member_gone() == task::forget);
    share_life broken = at(state::broken);
    broken.verified(known);
    CATCH_CHECK(broken.end(true) == task::forget);
    for (const auto* share : {&before, &meanwhile, &broken}) {
      CATCH_REQUIRE(share->sound());
      CATCH_CHECK(share->sound()->has_value() == known.has_value());
      CATCH_CHECK(share->finishing());
    }
  }
}

CATCH_TEST_CASE("only the success of a run is worth a verification",
                "[share_life]") {
  share_life failed = at(state::hosted);
  failed.end(false);
  CATCH_CHECK(failed.member_gone() == task::forget);
  CATCH_CHECK_FALSE(failed.finishing());

  // The user does not want to wait for it.
  share_life hurried = at(state::verifying);
  CATCH_CHECK(hurried.end(false) == task::forget);
  CATCH_CHECK_FALSE(hurried.finishing());
  CATCH_CHECK_FALSE(hurried.sound());

  share_life in_time = at(state::ending);
  CATCH_CHECK(in_time.end(false) == task::none);
  CATCH_CHECK(in_time.end(true) == task::refuse); // Sent before, come late.
  CATCH_CHECK_FALSE(in_time.finishing());
  CATCH_CHECK(in_time.member_gone() == task::forget);

  share_life abandoned = at(state::preparing);
  abandoned.end(false);
  CATCH_CHECK(abandoned.end(true) == task::refuse);
  CATCH_CHECK_FALSE(abandoned.finishing());
}

CATCH_TEST_CASE("a share is forgotten once, whatever comes later",
                "[share_life]") {
  share_life share = at(state::verifying);
  CATCH_CHECK(share.verified(ok()) == task::forget);
  CATCH_CHECK(share.verified(damaged()) == task::none);
  CATCH_CHECK(share.end(false) == task::none);
  CATCH_CHECK(share.finishing());
  CATCH_CHECK(share.sound()->has_value());
}

} // namespace graphmill::test::share_life_states
