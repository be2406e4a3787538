#include "tests/actors/stages/dispatcher_scene.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace graphmill::test {

using namespace std::chrono_literals;

CATCH_TEST_CASE("all batches of a phase go through, in order",
                "[actors][dispatcher]") {
  dispatcher_scene f;
  f.begin(2);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 3, 4, 5});
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0, 1, 2, 3, 4, 5});
  CATCH_CHECK(f.failures->empty());
  f.begin(4, 1); // Orders go on, steps begin anew.
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CATCH_CHECK(f.sampler.jobs().back().key.epoch == 1);
  CATCH_CHECK(f.sampler.jobs().back().key.step == 2);
}

CATCH_TEST_CASE("as many batches are in flight as there are credits",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 3}};
  f.trainers[0]->hold = true;
  f.begin(2);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2});
  f.finish_oldest(0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 3});
  f.finish_oldest(0);
  f.finish_oldest(0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 3, 4, 5});
}

CATCH_TEST_CASE("bytes are reserved by bound, and given back when known",
                "[actors][dispatcher]") {
  dispatcher_scene probe;
  const auto bound = probe.bound(2);
  dispatcher_scene f{{2 * bound, 100}};
  f.sampler.script->hold = true;
  f.trainers[0]->hold = true;
  f.begin(2);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1});
  CATCH_CHECK(f.gauges->peak_bytes == 2 * bound);
  f.sampler.answer(f.sim, 0);
  f.sampler.answer(f.sim, 1);
  // They turned out smaller, but not by enough for a third one's bound.
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0, 1});
  CATCH_CHECK(f.sampled_steps() == steps{0, 1});
  f.finish_oldest(0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2});
  CATCH_CHECK(f.gauges->peak_bytes == 2 * bound);
  CATCH_CHECK(f.gauges->oversize == 0);
}

CATCH_TEST_CASE("a batch above the whole budget runs alone, and is counted",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1, 100}};
  f.trainers[0]->hold = true;
  f.begin(4);
  CATCH_CHECK(f.sampled_steps() == steps{0});
  f.finish_oldest(0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1});
  f.finish_oldest(0);
  f.finish_oldest(0);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0, 1, 2});
  CATCH_CHECK(f.gauges->oversize == 3);
}

CATCH_TEST_CASE("trainers get their batches in step order whatever comes first",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 100}, 2};
  // Three steps on two ranks: sequence numbers 0 to 5.
  f.begin_held(f.batcher, 4);
  CATCH_REQUIRE(f.batcher.jobs().size() == 6);
  for (auto late : {5, 2, 4, 1})
    f.batcher.answer(f.sim, static_cast<std::size_t>(late));
  CATCH_CHECK(f.trainers[0]->sequences.empty());
  CATCH_CHECK(f.trainers[1]->sequences == sequences{1});
  f.batcher.answer(f.sim, 0);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0, 2, 4});
  f.batcher.answer(f.sim, 3);
  CATCH_CHECK(f.trainers[1]->sequences == sequences{1, 3, 5});
}

CATCH_TEST_CASE("a rank without seeds takes part all the same",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 100}, 3};
  f.begin(2);
  std::size_t empty = 0;
  for (const auto& job : f.sampler.jobs())
    empty += job.seeds->count() == 0;
  CATCH_CHECK(empty == 6); // One rank of three in each of six steps.
  for (const auto& trainer : f.trainers)
    CATCH_CHECK(trainer->sequences.size() == 6);
}

CATCH_TEST_CASE("credit held for long is reported once, with its holder",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 2}};
  f.begin_held(f.batcher, 2);
  f.sim.advance(9s);
  CATCH_CHECK(f.log.str().empty());
  f.sim.advance(30s);
  const auto text = f.log.str();
  CATCH_INFO(text);
  const std::string report = "step 1, rank 0 has been in the batcher for 1";
  CATCH_REQUIRE(text.find(report) != std::string::npos);
  CATCH_CHECK(text.find(report, text.find(report) + 1) == std::string::npos);
  CATCH_CHECK(text.find("step 2") == std::string::npos);
}

CATCH_TEST_CASE("a batch does not hold credit while it stands in line",
                "[actors][dispatcher]") {
  dispatcher_scene f;
  f.trainers[0]->hold = true;
  f.begin(2); // All six steps are at the trainer, and each takes 9 s.
  CATCH_REQUIRE(f.trainers[0]->sequences.size() == 6);
  for (int i = 0; i < 5; ++i) {
    f.sim.advance(9s);
    f.finish_oldest(0);
  }
  CATCH_CHECK(f.log.str().empty());
  f.sim.advance(30s);
  const auto text = f.log.str();
  CATCH_INFO(text);
  CATCH_CHECK(text.find("step 6, rank 0 has been in the trainer for 1")
              != std::string::npos);
  CATCH_CHECK(text.find("has left") == std::string::npos);
  f.finish_oldest(0);
  CATCH_CHECK(f.log.str().find("step 6, rank 0 has left the trainer after ")
              != std::string::npos);
}

} // namespace graphmill::test
