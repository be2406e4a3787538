#include "actors/stages/training/trainer_place.hpp"

#include "tests/support/catch.hpp"

#include <vector>

namespace graphmill::test::trainer_places {

namespace {

phase_work work_of(phase which, std::int32_t epoch, std::int64_t first,
                   const course_position& from,
                   const batch_metrics& before = {}) {
  phase_work out;
  out.phase = which;
  out.epoch = epoch;
  out.steps = 4;
  out.first = first;
  out.from = from;
  out.before = before;
  return out;
}

batch_key key_of(std::int32_t epoch, std::int64_t step) {
  batch_key out;
  out.phase = phase::train;
  out.epoch = epoch;
  out.step = step;
  return out;
}

/// What two ranks gave in a step.
const std::vector<batch_metrics> parts{{0.5, 1, 3}, {0.25, 2, 4}};

} // namespace

CATCH_TEST_CASE("a trainer stands behind the step that it has applied",
                "[actors][trainer]") {
  trainer_place place;
  CATCH_CHECK_FALSE(place.at());
  const auto first = work_of(phase::train, 0, 0, {});
  place.applied(first, key_of(0, 0), parts);
  CATCH_CHECK(place.at() == course_position{0, 1, 1, {}, 0});
  CATCH_CHECK(place.so_far().seeds == 7);
  place.applied(first, key_of(0, 1), parts);
  CATCH_CHECK(place.at() == course_position{0, 2, 2, {}, 0});
  CATCH_CHECK(place.so_far().loss_sum == 1.5);
  CATCH_CHECK(place.so_far().correct == 6);
  CATCH_CHECK(place.so_far().seeds == 14);

  // One that is not applied to its end has no place; the sums go on.
  place.leave();
  CATCH_CHECK_FALSE(place.at());
  place.applied(first, key_of(0, 2), parts);
  CATCH_CHECK(place.at() == course_position{0, 3, 3, {}, 0});
  CATCH_CHECK(place.so_far().seeds == 21);

  // Validation changes no weights, and the next epoch counts anew.
  place.evaluates(work_of(phase::validation, 0, 0, {}));
  CATCH_CHECK(place.at() == course_position{0, 3, 3, {}, 0});
  const course_position begin{1, 0, 4, 0.5, 0};
  place.applied(work_of(phase::train, 1, 0, begin), key_of(1, 0), parts);
  CATCH_CHECK(place.at() == course_position{1, 1, 5, 0.5, 0});
  CATCH_CHECK(place.so_far().seeds == 7);
}

CATCH_TEST_CASE("a trainer that has gone on within an epoch counts on",
                "[actors][trainer]") {
  trainer_place place;
  const course_position from{2, 3, 11, 0.5, 1};
  const auto rest = work_of(phase::train, 2, 3, from, {10.0, 20, 30});
  place.applied(rest, key_of(2, 3), parts);
  CATCH_CHECK(place.at() == course_position{2, 4, 12, 0.5, 1});
  CATCH_CHECK(place.so_far().loss_sum == 10.75);
  CATCH_CHECK(place.so_far().correct == 23);
  CATCH_CHECK(place.so_far().seeds == 37);
}

CATCH_TEST_CASE("best weights are no place to train on from",
                "[actors][trainer]") {
  trainer_place place;
  place.applied(work_of(phase::train, 0, 0, {}), key_of(0, 0), parts);
  place.leave();
  CATCH_CHECK_FALSE(place.at());
  place.evaluates(work_of(phase::validation, 0, 0, {}));
  CATCH_CHECK_FALSE(place.at());
  // The test comes behind all epochs, where the best are taken anyway.
  const course_position end{1, 0, 4, 0.5, 0};
  place.evaluates(work_of(phase::test, 0, 0, end));
  CATCH_CHECK(place.at() == end);
  CATCH_CHECK(place.so_far().seeds == 0);
}

} // namespace graphmill::test::trainer_places
