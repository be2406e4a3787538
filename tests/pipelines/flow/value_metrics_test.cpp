#include "pipelines/flow/class_metrics.hpp"
#include "pipelines/flow/value_metrics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/value_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace graphmill;
using test::no_value;

namespace {

/// Seeds with two values each.
struct valued_seeds {
  std::vector<float> labels;      ///< [seeds, 2]
  std::vector<float> predictions; ///< [seeds, 2]

  std::int64_t count() const { return std::ssize(labels) / 2; }

  seed_outcomes told(const std::vector<std::size_t>& seeds) const {
    seed_outcomes out;
    out.classes = 2;
    out.form = outcome_form::values;
    for (const auto seed : seeds)
      for (const auto at : {2 * seed, 2 * seed + 1}) {
        out.values.push_back(labels[at]);
        out.scores.push_back(predictions[at]);
      }
    return out;
  }
};

} // namespace

CATCH_TEST_CASE("metrics of numbers on paper", "[flow][values]") {
  // Errors of 1, 0 and -3; labels are 2, 0 and 2 from their mean.
  const auto got = result_of({{1, 2}, {3, 3}, {5, 2}});
  CATCH_CHECK(got.mse == 10. / 3);
  CATCH_CHECK(got.rmse() == std::sqrt(10. / 3));
  CATCH_CHECK(got.mae == 4. / 3);
  CATCH_CHECK(got.r2 == 1 - 10. / 8);
  const auto right = result_of({{1, 1}, {2, 2}});
  CATCH_CHECK(right.mse == 0);
  CATCH_CHECK(right.r2 == 1);
  const auto same = result_of({{4, 5}, {4, 3}});
  CATCH_CHECK(same.mse == 1);
  CATCH_CHECK_FALSE(same.r2);
}

CATCH_TEST_CASE("what diverged has no metrics of numbers", "[flow][values]") {
  for (const auto wrong : {no_value, std::numeric_limits<float>::infinity()}) {
    const auto got = result_of({{1, 1}, {2, wrong}, {3, 3}});
    CATCH_CHECK(std::isnan(got.mse));
    CATCH_CHECK(std::isnan(got.rmse()));
    CATCH_CHECK(std::isnan(got.mae));
    CATCH_CHECK_FALSE(got.r2);
  }
}

CATCH_TEST_CASE("metrics of numbers do not depend on how seeds were dealt out",
                "[flow][values]") {
  std::mt19937 engine{11};
  std::normal_distribution<float> draw{0, 3};
  valued_seeds seeds;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < 300; ++i) {
    order.push_back(i);
    for (int c = 0; c < 2; ++c) {
      seeds.labels.push_back(draw(engine));
      seeds.predictions.push_back(draw(engine));
    }
  }
  class_tally whole;
  whole.add(seeds.told(order));
  const auto want = whole.metrics(300);
  CATCH_REQUIRE(want);
  CATCH_CHECK(want->values.size() == 2);
  CATCH_CHECK((want->classes.empty() && !want->scored));
  CATCH_CHECK(*want->mse() == (want->values[0].mse + want->values[1].mse) / 2);
  CATCH_CHECK(*want->rmse() == std::sqrt(*want->mse()));
  CATCH_CHECK(*want->r2() == (*want->values[0].r2 + *want->values[1].r2) / 2);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(order.begin(), order.end(), engine);
    class_tally dealt;
    for (std::size_t at = 0; at < order.size();) {
      const auto end = std::min(order.size(), at + 1 + engine() % 90);
      dealt.add(seeds.told(
        std::vector(order.begin() + static_cast<std::ptrdiff_t>(at),
                    order.begin() + static_cast<std::ptrdiff_t>(end))));
      at = end;
    }
    const auto got = dealt.metrics(300);
    CATCH_REQUIRE(got);
    CATCH_CHECK(got->mse() == want->mse());
    CATCH_CHECK(got->mae() == want->mae());
    CATCH_CHECK(got->r2() == want->r2());
  }
}

CATCH_TEST_CASE("the best epoch of numbers has the smallest error",
                "[flow][values]") {
  class_metrics found;
  found.values = {{4, 3, 0.5}, {2, 0, std::nullopt}};
  CATCH_CHECK(value_of(evaluation_metric::mse, {}, &found) == 3.0);
  CATCH_CHECK(value_of(evaluation_metric::mae, {}, &found) == 1.5);
  CATCH_CHECK(metric_choice{evaluation_metric::mae}.is_loss());
  CATCH_CHECK(found.r2() == 0.5);
  CATCH_CHECK_FALSE(value_of(evaluation_metric::mse, {}, nullptr));
  CATCH_CHECK_FALSE(value_of(evaluation_metric::f1_macro, {}, &found));
}

CATCH_TEST_CASE("there are no metrics of numbers if a seed is missing",
                "[flow][values]") {
  const valued_seeds seeds{{1, 2, 3, 4}, {1, 2, 3, 4}};
  class_tally tally;
  tally.add(seeds.told({0, 1}));
  CATCH_CHECK(tally.metrics(2));
  CATCH_CHECK_FALSE(tally.metrics(3));
  auto classes = seeds.told({});
  classes.form = outcome_form::classes;
  tally.add(classes);
  CATCH_CHECK_FALSE(tally.metrics(2));
}
