#include "actors/base/phase_steps.hpp"
#include "actors/cluster/health/progress_gauge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

namespace graphmill::test {

using namespace std::chrono_literals;

CATCH_TEST_CASE("a gauge says what a run does that trains nothing",
                "[cluster][health]") {
  const auto told_of = [](const definition& def) {
    const auto gauge = std::make_shared<progress_gauge>(def, 80);
    run_observer told;
    progress_gauge::observe(gauge, told);
    told.on_begin(phase_request{});
    return gauge->read(progress_gauge::clock::now())->work;
  };
  definition def;
  def.train.batch_size = 10;
  def.evaluate.only = measured_split::validation;
  CATCH_CHECK(told_of(def) == "evaluate validation");
  def.evaluate.only = measured_split::none;
  def.evaluate.predict = true;
  CATCH_CHECK(told_of(def) == "predict");
}

CATCH_TEST_CASE("a gauge tells how far a run is", "[cluster][health]") {
  definition def;
  def.train.epochs = 3;
  def.train.batch_size = 10;
  const auto gauge = std::make_shared<progress_gauge>(def, 80);
  run_observer told;
  int begins = 0, steps = 0, phases = 0, checkpoints = 0;
  told.on_begin = [&begins](const phase_request&) { ++begins; };
  told.on_step = [&steps](const phase_request&, std::int64_t,
                          const batch_metrics&) { ++steps; };
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
  told.on_begin(work);
  told.on_step(work, 4, {});
  auto now = read();
  CATCH_REQUIRE(now);
  CATCH_CHECK((now->phase == phase::train));
  CATCH_CHECK(now->epoch == 1);
  CATCH_CHECK(now->epochs == 3);
  CATCH_CHECK(now->work.empty());
  CATCH_CHECK(now->step == 4);
  CATCH_CHECK(now->steps == 8);
  CATCH_CHECK(now->learning_rate == 0.5);
  CATCH_CHECK(std::isnan(now->loss));
  CATCH_CHECK(now->checkpoint_age == -1);
  // The first epoch is told of as it goes on, by all ranks.
  told.on_step(work, 4, {8.0, 1, 4});
  told.on_step(work, 5, {1.0, 1, 2});
  CATCH_CHECK(read()->loss == 1.5);
  phase_result done;
  done.metrics = {3.0, 1, 4};
  value_of(told.on_phase(done));
  CATCH_CHECK(read()->loss == 0.75);
  ++work.epoch;
  told.on_begin(work);
  told.on_step(work, 1, {8.0, 1, 4});
  CATCH_CHECK(read()->loss == 0.75);
  // The loss is that of training, and what others say of a phase counts.
  done.phase = phase::validation;
  done.metrics = {9.0, 1, 4};
  CATCH_CHECK_FALSE(told.on_phase(done));
  CATCH_CHECK(read()->loss == 0.75);
  // What is handed over to be written may not get to the disk.
  told.on_checkpoint({});
  CATCH_CHECK(read()->checkpoint_age == -1);
  gauge->wrote_checkpoint();
  CATCH_CHECK(read()->checkpoint_age >= 10);
  CATCH_CHECK(begins == 2);
  CATCH_CHECK(steps == 4);
  CATCH_CHECK(phases == 2);
  CATCH_CHECK(checkpoints == 1);
}

namespace {

/// A gauge of three epochs of 65 seeds in batches of 10, whose clock is set by
/// hand.
struct timed_gauge {
  explicit timed_gauge(const progress_before& before = {},
                       std::uint32_t max_steps = 0) {
    definition def;
    def.train.epochs = 3;
    def.train.max_steps = max_steps;
    def.train.batch_size = 10;
    gauge = std::make_shared<progress_gauge>(def, 65, before, [this] {
      return progress_gauge::clock::time_point{at};
    });
    progress_gauge::observe(gauge, told);
  }
  timed_gauge(const timed_gauge&) = delete;
  timed_gauge& operator=(const timed_gauge&) = delete;

  phase_request begin(phase which, std::int32_t epoch, std::int64_t steps,
                      std::int64_t first = 0) {
    phase_request work;
    work.phase = which;
    work.epoch = epoch;
    work.steps = steps;
    work.first = first;
    told.on_begin(work);
    return work;
  }

  /// Seeds per second, and seconds left.
  std::pair<double, double> pace() const {
    const auto now = gauge->read(progress_gauge::clock::time_point{at});
    return now ? std::pair{now->seeds_per_second, now->seconds_left}
               : std::pair{-2.0, -2.0};
  }

  std::chrono::seconds at{100};
  std::shared_ptr<progress_gauge> gauge;
  run_observer told;
};

} // namespace

CATCH_TEST_CASE("the pace is that of steps which all ranks have done",
                "[cluster][health]") {
  timed_gauge f;
  using pace = std::pair<double, double>;
  auto work = f.begin(phase::train, 0, 7);
  CATCH_CHECK(f.pace() == pace{0, -1});
  // Two trainers: the first one tells of half a step.
  for (const auto done : {1, 2, 3}) {
    f.at += 1s;
    f.told.on_step(work, done - 1, {});
    if (done == 1)
      CATCH_CHECK(f.pace() == pace{0, -1});
    f.at += 1s;
    f.told.on_step(work, done, {});
    // 10 seeds in 2 s; the rest of 7 steps, and 14 of two more epochs.
    CATCH_CHECK(f.pace() == pace{5, 2 * (7 - done + 14)});
  }
  // The last step has 5 seeds.
  f.at += 8s;
  f.told.on_step(work, 7, {});
  CATCH_CHECK(f.pace() == pace{65.0 / 14, 28});

  // It stays while others are evaluated, and until there is a new one.
  work = f.begin(phase::validation, 0, 1);
  f.told.on_step(work, 0, {});
  f.told.on_step(work, 1, {});
  CATCH_CHECK(f.pace() == pace{65.0 / 14, 28});
  work = f.begin(phase::train, 1, 7);
  CATCH_CHECK(f.pace() == pace{65.0 / 14, 28});
  f.at += 1s;
  f.told.on_step(work, 1, {});
  CATCH_CHECK(f.pace() == pace{10, 13});
  f.begin(phase::test, 2, 1);
  CATCH_CHECK(f.pace() == pace{10, 0});
}

CATCH_TEST_CASE("the pace of a long epoch is that of its last seconds",
                "[cluster][health]") {
  definition def;
  def.train.epochs = 1;
  def.train.batch_size = 10;
  auto at = std::chrono::steady_clock::time_point{1h};
  const auto gauge = std::make_shared<progress_gauge>(
    def, 100'000, progress_before{}, [&at] { return at; });
  run_observer told;
  progress_gauge::observe(gauge, told);
  phase_request work;
  work.steps = 10'000;
  told.on_begin(work);
  std::int64_t step = 0;
  const auto pace_after = [&](int steps, std::chrono::milliseconds each) {
    for (int i = 0; i < steps; ++i) {
      at += each;
      told.on_step(work, ++step, {});
    }
    const auto now = gauge->read(at);
    CATCH_REQUIRE(now);
    return *now;
  };
  CATCH_CHECK(pace_after(1000, 100ms).seeds_per_second == Approx(100));
  // It becomes ten times slower, and is so for longer than is looked back.
  const auto slow = pace_after(21, 1s);
  CATCH_CHECK(slow.seeds_per_second == Approx(10));
  CATCH_CHECK(slow.seconds_left == Approx(10'000 - 1021));
  // Steps that take longer than that have a pace, too.
  CATCH_CHECK(pace_after(5, 40s).seeds_per_second == Approx(0.25));
}

CATCH_TEST_CASE("the loss of a long epoch is that of its last seconds",
                "[cluster][health]") {
  timed_gauge f;
  const auto loss = [&f] {
    return f.gauge->read(progress_gauge::clock::time_point{f.at})->loss;
  };
  auto work = f.begin(phase::train, 0, 7);
  const auto step = [&](std::int64_t done, double of_each) {
    f.at += 5s;
    f.told.on_step(work, done - 1, {6 * of_each, 3, 6});
    f.told.on_step(work, done, {4 * of_each, 2, 4});
    return loss();
  };
  const auto end_with = [&](double mean) {
    phase_result done;
    done.metrics = {65 * mean, 1, 65};
    value_of(f.told.on_phase(done));
    return loss();
  };
  // The first one: all that there is, then less and less of its begin.
  CATCH_CHECK(step(1, 8) == 8);
  CATCH_CHECK(step(2, 6) == 7);
  CATCH_CHECK(step(3, 4) == 6);
  CATCH_CHECK(step(4, 2) == 5);
  CATCH_CHECK(step(5, 2) == Approx(8.0 / 3)); // Of 4, 2 and 2.
  CATCH_CHECK(step(6, 2) == 2.5);
  CATCH_CHECK(step(7, 2) == 2);
  CATCH_CHECK(end_with(4) == 2);
  // While others are evaluated, and until the next one has taken that long.
  work = f.begin(phase::validation, 0, 1);
  CATCH_CHECK(step(1, 9) == 2);
  work = f.begin(phase::train, 1, 7);
  CATCH_CHECK(step(1, 1) == 2);
  CATCH_CHECK(step(2, 1) == 2);
  CATCH_CHECK(step(3, 1) == 1);
  // One that is over before is told of when it is.
  work = f.begin(phase::train, 2, 1);
  CATCH_CHECK(step(1, 0.5) == 1);
  CATCH_CHECK(end_with(0.75) == 0.75);
}

CATCH_TEST_CASE("the loss of an epoch that goes on is of the steps since then",
                "[cluster][health]") {
  timed_gauge f{{0.75}};
  const auto work = f.begin(phase::train, 1, 7, 2);
  const auto step = [&](std::int64_t done, double loss) {
    f.at += 6s;
    f.told.on_step(work, done, {10 * loss, 1, 10});
    return f.gauge->read(progress_gauge::clock::time_point{f.at})->loss;
  };
  CATCH_CHECK(step(3, 4) == 0.75); // Not long yet.
  CATCH_CHECK(step(4, 2) == 0.75);
  CATCH_CHECK(step(5, 3) == 3); // Of the three that it has done.
  CATCH_CHECK(step(6, 1) == 2.5);
  CATCH_CHECK(step(7, 2) == 2); // It looks back to the second one.
}

CATCH_TEST_CASE("an attempt has the pace of its own steps, and what is left of "
                "those before",
                "[cluster][health]") {
  timed_gauge f{
    {0.75, progress_gauge::clock::time_point{std::chrono::seconds{100}}}};
  f.at += 7s;
  const auto work = f.begin(phase::train, 2, 7, 5);
  f.at += 2s;
  f.told.on_step(work, 6, {});
  CATCH_CHECK(f.pace() == std::pair{5.0, 2.0});
  const auto now = f.gauge->read(progress_gauge::clock::time_point{f.at});
  CATCH_CHECK(now->step == 6);
  CATCH_CHECK(now->loss == 0.75);
  CATCH_CHECK(now->checkpoint_age == 9);
}

CATCH_TEST_CASE("the time left is that to the end of the run",
                "[cluster][health]") {
  using pace = std::pair<double, double>;
  {
    // Of 21 steps it does 10, the last 3 of them in its second epoch.
    timed_gauge f{{}, 10};
    auto work = f.begin(phase::train, 0, 7);
    f.at += 1s;
    f.told.on_step(work, 1, {});
    CATCH_CHECK(f.pace() == pace{10, 9});
    work = f.begin(phase::validation, 0, 1);
    CATCH_CHECK(f.pace() == pace{10, 9}); // As it was told last.
    work.phase = phase::train;
    work.epoch = 1;
    work.steps = 3;
    work.from.train_steps = 7;
    f.told.on_begin(work);
    f.at += 2s;
    f.told.on_step(work, 1, {});
    CATCH_CHECK(f.pace() == pace{5, 4});
  }
  // It pauses after 4 steps of its first epoch, for other trainers.
  timed_gauge f;
  const auto work = f.begin(phase::train, 0, 4);
  f.at += 4s;
  f.told.on_step(work, 4, {});
  CATCH_CHECK(f.pace() == pace{10, 17});
}

CATCH_TEST_CASE("nobody has to take checkpoints for progress",
                "[cluster][health]") {
  definition def;
  def.train.batch_size = 1;
  const auto gauge = std::make_shared<progress_gauge>(def, 1);
  run_observer told;
  progress_gauge::observe(gauge, told);
  CATCH_CHECK_FALSE(told.on_checkpoint);
  told.on_begin({});
  told.on_step({}, 1, {});
  value_of(told.on_phase({}));
  CATCH_CHECK(gauge->read(progress_gauge::clock::now()));
}

CATCH_TEST_CASE("a gauge knows no pace of a run that stands still",
                "[cluster][health]") {
  using namespace std::chrono_literals;
  timed_gauge it;
  const auto work = it.begin(phase::train, 0, 7);
  it.at += 2s;
  it.told.on_step(work, 2, {}); // One in a second: five of them are patience.
  it.at += 5s;
  CATCH_CHECK(it.pace().first == 10);
  it.at += 1s;
  CATCH_CHECK(it.pace() == std::pair{0.0, -1.0});
  it.told.on_step(work, 3, {});
  CATCH_CHECK(it.pace().first > 0);
  CATCH_CHECK(it.pace().second > 0);
  // Between phases nothing is trained, and the pace stays.
  it.told.on_step(work, 7, {});
  it.at += 60s;
  CATCH_CHECK(it.pace().first > 0);
  it.begin(phase::validation, 0, 7);
  it.at += 60s;
  CATCH_CHECK(it.pace().first > 0);
}

} // namespace graphmill::test
