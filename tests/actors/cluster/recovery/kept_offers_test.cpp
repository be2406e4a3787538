#include "actors/cluster/recovery/kept_offers.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill::test::kept_offers {

namespace {

kept_offer kept(const std::string& daemon, std::int32_t epoch,
                std::int64_t step, const std::string& digest = "d") {
  kept_offer out;
  out.daemon = daemon;
  out.at.epoch = epoch;
  out.at.step = step;
  out.digest = digest;
  return out;
}

run_position place(std::int32_t epoch, std::int64_t step, std::int64_t all) {
  run_position out;
  out.epoch = epoch;
  out.step = step;
  out.train_steps = all;
  return out;
}

} // namespace

CATCH_TEST_CASE("the furthest of what daemons have kept is tried first",
                "[recovery]") {
  struct row {
    std::vector<kept_offer> offers;
    std::string order; ///< Names of daemons.
    std::size_t disputes = 0;
  };
  const std::vector<row> table{
    {{}, ""},
    {{kept("a", 0, 0)}, "a"},
    {{kept("a", 2, 16), kept("b", 2, 17)}, "ba"},
    {{kept("a", 2, 17), kept("b", 2, 16, "older")}, "ab"},
    {{kept("a", 1, 90), kept("b", 2, 0)}, "ba"},
    {{kept("a", 2, 17), kept("b", 2, 17)}, "ab"},
    {{kept("a", 1, 3), kept("b", 1, 3), kept("c", 1, 4, "newer")}, "cab"},
    // What more daemons say counts.
    {{kept("a", 1, 3, "x"), kept("b", 1, 3), kept("c", 1, 3)}, "bc", 1},
    // Else nobody is believed, but about other steps they are.
    {{kept("a", 2, 17, "x"), kept("b", 2, 17, "y")}, "", 1},
    {{kept("a", 1, 3, "x"), kept("b", 1, 3, "y"), kept("c", 1, 4)}, "c", 1},
    {{kept("a", 1, 3, "x"), kept("b", 1, 3, "y"), kept("c", 1, 2)}, "c", 1},
    {{kept("a", 1, 3, "x"), kept("b", 1, 3, "y"), kept("c", 1, 3, "z")}, "", 2},
  };
  for (const auto& [offers, order, disputes] : table) {
    const auto tried = by_preference(offers);
    std::string names;
    for (const auto& offer : tried.offers)
      names += offer.daemon;
    CATCH_INFO(order);
    CATCH_CHECK(names == order);
    CATCH_CHECK(tried.disputes.size() == disputes);
  }
  CATCH_CHECK(by_preference({kept("a", 2, 17, "x"), kept("b", 2, 17, "y")})
                .disputes.front()
              == "daemons \"a\" and \"b\" have kept different weights after "
                 "the same step, with digests x and y: neither is used");
}

CATCH_TEST_CASE("a run stands nowhere but in its course", "[recovery]") {
  known_course course;
  course.epochs = 6;
  course.epochs_told = 4;
  course.steps_per_epoch = 13;
  const auto can = [&course](const run_position& at) {
    return static_cast<bool>(check_position(at, course));
  };
  CATCH_CHECK(can(place(0, 0, 0)));
  CATCH_CHECK(can(place(4, 13, 65)));
  CATCH_CHECK(can(place(3, 2, 41)));
  CATCH_CHECK_FALSE(can(place(3, 2, 40)));
  CATCH_CHECK_FALSE(can(place(4, 14, 66)));
  CATCH_CHECK_FALSE(can(place(4, 1'000'000, 1'000'000)));
  CATCH_CHECK_FALSE(can(place(5, 0, 65))); // Nobody has told of epoch 5.
  CATCH_CHECK_FALSE(can(place(999'999, 1, 1)));
  CATCH_CHECK_FALSE(can(place(-1, 0, 0)));
  // All epochs are over; then nothing is trained.
  course.epochs_told = 6;
  CATCH_CHECK(can(place(6, 0, 78)));
  CATCH_CHECK_FALSE(can(place(6, 1, 79)));
  // The last one is cut.
  course.max_steps = 70;
  CATCH_CHECK(can(place(5, 5, 70)));
  CATCH_CHECK(can(place(6, 0, 70)));
  CATCH_CHECK_FALSE(can(place(6, 0, 78)));
  CATCH_CHECK_FALSE(can(place(5, 6, 70)));
  // Another definition has counted the first steps.
  course.is_resumed = true;
  CATCH_CHECK(can(place(3, 2, 20)));
  CATCH_CHECK_FALSE(can(place(3, 14, 20)));
  CATCH_CHECK_FALSE(can(place(7, 0, 20)));
}

CATCH_TEST_CASE("of a run that changes its size only the last attempt counts",
                "[recovery][sizes]") {
  known_course course;
  course.epochs = 6;
  course.epochs_told = 4;
  course.steps_per_epoch = 13;
  auto offer = kept("a", 3, 2);
  offer.at = place(3, 2, 41);
  offer.attempt = 2;
  CATCH_CHECK(check_offer(offer, course));
  course.only_attempt = 2;
  CATCH_CHECK(check_offer(offer, course));
  course.only_attempt = 3; // Perhaps with fewer trainers, from an earlier step.
  const auto refused = error_of(check_offer(offer, course));
  CATCH_CHECK(refused.code == ec::invalid_data);
  CATCH_CHECK(refused.message
              == "it is of attempt 2, and attempt 3 may have had another "
                 "number of trainers");
  offer.attempt = 3;
  CATCH_CHECK(check_offer(offer, course));
  offer.at.train_steps = 40;
  CATCH_CHECK_FALSE(check_offer(offer, course));
}

} // namespace graphmill::test::kept_offers
