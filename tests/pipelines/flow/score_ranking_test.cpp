#include "pipelines/flow/score_ranking.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

/// Seeds of class 1 have the label 1.
ranked_scores ranked_of(const std::vector<float>& scores,
                        const std::vector<std::int32_t>& labels) {
  auto out = ranked_scores::make(scores, labels, 1);
  CATCH_REQUIRE(out);
  return *std::move(out);
}

metric_choice by(evaluation_metric which, double at = 0) {
  metric_choice out{which};
  out.at = at;
  return out;
}

/// From the largest score down: own, other, own, own, other, other.
const std::vector<float> six_scores{3, 2, 1, 0, -1, -2};
const std::vector<std::int32_t> six_labels{1, 0, 1, 1, 0, 0};

double odds(double score) {
  return 1 / (1 + std::exp(-score));
}

} // namespace

CATCH_TEST_CASE("recall at a false-positive rate, by hand",
                "[flow][score_ranking]") {
  const auto six = ranked_of(six_scores, six_labels);
  CATCH_CHECK(six.recall_at_fpr(0) == 1.0 / 3);
  CATCH_CHECK(six.recall_at_fpr(0.33) == 1.0 / 3);
  CATCH_CHECK(six.recall_at_fpr(1.0 / 3) == 1);
  CATCH_CHECK(six.recall_at_fpr(0.99) == 1);
  // Equal scores come in together: the first has no seed without the other.
  const auto tied = ranked_of({1, 1, 0}, {1, 0, 1});
  CATCH_CHECK(tied.recall_at_fpr(0) == 0);
  // Nothing to find, or nothing to be wrong about.
  CATCH_CHECK_FALSE(ranked_of({1, 2}, {0, 0}).recall_at_fpr(0.5));
  CATCH_CHECK_FALSE(ranked_of({1, 2}, {1, 1}).recall_at_fpr(0.5));
}

CATCH_TEST_CASE("precision of the seeds with the largest scores, by hand",
                "[flow][score_ranking]") {
  const auto six = ranked_of(six_scores, six_labels);
  CATCH_CHECK(six.precision_at_k(1) == 1);
  CATCH_CHECK(six.precision_at_k(2) == 0.5);
  CATCH_CHECK(six.precision_at_k(4) == 0.75);
  CATCH_CHECK(six.precision_at_k(6) == 0.5);
  CATCH_CHECK(six.precision_at_k(100) == 0.5); // Of all.
  // Of three with an equal score, one of which is of the class, two fit.
  const auto tied = ranked_of({2, 1, 1, 1, 0}, {1, 1, 0, 0, 1});
  CATCH_CHECK(*tied.precision_at_k(3) == Approx((1 + 2.0 / 3) / 3));
  CATCH_CHECK_FALSE(ranked_of({}, {}).precision_at_k(1));
}

CATCH_TEST_CASE("thresholds lie in the middle between two scores",
                "[flow][score_ranking]") {
  const auto six = ranked_of(six_scores, six_labels);
  // F1 from the largest down: 1/2, 2/5, 2/3, 6/7, 3/4, 2/3.
  const auto best = six.threshold_for(by(evaluation_metric::f1));
  CATCH_CHECK(*best == Approx(odds(-0.5)));
  const auto counts = six.at(*best);
  CATCH_CHECK(counts.found == 3);
  CATCH_CHECK(counts.wrong == 1);
  CATCH_CHECK(*counts.f1() == Approx(6.0 / 7));
  CATCH_CHECK(counts.precision() == 0.75);
  CATCH_CHECK(counts.recall() == 1);
  CATCH_CHECK(*counts.false_positive_rate() == Approx(1.0 / 3));
  CATCH_CHECK(*six.threshold_for(by(evaluation_metric::recall_at_fpr, 0))
              == Approx(odds(2.5)));
  CATCH_CHECK(*six.threshold_for(by(evaluation_metric::precision_at_k, 3))
              == Approx(odds(0.5)));
  CATCH_CHECK_FALSE(
    ranked_of({1, 2}, {0, 0}).threshold_for(by(evaluation_metric::f1)));
  // The best one of all: no seed of the class may be taken.
  const auto none = ranked_of({2, 1}, {0, 1});
  const auto never = none.threshold_for(by(evaluation_metric::recall_at_fpr));
  CATCH_CHECK(none.at(*never).found == 0);
  CATCH_CHECK(none.at(*never).wrong == 0);
}

CATCH_TEST_CASE("a threshold is reached by the scores that it was tuned for",
                "[flow][score_ranking]") {
  // Also where probabilities are as good as 0 or 1.
  for (const auto& [above, below] : std::vector<std::pair<float, float>>{
         {0.25f, 0.2499999f}, {800.0f, 3.0f}, {-3.0f, -800.0f}, {90, 80}}) {
    const auto two = ranked_of({above, below}, {1, 0});
    const auto threshold = two.threshold_for(by(evaluation_metric::f1));
    CATCH_INFO(above);
    CATCH_REQUIRE(threshold);
    CATCH_CHECK(two.at(*threshold).found == 1);
    CATCH_CHECK(reaches(above, *threshold));
    if (above < 30)
      CATCH_CHECK_FALSE(reaches(below, *threshold));
  }
  CATCH_CHECK(reaches(0, 0.5));
  CATCH_CHECK_FALSE(reaches(-1e-6f, 0.5));
  CATCH_CHECK(reaches(-1e30f, 0));
  CATCH_CHECK_FALSE(reaches(1e30f, 1));
}

CATCH_TEST_CASE("nothing is ranked by a score that is no number",
                "[flow][score_ranking]") {
  const std::vector<float> scores{1, std::numeric_limits<float>::quiet_NaN()};
  CATCH_CHECK_FALSE(
    ranked_scores::make(scores, std::vector<std::int32_t>{1, 0}, 1));
}

CATCH_TEST_CASE("the best threshold is the best of all",
                "[flow][score_ranking]") {
  std::mt19937 engine{3};
  for (int round = 0; round < 50; ++round) {
    std::vector<float> scores;
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 30; ++i) {
      scores.push_back(static_cast<float>(static_cast<int>(engine() % 12)) / 4);
      labels.push_back(static_cast<std::int32_t>(engine() % 3 == 0));
    }
    const auto all = ranked_of(scores, labels);
    const auto best = all.threshold_for(by(evaluation_metric::f1));
    if (!best)
      continue;
    double most = 0;
    for (const auto score : scores)
      most = std::max(most, *all.at(odds(score - 0.1)).f1());
    CATCH_CHECK(*all.at(*best).f1() == most);
    // In any order.
    for (std::size_t i = scores.size(); i-- > 1;) {
      const auto other = engine() % (i + 1);
      std::swap(scores[i], scores[other]);
      std::swap(labels[i], labels[other]);
    }
    const auto again = ranked_of(scores, labels);
    CATCH_CHECK(again.threshold_for(by(evaluation_metric::f1)) == best);
    CATCH_CHECK(again.precision_at_k(7) == all.precision_at_k(7));
    CATCH_CHECK(again.recall_at_fpr(0.2) == all.recall_at_fpr(0.2));
  }
}

} // namespace graphmill::test
