#include "tests/pipelines/gradients/gradient_sets.hpp"
#include "tests/pipelines/gradients/ranks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <random>

namespace graphmill::test {

CATCH_TEST_CASE("sixteen ranks add up like one process", "[gradients]") {
  constexpr rank_id ranks = 16;
  const gradient_shape shape{30011, {{40, 3}}};
  CATCH_INFO("seed 16");
  std::mt19937_64 random{16};
  rank_group group{ranks, shape, {16'384, 65'536}};
  group.start();
  for (std::int64_t step = 0; step < 3; ++step) {
    std::vector<shared_set> parts;
    for (rank_id r = 0; r < ranks; ++r)
      parts.push_back(random_set(random, shape, r == 3));
    const auto wanted = sum_of(parts);
    const std::vector<step_word> words(ranks, step_word{.step = step});
    for (const auto& sum : group.step(all_ranks(ranks), parts, words))
      CATCH_CHECK(same(*value_of(sum).gradients, wanted));
  }
}

} // namespace graphmill::test
