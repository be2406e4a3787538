#include "actors/cluster/daemon/registration.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

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

CATCH_TEST_CASE("a refusal ends a daemon, patience ends at first only",
                "[registration]") {
  registration refused{zero, 60s};
  CATCH_CHECK(refused.due(zero));
  const auto why =
    refused.answered(fail(ec::invalid_argument, "the name is taken"), zero);
  CATCH_REQUIRE(why);
  CATCH_CHECK(why->message == "the name is taken");

  registration late{zero, 60s};
  CATCH_CHECK(late.due(zero));
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
