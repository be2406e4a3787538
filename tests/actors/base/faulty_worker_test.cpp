#include "actors/base/faulty_worker.hpp"
#include "actors/base/worker_pool.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

struct halving_job {
  int value = 0;
};
struct halving_answer {
  int value = 0;
};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(halving_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(halving_answer)

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;
using halving_worker = worker_actor<halving_job, halving_answer>;

/// What becomes of the workers of a test.
struct worker_census {
  std::vector<int> begun; ///< Values of jobs.
  int living = 0;
};

/// Halves; answers odd numbers when the clock moves, refuses 0, dies of 13.
class halver {
public:
  using interface = halving_worker::extend<takes<tick>>;
  static constexpr const char* name = "halver";
  halver(interface::pointer self, worker_census* seen)
    : self_(self), seen_(seen) {
    ++seen_->living;
  }
  ~halver() { --seen_->living; }

  interface::behavior_type make_behavior() {
    return {
      [this](const halving_job& job) -> caf::result<halving_answer> {
        seen_->begun.push_back(job.value);
        if (job.value == 13)
          throw std::runtime_error("13 brings bad luck");
        if (job.value == 0)
          return to_caf(fail(ec::invalid_argument, "0 is not halved"));
        if (job.value % 2 == 0)
          return halving_answer{job.value / 2};
        post_later(handle_of<interface>(self_), 1ms, tick{});
        kept_ = self_->make_response_promise<halving_answer>();
        half_ = job.value / 2;
        return kept_;
      },
      [this](const tick&) { kept_.deliver(halving_answer{half_}); },
    };
  }

private:
  interface::pointer self_;
  worker_census* seen_;
  int half_ = 0;
  caf::typed_response_promise<halving_answer> kept_;
};

struct faulty_pool_scene {
  worker_census seen; // Outlives the workers.
  simulation sim;
  std::shared_ptr<stage_counters> counters =
    std::make_shared<stage_counters>("halver", 2);
  std::vector<int> values;
  std::vector<error> errors;
  std::vector<std::string> deaths;

  halving_worker pool(worker_faults<halving_job> faults,
                      std::uint32_t workers = 1,
                      std::shared_ptr<actor_gauge> gauge = nullptr) {
    worker_pool_config config;
    config.stage = "halver";
    config.workers = workers;
    config.gauge = std::move(gauge);
    config.on_death = [this](const std::string& why) { deaths.push_back(why); };
    return sim.own(spawn_state<worker_pool<halving_job, halving_answer>>(
      sim.system(), std::move(config),
      with_faults<halving_job, halving_answer>(
        std::move(faults), counters,
        [this](caf::actor_system& system) {
          return spawn_state<halver>(system, &seen);
        }),
      counters));
  }

  void ask_all(const halving_worker& pool, const std::vector<int>& jobs) {
    sim.own(sim.system().spawn([=, this](caf::event_based_actor* self) {
      for (const auto value : jobs)
        self->request(pool, 60min, halving_job{value})
          .then(
            [this](const halving_answer& answer) {
              values.push_back(answer.value);
            },
            [this](const caf::error& reason) {
              errors.push_back(from_caf(reason, "pool"));
            });
    }));
    sim.run();
  }

  /// Longer than all pauses after which dead workers are replaced.
  void wait_for_new_workers() { sim.advance(10s, 100ms); }

  std::vector<int> sorted() const {
    auto out = values;
    std::sort(out.begin(), out.end());
    return out;
  }
};

} // namespace

CATCH_TEST_CASE("faults end workers before jobs and in the middle of them",
                "[actors][faults]") {
  faulty_pool_scene f;
  // Of the jobs given, the second is not begun. The fourth is done, but its
  // answer is lost, and the worker gets no other job before its death is known.
  f.ask_all(f.pool({.crash_every = 2}), {2, 4, 6});
  f.wait_for_new_workers();
  CATCH_CHECK(f.errors.empty());
  CATCH_CHECK(f.values == std::vector{1, 2, 3});
  CATCH_CHECK(f.seen.begun == std::vector{2, 4, 6, 6});
  CATCH_CHECK(f.counters->report().restarts == 2);
  CATCH_CHECK(f.deaths == std::vector<std::string>{crash_text, crash_text});
  CATCH_CHECK(f.seen.living == 1);
}

CATCH_TEST_CASE("a worker that dies while it waits has not answered",
                "[actors][faults]") {
  faulty_pool_scene f;
  // Of the jobs given, the second dies before it begins, the fourth midway.
  f.ask_all(f.pool({.crash_every = 2}), {3, 5, 7});
  f.wait_for_new_workers();
  CATCH_CHECK(f.errors.empty());
  CATCH_CHECK(f.sorted() == std::vector{1, 2, 3});
  CATCH_CHECK(f.seen.begun == std::vector{3, 5, 7, 7});
  CATCH_CHECK(f.counters->report().restarts == 2);
}

CATCH_TEST_CASE("a worker that dies midway has done half of its job",
                "[actors][faults]") {
  for (const bool half : {true, false}) {
    faulty_pool_scene f;
    worker_faults<halving_job> faults{.crash_every = 2};
    faults.half = [half](const halving_job& job) {
      return half ? std::optional{halving_job{-job.value}} : std::nullopt;
    };
    f.ask_all(f.pool(faults), {2, 4, 6});
    f.wait_for_new_workers();
    CATCH_CHECK(f.errors.empty());
    CATCH_CHECK(f.sorted() == std::vector{1, 2, 3});
    CATCH_CHECK(f.seen.begun
                == (half ? std::vector{2, 4, -6, 6} : std::vector{2, 4, 6}));
    CATCH_CHECK(f.counters->report().restarts == 2);
  }
}

CATCH_TEST_CASE("a job whose workers all die fails with the fault",
                "[actors][faults]") {
  faulty_pool_scene f;
  f.ask_all(f.pool({.crash_every = 1}), {3});
  f.wait_for_new_workers();
  CATCH_REQUIRE(f.errors.size() == 1);
  CATCH_CHECK(f.errors[0].message
              == "halver gave up on a job that ended 3 workers: "
                 "ended on purpose (faults.crash_every)");
}

CATCH_TEST_CASE("faults of a pool are counted over all of its workers",
                "[actors][faults]") {
  faulty_pool_scene f;
  const auto pool = f.pool({.crash_every = 5}, 2);
  for (int i = 0; i < 200; ++i) {
    f.ask_all(pool, {2 * i + 2});
    f.sim.advance(20ms);
  }
  // Every fifth of the 200 jobs, and of the 49 given again: half of the workers
  // end as they take a job, the other half when they have done it.
  CATCH_CHECK(f.values.size() == 200);
  CATCH_CHECK(f.counters->report().restarts == 49);
  CATCH_CHECK(f.seen.living == 2);
}

CATCH_TEST_CASE("errors and deaths of a faulty worker are those of its own",
                "[actors][faults]") {
  for (const auto late : {0ms, 20ms}) {
    faulty_pool_scene f;
    f.ask_all(f.pool({.job_delay = 1ms, .reply_delay = late}), {0, 13, 4});
    f.wait_for_new_workers();
    CATCH_REQUIRE(f.errors.size() == 2);
    CATCH_CHECK(f.errors[0].message == "0 is not halved");
    CATCH_CHECK(f.errors[1].message
                == "halver gave up on a job that ended 3 workers: halver "
                   "crashed: 13 brings bad luck");
    CATCH_CHECK(f.values == std::vector{2});
    CATCH_CHECK(f.counters->report().restarts == 3);
    CATCH_CHECK(f.seen.living == 1);
  }
}

CATCH_TEST_CASE("late answers come in another order, all of them",
                "[actors][faults]") {
  faulty_pool_scene f;
  const std::vector jobs{2, 4, 6, 8, 10, 12, 14, 16};
  f.ask_all(f.pool({.reply_delay = 20ms}, 4), jobs);
  CATCH_CHECK(f.values.size() < jobs.size());
  f.sim.advance(100ms);
  CATCH_REQUIRE(f.values.size() == jobs.size());
  CATCH_CHECK_FALSE(std::is_sorted(f.values.begin(), f.values.end()));
}

CATCH_TEST_CASE("a worker that a fault slows does one job after the other",
                "[actors][faults]") {
  faulty_pool_scene f;
  const auto gauge =
    std::make_shared<actor_gauge>(actor_label{actor_kind::batcher});
  f.ask_all(f.pool({.job_delay = 600ms}, 1, gauge), {2, 4});
  CATCH_CHECK(f.values.empty());
  CATCH_CHECK(gauge->read().now[std::size_t(actor_state::running)] == 1);
  f.sim.advance(300ms); // A long delay counts as work while it lasts.
  CATCH_CHECK(f.counters->report().busy_seconds == Approx(0.25));
  f.sim.advance(350ms);
  CATCH_CHECK(f.values == std::vector{1});
  f.sim.advance(600ms);
  CATCH_CHECK(f.values == std::vector{1, 2});
  CATCH_CHECK(f.counters->report().busy_seconds == Approx(1.2));
}

CATCH_TEST_CASE("a fault that slows jobs and one that ends workers",
                "[actors][faults]") {
  faulty_pool_scene f;
  f.ask_all(f.pool({.crash_every = 2, .job_delay = 20ms}, 2), {2, 4, 6, 8});
  f.wait_for_new_workers();
  CATCH_CHECK(f.errors.empty());
  CATCH_CHECK(f.sorted() == std::vector{1, 2, 3, 4});
  CATCH_CHECK(f.counters->report().restarts > 0);
}

CATCH_TEST_CASE("a pool that ends answers jobs that faults hold, and ends all",
                "[actors][faults]") {
  faulty_pool_scene f;
  const auto pool = f.pool({.job_delay = 100ms, .reply_delay = 100ms}, 2);
  f.ask_all(pool, {2, 4, 6});
  f.sim.advance(120ms); // Some answers are late, a job is held.
  const auto done = f.values.size();
  stop_actor(pool);
  f.sim.run();
  CATCH_CHECK(f.errors.size() == 3 - done);
  CATCH_CHECK(f.seen.living == 0);
}

} // namespace graphmill::test
