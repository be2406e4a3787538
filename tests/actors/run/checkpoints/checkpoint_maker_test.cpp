#include "actors/run/checkpoints/checkpoint_maker.hpp"
#include "tests/support/catch.hpp"

#include <memory>
#include <vector>

namespace graphmill::test {

namespace {

std::shared_ptr<const std::vector<named_tensor>> a_state() {
  return std::make_shared<const std::vector<named_tensor>>();
}

/// An epoch of five steps whose results are there for the first ones.
checkpoint_maker::sums results_of(std::shared_ptr<std::int64_t> there) {
  return [there](std::int64_t step) -> std::optional<batch_metrics> {
    if (step > *there || step > 5)
      return std::nullopt;
    return batch_metrics{1, step, step};
  };
}

} // namespace

CATCH_TEST_CASE("a checkpoint waits for the results of its steps",
                "[actors][checkpoint]") {
  checkpoint_maker it;
  const auto there = std::make_shared<std::int64_t>(1);
  it.follow(2, 5, results_of(there));
  const auto number = it.ask({2, 0, 10, .5, 1}, {});
  CATCH_CHECK(it.awaits(number));
  CATCH_CHECK_FALSE(it.take().has_value());
  it.answer(13, a_state());
  CATCH_CHECK_FALSE(it.take().has_value());
  CATCH_CHECK_FALSE(it.is_lost(false));
  *there = 3;
  const auto made = it.take();
  CATCH_REQUIRE(made.has_value());
  CATCH_CHECK(made->at == course_position{2, 3, 13, .5, 1});
  CATCH_CHECK(made->so_far.seeds == 3);
  CATCH_CHECK_FALSE(it.is_on());
  CATCH_CHECK_FALSE(it.awaits(number));
}

CATCH_TEST_CASE("at an edge nothing has to be waited for",
                "[actors][checkpoint]") {
  checkpoint_maker it;
  it.follow(1, 5, results_of(std::make_shared<std::int64_t>(5)));
  it.ask({2, 0, 10, {}, 0}, {});
  it.answer(10, a_state());
  CATCH_CHECK(it.take()->at == course_position{2, 0, 10, {}, 0});

  // The state may be of a step that the next epoch has begun with.
  it.ask({2, 0, 10, {}, 0}, {});
  it.answer(11, a_state());
  CATCH_CHECK_FALSE(it.take().has_value());
  it.follow(2, 5, results_of(std::make_shared<std::int64_t>(2)));
  CATCH_CHECK(it.take()->so_far.seeds == 1);
}

CATCH_TEST_CASE("an epoch that was gone on with brings its sums along",
                "[actors][checkpoint]") {
  checkpoint_maker it;
  it.ask({0, 4, 4, {}, 0}, {7, 8, 9});
  it.answer(4, a_state());
  CATCH_CHECK(it.take()->so_far.seeds == 9);
}

CATCH_TEST_CASE("a state of another epoch makes no checkpoint",
                "[actors][checkpoint]") {
  checkpoint_maker it;
  it.follow(0, 5, results_of(std::make_shared<std::int64_t>(5)));
  it.ask({0, 0, 0, {}, 0}, {});
  it.answer(6, a_state());
  CATCH_CHECK_FALSE(it.take().has_value());
  CATCH_CHECK(it.is_lost(false));
  it.give_up();
  CATCH_CHECK_FALSE(it.is_lost(true));

  // Of results that never come it is known when the run is over.
  it.follow(0, 5, results_of(std::make_shared<std::int64_t>(1)));
  const auto first = it.ask({0, 0, 0, {}, 0}, {});
  it.answer(2, a_state());
  CATCH_CHECK_FALSE(it.is_lost(false));
  CATCH_CHECK(it.is_lost(true));

  // Who asks anew does not wait for the first answer.
  const auto second = it.ask({0, 0, 0, {}, 0}, {});
  CATCH_CHECK_FALSE(it.awaits(first));
  CATCH_CHECK(it.awaits(second));
}

} // namespace graphmill::test
