#include "actors/cluster/health/progress_gauge.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

namespace graphmill::test {

using namespace std::chrono_literals;

CATCH_TEST_CASE("a gauge tells how far a run is", "[cluster][health]") {
  definition def;
  def.train.epochs = 3;
  const auto gauge = std::make_shared<progress_gauge>(def);
  run_observer told;
  int steps = 0, phases = 0, checkpoints = 0;
  told.on_step = [&steps](const phase_request&, std::int64_t) { ++steps; };
  told.on_phase = [&phases](const phase_result&) -> result<void> {
    if (++phases > 1)
      return fail(ec::io, "no more");
    return ok();
  };
  told.on_checkpoint = [&checkpoints](training_state) { ++checkpoints; };
  progress_gauge::observe(gauge, told);
  const auto read = [&gauge] {
    return gauge->read(progress_gauge::clock::now() + 10s);
  };
  CATCH_CHECK_FALSE(read());
  phase_request work;
  work.epoch = 1;
  work.steps = 8;
  work.learning_rate = 0.5;
  told.on_step(work, 4);
  auto now = read();
  CATCH_REQUIRE(now);
  CATCH_CHECK((now->phase == phase::train));
  CATCH_CHECK(now->epoch == 1);
  CATCH_CHECK(now->epochs == 3);
  CATCH_CHECK(now->step == 4);
  CATCH_CHECK(now->steps == 8);
  CATCH_CHECK(now->learning_rate == 0.5);
  CATCH_CHECK(std::isnan(now->loss));
  // One step says nothing about the pace.
  CATCH_CHECK(now->seeds_per_second == 0);
  CATCH_CHECK(now->seconds_left == -1);
  CATCH_CHECK(now->checkpoint_age == -1);
  phase_result done;
  done.metrics = {3.0, 1, 4};
  value_of(told.on_phase(done));
  CATCH_CHECK(read()->loss == 0.75);
  // The loss is that of training, and what others say of a phase counts.
  done.phase = phase::validation;
  done.metrics = {9.0, 1, 4};
  CATCH_CHECK_FALSE(told.on_phase(done));
  CATCH_CHECK(read()->loss == 0.75);
  told.on_checkpoint({});
  CATCH_CHECK(read()->checkpoint_age >= 10);
  CATCH_CHECK(steps == 1);
  CATCH_CHECK(phases == 2);
  CATCH_CHECK(checkpoints == 1);
}

CATCH_TEST_CASE("nobody has to take checkpoints for progress",
                "[cluster][health]") {
  const auto gauge = std::make_shared<progress_gauge>(definition{});
  run_observer told;
  progress_gauge::observe(gauge, told);
  CATCH_CHECK_FALSE(told.on_checkpoint);
  told.on_step({}, 1);
  value_of(told.on_phase({}));
  CATCH_CHECK(gauge->read(progress_gauge::clock::now()));
}

} // namespace graphmill::test
