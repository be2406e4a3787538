#include "tests/actors/stages/dispatcher_scene.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace graphmill::test {

using namespace std::chrono_literals;

CATCH_TEST_CASE("a batch that a stage loses is begun anew",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 1}};
  f.begin_held(f.fetcher, 12);
  f.fetcher.answer(f.sim, 0, fail(ec::unavailable, "it is gone"));
  CATCH_CHECK(f.sampler.jobs().size() == 1); // Not at once.
  f.sim.advance(49ms);
  CATCH_CHECK(f.sampler.jobs().size() == 1);
  f.sim.advance(51ms);
  CATCH_CHECK(f.sampler.jobs().size() == 2);
  f.fetcher.answer(f.sim, 1, fail(ec::crashed, "it burnt"));
  f.sim.advance(99ms);
  CATCH_CHECK(f.sampler.jobs().size() == 2);
  f.sim.advance(101ms);
  f.fetcher.answer(f.sim, 2);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0});
  CATCH_CHECK(f.failures->empty());
  CATCH_CHECK(f.gauges->retried == 2);
  CATCH_CHECK(f.sampled_steps() == steps{0, 0, 0});
  const auto& jobs = f.sampler.jobs();
  CATCH_CHECK(jobs[2].stream == jobs[0].stream);
  CATCH_CHECK(*jobs[2].seeds == *jobs[0].seeds);
  CATCH_CHECK(f.log.str().find("step 1, rank 0: it burnt; repeating it")
              != std::string::npos);
}

CATCH_TEST_CASE("batches lost together do not come back together",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 6}};
  f.begin_held(f.sampler, 2);
  CATCH_REQUIRE(f.sampler.jobs().size() == 6);
  for (std::size_t i = 0; i < 6; ++i)
    f.sampler.answer(f.sim, i, fail(ec::timeout, "no answer"));
  auto before = f.sampler.jobs().size();
  std::size_t most = 0;
  for (int ms = 0; ms < 100; ++ms) {
    f.sim.advance(1ms);
    most = std::max(most, f.sampler.jobs().size() - before);
    before = f.sampler.jobs().size();
  }
  CATCH_CHECK(before == 12);
  CATCH_CHECK(most < 6);
}

CATCH_TEST_CASE("a batch lost three times fails the run, by name and cause",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 1}};
  f.begin_held(f.sampler, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    f.sampler.answer(f.sim, i, fail(ec::crashed, "crash {}", i));
    f.sim.advance(1s);
  }
  CATCH_CHECK(f.failure().message
              == "batch of phase train, epoch 1, step 1, rank 0 failed 3 "
                 "times, last in the sampler: crash 2");
  CATCH_CHECK(f.sampler.jobs().size() == 3);
}

CATCH_TEST_CASE("an error that would come again fails the run at once",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 1}};
  f.begin_held(f.fetcher, 2);
  f.fetcher.answer(f.sim, 0, fail(ec::io, "features.npy was shortened"));
  CATCH_CHECK(f.failure().code == ec::io);
  CATCH_CHECK(f.failure().message
              == "batch of phase train, epoch 1, step 1, rank 0 failed in the "
                 "fetcher: features.npy was shortened");
}

CATCH_TEST_CASE("stages that shut down do not fail a run that is ending",
                "[actors][dispatcher]") {
  dispatcher_scene f;
  f.begin_held(f.sampler, 12);
  f.sampler.answer(f.sim, 0, fail(ec::cancelled, "shutting down"));
  CATCH_CHECK(f.failures->empty());
  CATCH_CHECK(f.sampler.jobs().size() == 1);
  // But if it goes on, the batch is not waited for for ever.
  f.sim.advance(19s, 1s);
  CATCH_CHECK(f.failures->empty());
  f.sim.advance(1s, 1s);
  CATCH_CHECK(f.failure().code == ec::unavailable);
}

CATCH_TEST_CASE("a stage that does not answer in time loses its batch",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 1}};
  f.begin_held(f.sampler, 12);
  f.sim.advance(61s);
  CATCH_CHECK(f.sampler.jobs().size() == 2);
  f.sampler.answer(f.sim, 0); // Too late: nobody waits for it.
  CATCH_CHECK(f.trainers[0]->sequences.empty());
  f.sampler.answer(f.sim, 1);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0});
}

CATCH_TEST_CASE("batches that wait in line for a slow trainer do not fail",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 6}};
  f.trainers[0]->hold = true;
  f.begin(2);
  for (int i = 0; i < 6; ++i) {
    f.sim.advance(50s, 1s); // Of a minute.
    f.finish_oldest(0);
  }
  CATCH_CHECK(f.failures->empty());
  f.begin(12, 1);
  f.sim.advance(61s, 1s);
  CATCH_CHECK(f.failure().code == ec::timeout);
}

} // namespace graphmill::test
