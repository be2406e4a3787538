#include "actors/base/worker_pool.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

struct double_job {
  int value = 0;
  std::chrono::steady_clock::time_point until =
    std::chrono::steady_clock::time_point::max();
};
struct double_answer {
  int value = 0;
};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(double_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(double_answer)

namespace {

using double_worker = worker_actor<double_job, double_answer>;

/// Doubles; dies of 13, the first one of 17, too; refuses 7, has lost who knows
/// 88 and 89, and never answers 99.
class doubler {
public:
  using interface = double_worker;
  static constexpr const char* name = "doubler";
  doubler(interface::pointer self, int number)
    : self_(self), first_(number == 1) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const double_job& job) -> caf::result<double_answer> {
        if (job.value == 13)
          throw std::runtime_error("13 brings bad luck");
        if (job.value == 17 && first_)
          throw std::runtime_error("the first 17 brings bad luck");
        if (job.value == 7)
          return to_caf(fail(ec::invalid_argument, "7 is not doubled"));
        if (job.value == 88)
          return to_caf(fail(ec::unavailable, "88 cannot be reached"));
        if (job.value == 89)
          return to_caf(fail(ec::timeout, "89 does not answer"));
        if (job.value == 99) {
          kept_ = self_->make_response_promise<double_answer>();
          return kept_;
        }
        return double_answer{2 * job.value};
      },
    };
  }

private:
  interface::pointer self_;
  bool first_;
  caf::typed_response_promise<double_answer> kept_;
};

struct worker_pool_scene {
  test::simulation sim;
  std::shared_ptr<stage_counters> counters =
    std::make_shared<stage_counters>("doubler", 2);
  int spawned = 0;

  double_worker pool(worker_pool_config config) {
    config.stage = "doubler";
    return sim.own(spawn_state<worker_pool<double_job, double_answer>>(
      sim.system(), std::move(config),
      [this](caf::actor_system& system) {
        return spawn_state<doubler>(system, ++spawned);
      },
      counters));
  }

  struct outcome {
    std::vector<int> values;
    std::vector<error> errors;
  };

  std::shared_ptr<outcome> ask_all(const double_worker& pool,
                                   const std::vector<int>& values) {
    std::vector<double_job> jobs;
    for (auto value : values)
      jobs.push_back({value});
    return ask_jobs(pool, jobs);
  }

  std::shared_ptr<outcome> ask_jobs(const double_worker& pool,
                                    const std::vector<double_job>& jobs) {
    auto seen = std::make_shared<outcome>();
    sim.own(sim.system().spawn([=](caf::event_based_actor* self) {
      for (const auto& job : jobs)
        self->request(pool, 60min, job)
          .then(
            [seen](const double_answer& answer) {
              seen->values.push_back(answer.value);
            },
            [seen](const caf::error& reason) {
              seen->errors.push_back(from_caf(reason, "pool"));
            });
    }));
    sim.run();
    return seen;
  }

  /// Long enough for all pauses after which dead workers are replaced.
  void wait_for_new_workers() {
    for (int i = 0; i < 100; ++i)
      sim.advance(100ms);
  }
};

} // namespace

CATCH_TEST_CASE("a pool tells its gauge of jobs and of deaths",
                "[actors][pool]") {
  worker_pool_scene f;
  worker_pool_config config;
  config.workers = 2;
  config.gauge = std::make_shared<actor_gauge>(actor_label{actor_kind::sampler},
                                               config.workers);
  int deaths = 0;
  config.on_death = [&deaths](const std::string&) { ++deaths; };
  const auto pool = f.pool(config);
  f.ask_all(pool, {1, 2, 3, 4, 5});
  auto now = config.gauge->read();
  CATCH_CHECK(now.items == 5);
  CATCH_CHECK(now.latencies.total() == 5);
  CATCH_CHECK(now.queue == 0);
  CATCH_CHECK(now.now[std::size_t(actor_state::starved)] == 2);
  CATCH_CHECK(now.restarts == 0);
  f.ask_all(pool, {13});
  f.wait_for_new_workers();
  now = config.gauge->read();
  CATCH_CHECK(now.items == 5);
  CATCH_CHECK(now.restarts == 3);
  CATCH_CHECK(deaths == 3);
  CATCH_CHECK_FALSE(config.gauge->last_error().empty());
  CATCH_CHECK(now.now[std::size_t(actor_state::starved)] == 2);
}

CATCH_TEST_CASE("a pool answers all jobs", "[actors][pool]") {
  worker_pool_scene f;
  worker_pool_config config;
  config.workers = 2;
  auto seen = f.ask_all(f.pool(config), {1, 2, 3, 4, 5});
  CATCH_CHECK(seen->errors.empty());
  CATCH_CHECK(seen->values.size() == 5);
  CATCH_CHECK(f.spawned == 2);
}

CATCH_TEST_CASE("an error of a worker is passed on", "[actors][pool]") {
  worker_pool_scene f;
  auto seen = f.ask_all(f.pool({}), {7, 1});
  CATCH_REQUIRE(seen->errors.size() == 1);
  CATCH_CHECK(seen->errors[0].code == ec::invalid_argument);
  CATCH_CHECK(seen->errors[0].message == "7 is not doubled");
  CATCH_CHECK(seen->values == std::vector{2});
  CATCH_CHECK(f.counters->report().restarts == 0);
}

CATCH_TEST_CASE("a job is not begun once its asker has given up",
                "[actors][pool]") {
  worker_pool_scene f;
  double_job fatal{13}; // Who begins it dies.
  fatal.until = std::chrono::steady_clock::now() - 1h;
  double_job wanted{4};
  wanted.until = std::chrono::steady_clock::now() + 1h;
  auto seen = f.ask_jobs(f.pool({}), {fatal, fatal, wanted, fatal});
  CATCH_REQUIRE(seen->errors.size() == 3);
  for (const auto& reason : seen->errors)
    CATCH_CHECK(reason.code == ec::timeout);
  CATCH_CHECK(seen->values == std::vector{8});
  CATCH_CHECK(f.counters->report().restarts == 0);
}

CATCH_TEST_CASE("what a worker cannot reach does not count as its death",
                "[actors][pool]") {
  worker_pool_scene f;
  auto seen = f.ask_all(f.pool({}), {88, 89, 1});
  CATCH_REQUIRE(seen->errors.size() == 2);
  CATCH_CHECK(seen->errors[0].message == "88 cannot be reached");
  CATCH_CHECK(seen->errors[1].code == ec::timeout);
  CATCH_CHECK(seen->values == std::vector{2});
  CATCH_CHECK(f.counters->report().restarts == 0);
}

CATCH_TEST_CASE("a dead worker is replaced and its job done by another",
                "[actors][pool]") {
  worker_pool_scene f;
  auto seen = f.ask_all(f.pool({}), {1, 17, 3});
  f.wait_for_new_workers();
  CATCH_CHECK(seen->errors.empty());
  CATCH_CHECK(seen->values == std::vector{2, 34, 6});
  CATCH_CHECK(f.counters->report().restarts == 1);
  CATCH_CHECK(f.spawned == 2);
}

CATCH_TEST_CASE("a job that ends every worker fails with the cause",
                "[actors][pool]") {
  worker_pool_scene f;
  worker_pool_config config;
  config.attempts = 3;
  auto seen = f.ask_all(f.pool(config), {13, 4});
  f.wait_for_new_workers();
  CATCH_REQUIRE(seen->errors.size() == 1);
  CATCH_CHECK(seen->errors[0].message.find("13 brings bad luck")
              != std::string::npos);
  CATCH_CHECK(seen->values == std::vector{8});
  CATCH_CHECK(f.counters->report().restarts == 3);
}

CATCH_TEST_CASE("an idle worker takes a lost job at once", "[actors][pool]") {
  worker_pool_scene f;
  worker_pool_config config;
  config.workers = 2;
  config.attempts = 2;
  // The clock stands still, so that no worker is replaced.
  auto seen = f.ask_all(f.pool(config), {13});
  CATCH_REQUIRE(seen->errors.size() == 1);
  CATCH_CHECK(seen->errors[0].message.find("ended 2 workers")
              != std::string::npos);
  CATCH_CHECK(f.spawned == 2);
}

CATCH_TEST_CASE("a worker that hangs is replaced", "[actors][pool]") {
  worker_pool_scene f;
  worker_pool_config config;
  config.job_timeout = 50ms;
  config.attempts = 2;
  auto seen = f.ask_all(f.pool(config), {99, 5});
  f.sim.advance(1s);
  CATCH_REQUIRE(seen->errors.size() == 1);
  CATCH_CHECK(seen->values == std::vector{10});
  CATCH_CHECK(f.counters->report().restarts == 2);
}

CATCH_TEST_CASE("a worker is not ended for the time-out of the one before it",
                "[actors][pool]") {
  worker_pool_scene f;
  worker_pool_config config;
  config.job_timeout = 50ms;
  config.attempts = 1;
  auto seen = f.ask_all(f.pool(config), {13, 99});
  f.sim.advance(55ms); // The second job was given 10 ms after the first.
  CATCH_REQUIRE(seen->errors.size() == 1);
  CATCH_CHECK(f.counters->report().restarts == 1);
  f.sim.advance(10ms);
  CATCH_CHECK(seen->errors.size() == 2);
  CATCH_CHECK(f.counters->report().restarts == 2);
}

CATCH_TEST_CASE("jobs that are done leave no timers behind", "[actors][pool]") {
  worker_pool_scene f;
  worker_pool_config config;
  config.workers = 2;
  auto pool = f.pool(config);
  for (int i = 0; i < 200; ++i) {
    f.sim.own(f.sim.system().spawn([=](caf::event_based_actor* self) {
      self->request(pool, caf::infinite, double_job{i + 100})
        .then([](const double_answer&) {});
    }));
    f.sim.run();
    f.sim.advance(20ms);
  }
  CATCH_CHECK(f.counters->report().restarts == 0);
  CATCH_CHECK(f.sim.timers() <= 1);
}

CATCH_TEST_CASE("a pool that ends answers what it has taken",
                "[actors][pool]") {
  worker_pool_scene f;
  auto pool = f.pool({});
  auto seen = f.ask_all(pool, {99, 1, 2});
  CATCH_CHECK(seen->errors.empty());
  stop_actor(pool);
  f.sim.run();
  CATCH_CHECK(seen->errors.size() == 3);
}
