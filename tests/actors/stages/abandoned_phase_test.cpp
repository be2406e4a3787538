#include "tests/actors/stages/dispatcher_scene.hpp"
#include "tests/support/catch.hpp"

#include <cstddef>

namespace graphmill::test {

CATCH_TEST_CASE("what is left of an abandoned phase reaches no trainer",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 3}};
  f.fetcher.script->hold = true;
  f.begin(2); // Steps 0 to 2 are with the fetcher, and step 3 waits for credit.
  CATCH_REQUIRE(f.sampled_steps() == steps{0, 1, 2});
  f.begin(4, 1);
  // Credit comes back when the stage answers, whatever it answers.
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2});
  for (std::size_t job = 0; job < 3; ++job)
    f.fetcher.answer(f.sim, job);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 0, 1, 2});
  CATCH_CHECK(f.sampler.jobs().back().key.epoch == 1);
  CATCH_CHECK(f.trainers[0]->sequences.empty());
  for (std::size_t job = 3; job < 6; ++job)
    f.fetcher.answer(f.sim, job);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{4, 5, 6});
  CATCH_CHECK(f.trainers[0]->works.front()->epoch == 1);
  CATCH_CHECK(f.failures->empty());
}

CATCH_TEST_CASE("a trainer keeps the batches of an abandoned phase that it has",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 2}};
  f.trainers[0]->hold = true;
  f.begin(2);
  CATCH_REQUIRE(f.trainers[0]->sequences == sequences{0, 1});
  f.begin(6, 1);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0, 1});
  f.finish_oldest(0); // Its credit lets the next phase in.
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0, 1, 3});
  f.finish_oldest(0);
  f.finish_oldest(0);
  f.finish_oldest(0);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{0, 1, 3, 4});
  CATCH_CHECK(f.failures->empty());
}

CATCH_TEST_CASE("batches that stand in line when their phase is abandoned are "
                "dropped",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 3}};
  f.fetcher.script->hold = true;
  f.begin(2);
  f.fetcher.answer(f.sim, 1); // They wait for step 0.
  f.fetcher.answer(f.sim, 2);
  f.begin(4, 1);
  // Two credits are back at once, the third with the answer for step 0.
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 0, 1});
  f.fetcher.answer(f.sim, 0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 0, 1, 2});
  for (std::size_t job = 3; job < 6; ++job)
    f.fetcher.answer(f.sim, job);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{4, 5, 6});
  CATCH_CHECK(f.failures->empty());
}

CATCH_TEST_CASE("an abandoned batch that is lost fails nothing",
                "[actors][dispatcher]") {
  dispatcher_scene f{{1 << 30, 1}};
  f.sampler.script->hold = true;
  f.begin(2);
  f.begin(12, 1);
  CATCH_REQUIRE(f.sampled_steps() == steps{0});
  f.sampler.answer(f.sim, 0, fail(ec::invalid_data, "broken"));
  f.sampler.answer(f.sim, 1);
  CATCH_CHECK(f.trainers[0]->sequences == sequences{2});
  CATCH_CHECK(f.failures->empty());
}

} // namespace graphmill::test
