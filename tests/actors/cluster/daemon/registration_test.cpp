#include "actors/cluster/daemon/registration.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

const registration::time_point zero{1h};

result<void> lost_on_the_way() {
  return fail(ec::timeout, "no answer within 5000 ms");
}

} // namespace

CATCH_TEST_CASE("a daemon asks once, and again when the question was lost",
                "[registration]") {
  registration it{zero, 60s};
  CATCH_CHECK(it.due(zero));
  CATCH_CHECK_FALSE(it.due(zero + 1h)); // Not before an answer.
  CATCH_CHECK_FALSE(it.answered(lost_on_the_way(), zero + 5s));
  CATCH_CHECK_FALSE(it.due(zero + 5s));
  CATCH_CHECK(it.due(zero + 6s));
  CATCH_CHECK_FALSE(it.answered(ok(), zero + 6s));
  CATCH_CHECK_FALSE(it.due(zero + 1h));
}

CATCH_TEST_CASE("what a daemon tells of itself is told again when it changes",
                "[registration]") {
  registration it{zero, 60s};
  it.changed(zero); // Before it was ever told.
  CATCH_CHECK(it.due(zero));
  CATCH_CHECK_FALSE(it.answered(ok(), zero));
  CATCH_CHECK_FALSE(it.due(zero));
  it.changed(zero);
  CATCH_CHECK(it.due(zero));
  it.changed(zero); // The question under way has what was true before.
  CATCH_CHECK_FALSE(it.due(zero));
  CATCH_CHECK_FALSE(it.answered(ok(), zero));
  CATCH_CHECK(it.due(zero));
  CATCH_CHECK_FALSE(it.answered(ok(), zero));
  CATCH_CHECK_FALSE(it.due(zero + 1h));
}

CATCH_TEST_CASE("a daemon that was stopped while it applied goes on with that",
                "[registration]") {
  registration it{zero, 60s};
  CATCH_CHECK(it.due(zero));
  CATCH_CHECK_FALSE(it.due(zero + 10min)); // The question was long lost.
  CATCH_CHECK_FALSE(it.answered(lost_on_the_way(), zero + 10min));
  CATCH_CHECK(it.due(zero + 10min + 1s));
  CATCH_CHECK_FALSE(it.answered(ok(), zero + 10min + 1s));
}

CATCH_TEST_CASE("a refusal ends a daemon, patience ends at first only",
                "[registration]") {
  registration refused{zero, 60s};
  CATCH_CHECK(refused.due(zero));
  const auto reason =
    refused.answered(fail(ec::invalid_argument, "the name is taken"), zero);
  CATCH_REQUIRE(reason);
  CATCH_CHECK(reason->message == "the name is taken");

  registration late{zero, 60s};
  CATCH_CHECK(late.due(zero));
  for (auto after = 1s; after <= 60s; after += 1s)
    CATCH_CHECK_FALSE(late.due(zero + after));
  CATCH_CHECK_FALSE(late.answered(lost_on_the_way(), zero + 60s));
  CATCH_CHECK(late.due(zero + 61s));
  CATCH_CHECK(late.answered(lost_on_the_way(), zero + 61s));

  registration taken{zero, 60s};
  CATCH_CHECK(taken.due(zero));
  CATCH_CHECK_FALSE(taken.answered(ok(), zero));
  CATCH_CHECK(taken.lost());
  taken.heard(false, zero + 2h);
  CATCH_CHECK(taken.due(zero + 2h));
  CATCH_CHECK_FALSE(taken.answered(lost_on_the_way(), zero + 2h));
}

CATCH_TEST_CASE("a daemon registers again with a coordinator that is back",
                "[registration]") {
  registration it{zero, 60s};
  it.heard(false, zero); // Before it was ever taken: it asks anyway.
  CATCH_CHECK(it.due(zero));
  CATCH_CHECK_FALSE(it.lost());
  CATCH_CHECK_FALSE(it.answered(ok(), zero));
  it.heard(false, zero); // Nothing was lost.
  CATCH_CHECK_FALSE(it.due(zero));
  it.heard(true, zero); // It knows nobody.
  CATCH_CHECK(it.due(zero));
  // Started anew once more, before it answers.
  it.heard(true, zero);
  CATCH_CHECK_FALSE(it.due(zero));
  CATCH_CHECK_FALSE(it.answered(lost_on_the_way(), zero));
  CATCH_CHECK(it.due(zero + 1s));
}

namespace graphmill::test::registration_states {

namespace {

using state = registration::state;

const std::vector states{state::applying, state::registered, state::cut_off,
                         state::refused};

/// A daemon that is there, and has a question under way unless it is refused.
registration asking(state where) {
  registration it{zero, 60s};
  it.due(zero);
  if (where == state::applying)
    return it;
  it.answered(where == state::refused
                ? result<void>{fail(ec::invalid_argument, "the name is taken")}
                : result<void>{ok()},
              zero);
  if (where == state::cut_off)
    it.lost();
  it.heard(true, zero);
  it.due(zero);
  return it;
}

/// What can happen to it.
const std::map<std::string, std::function<void(registration&)>> events{
  {"taken", [](registration& it) { it.answered(ok(), zero + 1h); }},
  {"refused",
   [](registration& it) {
     it.answered(fail(ec::version_mismatch, "too old"), zero + 1s);
   }},
  {"not answered in time",
   [](registration& it) { it.answered(lost_on_the_way(), zero + 1s); }},
  {"not answered in an hour",
   [](registration& it) { it.answered(lost_on_the_way(), zero + 1h); }},
  {"changed", [](registration& it) { it.changed(zero + 1s); }},
  {"heard", [](registration& it) { it.heard(false, zero + 1s); }},
  {"heard anew", [](registration& it) { it.heard(true, zero + 1s); }},
  {"lost", [](registration& it) { it.lost(); }},
};

/// What is not here leaves a daemon where it is.
const std::map<std::pair<std::string, state>, state> transitions{
  {{"taken", state::applying}, state::registered},
  {{"taken", state::cut_off}, state::registered},
  {{"refused", state::applying}, state::refused},
  {{"refused", state::registered}, state::refused},
  {{"refused", state::cut_off}, state::refused},
  {{"not answered in an hour", state::applying}, state::refused},
  {{"lost", state::registered}, state::cut_off},
};

} // namespace

CATCH_TEST_CASE("every event does what is written, in every state of a daemon",
                "[registration]") {
  for (const auto& [name, event] : events)
    for (const auto from : states) {
      CATCH_INFO(name << " in state " << int(from));
      auto it = asking(from);
      CATCH_REQUIRE(int(it.now()) == int(from));
      event(it);
      const auto found = transitions.find({name, from});
      CATCH_CHECK(int(it.now())
                  == int(found == transitions.end() ? from : found->second));
    }
}

CATCH_TEST_CASE("an answer to no question says nothing", "[registration]") {
  registration it{zero, 60s};
  CATCH_CHECK_FALSE(it.answered(ok(), zero)); // Before it has asked.
  CATCH_CHECK(it.now() == state::applying);
  CATCH_CHECK(it.due(zero));
  CATCH_CHECK_FALSE(it.answered(ok(), zero));
  CATCH_CHECK_FALSE(it.answered(fail(ec::permission, "twice"), zero));
  CATCH_CHECK(it.now() == state::registered);
}

CATCH_TEST_CASE("a daemon that is refused asks no more", "[registration]") {
  auto it = asking(state::refused);
  it.changed(zero);
  it.heard(true, zero);
  CATCH_CHECK_FALSE(it.lost());
  CATCH_CHECK_FALSE(it.due(zero + 1h));
}

CATCH_TEST_CASE("a question is over by its answer, whatever was lost meanwhile",
                "[registration]") {
  auto it = asking(state::registered);
  CATCH_CHECK(it.lost());
  CATCH_CHECK_FALSE(it.lost()); // Once.
  it.heard(false, zero);
  CATCH_CHECK_FALSE(it.due(zero)); // It is under way.
  CATCH_CHECK_FALSE(it.answered(ok(), zero));
  CATCH_CHECK(it.now() == state::registered);
  CATCH_CHECK_FALSE(it.due(zero + 1h));
}

} // namespace graphmill::test::registration_states
