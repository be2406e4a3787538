#include "pipelines/gradients/gradient_set.hpp"
#include "tests/pipelines/gradients/gradient_sets.hpp"
#include "tests/pipelines/gradients/ranks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"

#include <random>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

const gradient_shape mixed{103, {{20, 3}, {5, 1}}};
const bucket_limits tiny{64, 160};

std::vector<shared_set> zeros(rank_id ranks, const gradient_shape& shape) {
  std::mt19937_64 random{1};
  return std::vector<shared_set>(static_cast<std::size_t>(ranks),
                                 random_set(random, shape, true));
}

std::vector<step_word> words(rank_id ranks, std::int64_t step) {
  return std::vector<step_word>(static_cast<std::size_t>(ranks),
                                step_word{.step = step});
}

} // namespace

CATCH_TEST_CASE("sums equal those of one process, bit by bit", "[gradients]") {
  const auto ranks = GENERATE(1, 2, 3, 4);
  const auto dense = GENERATE(0, 1, 2, 103, 20011);
  gradient_shape shape = mixed;
  shape.dense = dense;
  if (dense == 2)
    shape.tables.clear();
  CATCH_INFO(ranks << " ranks, " << dense << " floats, seed " << 100 + dense);
  std::mt19937_64 random(100 + dense);
  rank_group group{ranks, shape,
                   dense > 1000 ? bucket_limits{4096, 16384} : tiny};
  group.start();
  for (std::int64_t step = 0; step < 4; ++step) {
    std::vector<shared_set> parts;
    for (rank_id r = 0; r < ranks; ++r) // One rank had no seeds.
      parts.push_back(random_set(random, shape, step > 0 && r == step - 1));
    std::vector<gradient_set> before;
    for (const auto& part : parts)
      before.push_back(copy_of(*part));
    const auto wanted = sum_of(parts);
    const auto sums = group.step(all_ranks(ranks), parts, words(ranks, step));
    for (std::size_t r = 0; r < sums.size(); ++r) {
      const auto sum = value_of(sums[r]);
      CATCH_CHECK(same(*sum.gradients, wanted));
      CATCH_CHECK(same(*parts[r], before[r]));
      CATCH_CHECK_FALSE(sum.last);
    }
  }
}

CATCH_TEST_CASE(
  "all ranks stop after the same step, and know what all ranks had",
  "[gradients]") {
  rank_group group{3, mixed, tiny};
  group.start();
  const auto parts = zeros(3, mixed);
  for (std::int64_t step = 5; step < 8; ++step) {
    auto said = words(3, step);
    said[1].stop = step == 7;
    for (const auto& each : group.step(all_ranks(3), parts, said)) {
      const auto sum = value_of(each);
      CATCH_CHECK(sum.last == (step == 7));
      CATCH_REQUIRE(sum.metrics.size() == 3);
      for (rank_id r = 0; r < 3; ++r) {
        const auto& told = sum.metrics[static_cast<std::size_t>(r)];
        CATCH_CHECK(told.seeds == 10 + r);
        CATCH_CHECK(told.correct == r);
        CATCH_CHECK(told.loss_sum == r * 0.5);
      }
    }
  }
}

CATCH_TEST_CASE("what backward has finished is exchanged while it goes on",
                "[gradients]") {
  CATCH_INFO("seed 5");
  std::mt19937_64 random{5};
  rank_group group{3, mixed, tiny};
  group.start();
  for (std::int64_t step = 0; step < 5; ++step) {
    std::vector<shared_set> parts;
    std::vector<std::shared_ptr<gradient_set>> seen;
    for (rank_id r = 0; r < 3; ++r) {
      parts.push_back(random_set(random, mixed, false));
      seen.push_back(std::make_shared<gradient_set>());
    }
    std::deque<gradient_progress> progress(3);
    // What is not final is not there yet: the sum would show it.
    const auto backward = [&](std::size_t r) {
      auto& out = *seen[r];
      out.dense.resize(103);
      std::fill(out.dense.begin(), out.dense.end(), 1e9f);
      for (std::size_t end = 103, begin = 90;; begin -= 10 + 10 * r) {
        std::copy_n(parts[r]->dense.begin() + begin, end - begin,
                    out.dense.begin() + begin);
        progress[r].final_from(static_cast<std::int64_t>(begin));
        if (begin < 10 + 10 * r)
          break;
        end = begin;
      }
      const auto left = static_cast<std::size_t>(*progress[r].offset());
      std::copy_n(parts[r]->dense.begin(), left, out.dense.begin());
      out.tables = copy_of(*parts[r]).tables;
      progress[r].finish({0, 0, 1});
    };
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < 3; ++r)
      threads.emplace_back([&backward, r] { backward(r); });
    const auto sums =
      group.step(all_ranks(3), {seen.begin(), seen.end()}, words(3, step),
                 {&progress[0], &progress[1], &progress[2]});
    for (auto& thread : threads)
      thread.join();
    for (const auto& sum : sums)
      CATCH_CHECK(same(*value_of(sum).gradients, sum_of(parts)));
  }
}

CATCH_TEST_CASE("a rank whose backward fails leaves", "[gradients]") {
  rank_group group{2, mixed, tiny};
  group.start();
  std::deque<gradient_progress> progress(2);
  progress[0].finish({0, 0, 1});
  progress[1].fail();
  const auto sums = group.step(all_ranks(2), zeros(2, mixed), words(2, 0),
                               {&progress[0], &progress[1]});
  CATCH_CHECK(error_of(sums[1]).message.find("rank 1 has no gradients") == 0);
  CATCH_INFO(error_of(sums[0]).message);
  CATCH_CHECK(error_of(sums[0]).message.find("rank 1 is missing") == 0);
}

CATCH_TEST_CASE("a step moves as many bytes as a ring would", "[gradients]") {
  gradient_shape dense{4000, {}};
  rank_group group{4, dense};
  group.start();
  for (const auto& sum : group.step(all_ranks(4), zeros(4, dense), words(4, 0)))
    value_of(sum);
  // Each of 4 ranks sends and receives 2 x 3/4 of the gradient and, to and from
  // 3 others, 5 words.
  CATCH_CHECK(group.counters->report().bytes
              == 4 * 2 * (2 * 3000 * sizeof(float) + 3 * 5 * 8));
}

CATCH_TEST_CASE("ranks at different steps are told so", "[gradients]") {
  rank_group group{2, mixed, tiny};
  group.start();
  auto said = words(2, 3);
  said[1].step = 4;
  const auto sums = group.step(all_ranks(2), zeros(2, mixed), said);
  // Who sees it first leaves; the other one may see just that.
  bool seen = false;
  for (const auto& sum : sums)
    seen = seen || error_of(sum).message.find("at step 4") != std::string::npos;
  CATCH_CHECK(seen);
}

CATCH_TEST_CASE("a rank that does not come to a step is named by all others",
                "[gradients]") {
  rank_group group{4, mixed, tiny};
  group.options.step_timeout = 10s; // The step before has time, too.
  group.options.names = {"a", "b", "c", "d"};
  group.start();
  for (const auto& sum : group.step(all_ranks(4), zeros(4, mixed), words(4, 0)))
    value_of(sum);
  const auto begun = std::chrono::steady_clock::now();
  const auto sums = group.step({0, 1, 3}, zeros(4, mixed), words(4, 1));
  CATCH_CHECK(std::chrono::steady_clock::now() - begun < patience);
  for (const auto& sum : sums) {
    const auto reason = error_of(sum);
    CATCH_INFO(reason.message);
    CATCH_CHECK(reason.message.find("rank 2 (c) is missing from the gradient "
                                    "group of 4 (generation 0) in step 1")
                == 0);
  }
  // Nothing works after that, not even with the rank that comes late.
  const auto late = group.step(all_ranks(4), zeros(4, mixed), words(4, 2));
  for (std::size_t r : {0, 1, 3})
    CATCH_CHECK(error_of(late[r]).message.find("in step 1")
                != std::string::npos);
  CATCH_INFO(error_of(late[2]).message);
  CATCH_CHECK(error_of(late[2]).message.find("rank 2 (c) is missing") == 0);
}

CATCH_TEST_CASE("a rank that leaves is named at once", "[gradients]") {
  rank_group group{3, mixed, tiny};
  group.start();
  for (const auto& sum : group.step(all_ranks(3), zeros(3, mixed), words(3, 0)))
    value_of(sum);
  const auto begun = std::chrono::steady_clock::now();
  group.joined[1].reset();
  for (const auto& sum : group.step({0, 2}, zeros(3, mixed), words(3, 1))) {
    const auto reason = error_of(sum);
    CATCH_CHECK(reason.code == ec::unavailable);
    CATCH_INFO(reason.message);
    CATCH_CHECK(reason.message.find("rank 1 is missing") == 0);
  }
  CATCH_CHECK(std::chrono::steady_clock::now() - begun < patience);
}

CATCH_TEST_CASE("a rank that is one step behind for want of another is not "
                "called missing",
                "[gradients]") {
  group_options options{.run = "test", .ranks = 4};
  options.grace = 0ms;
  const auto store = std::make_shared<memory_rendezvous>();
  std::vector<roll_call> rolls;
  for (options.rank = 0; options.rank < 4; ++options.rank)
    rolls.emplace_back(options, store);
  const std::vector<rank_id> suspects{1, 2, 3};
  rolls[1].waiting(7);
  rolls[3].waiting(6);
  CATCH_CHECK(rolls[0].absent(7, suspects) == std::vector<rank_id>{2});
  CATCH_CHECK(rolls[0].absent(8, suspects) == std::vector<rank_id>{2, 3});
  rolls[1].went_on();
  CATCH_CHECK(rolls[0].absent(7, suspects) == std::vector<rank_id>{1, 2});
}

CATCH_TEST_CASE("ranks that have not joined are named", "[gradients]") {
  rank_group group{4, mixed, tiny};
  group.options.join_timeout = 200ms;
  group.joined.resize(4);
  group.joined[1] = group.join(1);
  group.joined[2] = group.join(2);
  for (const auto& sum : group.step({1, 2}, zeros(4, mixed), words(4, 0))) {
    const auto reason = error_of(sum);
    CATCH_CHECK(reason.code == ec::timeout);
    CATCH_CHECK(reason.message
                == "rank 0 and rank 3 have not joined the gradient group of 4 "
                   "(generation 0) within 0.2 s");
  }
}

CATCH_TEST_CASE("an operation that has failed is never done", "[gradients]") {
  const auto bell = std::make_shared<progress_bell>();
  operation lost{bell, 2};
  lost.expect(1, true);
  lost.expect(1, true);
  lost.transfer_done(1, true);
  CATCH_CHECK_FALSE(lost.done());
  lost.fail_with({1, error{ec::unavailable, "it has left"}});
  CATCH_CHECK_FALSE(lost.done()); // For who looked for a failure before.
  lost.transfer_done(1, true);
  CATCH_CHECK_FALSE(lost.done());
  CATCH_CHECK(lost.failed()->peer == 1);
  operation whole{bell, 2};
  whole.expect(1, true);
  whole.transfer_done(1, true);
  whole.fail_with({1, error{ec::unavailable, "it has left"}});
  CATCH_CHECK(whole.done());
  CATCH_CHECK_FALSE(whole.failed());
}

CATCH_TEST_CASE("a rank with another model is refused", "[gradients]") {
  rank_group group{2, mixed, tiny};
  group.joined.push_back(group.join(0));
  group.shape.dense = 7;
  group.joined.push_back(group.join(1));
  auto parts = zeros(2, mixed);
  parts[1] = zeros(1, group.shape).front();
  for (const auto& sum : group.step(all_ranks(2), parts, words(2, 0)))
    CATCH_CHECK_THAT(error_of(sum).message,
                     contains("has another model or dataset"));
}

CATCH_TEST_CASE("gradients that do not fit are refused", "[gradients]") {
  rank_group group{1, mixed};
  group.start();
  const gradient_shape other{3, {}};
  for (const auto& sum : group.step(all_ranks(1), zeros(1, other), words(1, 0)))
    CATCH_CHECK(error_of(sum).code == ec::internal);
}

CATCH_TEST_CASE("a new generation forms beside one that waits", "[gradients]") {
  rank_group group{3, mixed, tiny};
  group.joined.resize(3);
  group.joined[0] = group.join(0);
  group.joined[1] = group.join(1); // Rank 2 never comes.
  std::vector<result<step_sum>> ended;
  std::thread waiting{[&group, &ended] {
    ended = group.step({0, 1}, zeros(3, mixed), words(3, 0));
  }};
  rank_group next{2, mixed, tiny};
  next.store = group.store;
  next.orphans = group.orphans;
  next.options.generation = 1;
  next.start();
  for (const auto& sum : next.step(all_ranks(2), zeros(2, mixed), words(2, 0)))
    value_of(sum);
  const auto begun = std::chrono::steady_clock::now();
  group.joined[0]->abandon();
  group.joined[1]->abandon();
  waiting.join();
  for (const auto& sum : ended)
    CATCH_CHECK(error_of(sum).code == ec::cancelled);
  group.joined.clear();
  CATCH_CHECK(std::chrono::steady_clock::now() - begun < patience);
  for (const auto& sum : next.step(all_ranks(2), zeros(2, mixed), words(2, 1)))
    value_of(sum);
}

CATCH_TEST_CASE("an abandoned step ends at once", "[gradients]") {
  rank_group group{2, mixed, tiny};
  group.start();
  const auto begun = std::chrono::steady_clock::now();
  std::vector<result<step_sum>> ended;
  std::thread waiting{[&group, &ended] {
    ended = group.step({0}, zeros(2, mixed), words(2, 0));
  }};
  std::this_thread::sleep_for(100ms); // Most likely it waits for rank 1.
  group.joined[0]->abandon();
  waiting.join();
  CATCH_CHECK(error_of(ended.front()).code == ec::cancelled);
  group.joined.clear();
  CATCH_CHECK(std::chrono::steady_clock::now() - begun < patience);
}

} // namespace graphmill::test
