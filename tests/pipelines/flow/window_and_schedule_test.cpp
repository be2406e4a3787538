#include "messages/base/random.hpp"
#include "pipelines/flow/reorder_window.hpp"
#include "pipelines/flow/schedule.hpp"
#include "tests/support/catch.hpp"

#include <limits>
#include <memory>

using namespace graphmill;

CATCH_TEST_CASE("a window gives items back in order", "[flow][window]") {
  reorder_window<std::unique_ptr<int>> window{10};
  CATCH_CHECK(window.put(11, std::make_unique<int>(11)));
  CATCH_CHECK_FALSE(window.take());
  CATCH_CHECK(window.put(10, std::make_unique<int>(10)));
  CATCH_CHECK_FALSE(window.put(11, std::make_unique<int>(0)));
  CATCH_CHECK(*window.take().value() == 10);
  CATCH_CHECK_FALSE(window.put(10, std::make_unique<int>(0)));
  CATCH_CHECK(window.size() == 1);
  CATCH_CHECK(*window.take().value() == 11);
  CATCH_CHECK(window.next() == 12);
  window.restart(3);
  CATCH_CHECK(window.put(3, std::make_unique<int>(3)));
  CATCH_CHECK(window.next() == 3);
}

CATCH_TEST_CASE("a window sorts any arrival", "[flow][window]") {
  random_stream draws{stream_key(5, purpose::generate, 0, 0), 0};
  reorder_window<std::uint64_t> window;
  std::uint64_t given = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto number = given + draws.below(6);
    window.put(number, number * 3);
    while (auto item = window.take()) {
      CATCH_REQUIRE(*item == given * 3);
      ++given;
    }
    CATCH_REQUIRE(window.size() < 6);
  }
  CATCH_CHECK(given > 100);
}

CATCH_TEST_CASE("learning rates", "[flow][schedule]") {
  definition::optimizer_section o;
  o.learning_rate = 0.4;
  CATCH_CHECK(learning_rate_of(o, 7, 10) == 0.4);

  o.schedule = schedule_kind::cosine;
  CATCH_CHECK(learning_rate_of(o, 0, 10) == Approx(0.4));
  CATCH_CHECK(learning_rate_of(o, 5, 10) == Approx(0.2));
  CATCH_CHECK(learning_rate_of(o, 10, 10) == Approx(0));

  o.schedule = schedule_kind::step;
  o.step_factor = 0.5;
  CATCH_CHECK(learning_rate_of(o, 5, 10) == 0.4); // never steps
  o.step_epochs = 3;
  CATCH_CHECK(learning_rate_of(o, 2, 10) == Approx(0.4));
  CATCH_CHECK(learning_rate_of(o, 3, 10) == Approx(0.2));
  CATCH_CHECK(learning_rate_of(o, 8, 10) == Approx(0.1));

  o.warmup_epochs = 3;
  CATCH_CHECK(learning_rate_of(o, 0, 10) == Approx(0.1));
  CATCH_CHECK(learning_rate_of(o, 2, 10) == Approx(0.3));
  CATCH_CHECK(learning_rate_of(o, 3, 10) == Approx(0.4));
  CATCH_CHECK(learning_rate_of(o, 6, 10) == Approx(0.2));

  o.schedule = schedule_kind::cosine;
  CATCH_CHECK(learning_rate_of(o, 3, 3) == Approx(0.4)); // warm-up is all
}

CATCH_TEST_CASE("learning rates are rounded once", "[flow][schedule]") {
  definition::optimizer_section o;
  o.learning_rate = 0.003;
  o.schedule = schedule_kind::cosine;
  // The cosine of a third of pi is a half, but not that of the double nearest
  // to it.
  CATCH_CHECK(learning_rate_of(o, 10, 30) == 0.00225);
  CATCH_CHECK(learning_rate_of(o, 20, 30) == 0.00075);
  o.schedule = schedule_kind::step;
  o.step_factor = 0.1;
  o.step_epochs = 1;
  // By doubles it is 3.000000000000001e-06.
  CATCH_CHECK(learning_rate_of(o, 3, 30) == 3.0000000000000005e-06);
}

CATCH_TEST_CASE("early stopping", "[flow][schedule]") {
  early_stopping stop{2, 1};
  CATCH_CHECK_FALSE(stop.best_value());
  CATCH_CHECK_FALSE(stop.report(std::numeric_limits<double>::quiet_NaN()));
  CATCH_CHECK(stop.report(0.5));
  CATCH_CHECK_FALSE(stop.report(0.5));
  CATCH_CHECK_FALSE(stop.should_stop());
  CATCH_CHECK(stop.report(0.6));
  CATCH_CHECK_FALSE(stop.report(0.1));
  CATCH_CHECK_FALSE(stop.report(0.6));
  CATCH_CHECK(stop.should_stop());
  CATCH_CHECK(stop.best_value() == 0.6);

  CATCH_CHECK(stop.averages() == score_averages{});

  early_stopping never{0, 1};
  never.report(1);
  for (int i = 0; i < 50; ++i)
    never.report(0);
  CATCH_CHECK_FALSE(never.should_stop());
}

CATCH_TEST_CASE("patience counts by the moving average of a window",
                "[flow][schedule]") {
  // A lucky value at first, and then a slow gain that does not reach it.
  const auto stops = [](std::uint32_t window) {
    early_stopping stop{3, window};
    CATCH_CHECK(stop.report(0.25));
    CATCH_CHECK(stop.report(0.875));
    for (int i = 0; i < 8 && !stop.should_stop(); ++i)
      CATCH_CHECK_FALSE(stop.report(0.5 + 0.03125 * i));
    return stop.should_stop();
  };
  CATCH_CHECK(stops(1));
  CATCH_CHECK_FALSE(stops(7));

  // a = 0.5, 0.75, 0.625: the weight of a value is 2 / (3 + 1).
  early_stopping one{1, 3};
  CATCH_CHECK(one.report(0.5));
  CATCH_CHECK(one.report(1));
  CATCH_CHECK(one.averages() == score_averages{0.75, 0.75});
  CATCH_CHECK_FALSE(one.report(0.5));
  CATCH_CHECK(one.averages() == score_averages{0.625, 0.75});
  CATCH_CHECK(one.should_stop());
  CATCH_CHECK(one.best_value() == 1);
  // What is no number counts, and leaves the average as it was.
  early_stopping other{2, 3, one.best_value(), 0, one.averages()};
  CATCH_CHECK_FALSE(other.report(std::numeric_limits<double>::quiet_NaN()));
  CATCH_CHECK(other.averages() == one.averages());
  CATCH_CHECK(other.since() == 1);
}
