#include "pipelines/kernels/class_scores.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace graphmill;

namespace {

std::vector<float> odds_of(const std::vector<float>& logits) {
  std::vector<float> out(logits.size());
  log_odds(logits, out);
  return out;
}

} // namespace

CATCH_TEST_CASE("log odds are those of the softmax", "[kernels][scores]") {
  // Probabilities of 1, 2 and 5 eighths.
  const auto got = odds_of({0, std::log(2.f), std::log(5.f)});
  CATCH_CHECK(got[0] == Approx(std::log(1. / 7)).epsilon(1e-6));
  CATCH_CHECK(got[1] == Approx(std::log(2. / 6)).epsilon(1e-6));
  CATCH_CHECK(got[2] == Approx(std::log(5. / 3)).epsilon(1e-6));
  std::mt19937 engine{5};
  std::normal_distribution<float> draw{0, 4};
  for (int round = 0; round < 50; ++round) {
    std::vector<float> logits(2 + round % 9);
    for (auto& one : logits)
      one = draw(engine);
    const auto odds = odds_of(logits);
    double sum = 0;
    for (const auto one : logits)
      sum += std::exp(double{one});
    for (std::size_t c = 0; c < logits.size(); ++c) {
      const auto p = std::exp(double{logits[c]}) / sum;
      CATCH_CHECK(odds[c]
                  == Approx(std::log(p / (1 - p))).epsilon(1e-5).margin(1e-5));
    }
  }
}

CATCH_TEST_CASE("log odds keep apart what rounds to certainty",
                "[kernels][scores]") {
  CATCH_CHECK(odds_of({200, 0}) == std::vector<float>{200, -200});
  CATCH_CHECK(odds_of({201, 0}) == std::vector<float>{201, -201});
  CATCH_CHECK(odds_of({-0.1f, 0.3f})[0] == -odds_of({-0.1f, 0.3f})[1]);
  CATCH_CHECK(odds_of({1000, 0, -1000})[0] == 1000);
  CATCH_CHECK(odds_of({7})
              == std::vector{std::numeric_limits<float>::infinity()});
}

CATCH_TEST_CASE("outcomes are of the labelled seeds", "[kernels][scores]") {
  const std::vector<float> logits{0, 1, //
                                  5, 0, //
                                  2, 2, // The first of equals.
                                  3, 4, //
                                  1, 0};
  const const_matrix rows{logits.data(), 5, 2};
  const std::vector<std::int64_t> labels{1, -1, 0, 1, 1};
  const auto plain = outcomes_of(rows, labels, false);
  test::value_of(plain.check());
  CATCH_CHECK(plain.classes == 2);
  CATCH_CHECK(plain.confusion
              == std::vector<confusion_count>{{0, 0, 1}, {1, 0, 1}, {1, 1, 2}});
  CATCH_CHECK((plain.labels.empty() && plain.scores.empty()));
  const auto scored = outcomes_of(rows, labels, true);
  test::value_of(scored.check());
  CATCH_CHECK(scored.confusion == plain.confusion);
  CATCH_CHECK(scored.labels == std::vector<std::int32_t>{1, 0, 1, 1});
  CATCH_CHECK(scored.scores == std::vector<float>{-1, 1, 0, 0, -1, 1, 1, -1});
}

CATCH_TEST_CASE("pairs of many classes are not counted", "[kernels][scores]") {
  const auto classes = seed_outcomes::most_counted_classes + 1;
  const std::vector<float> logits(static_cast<std::size_t>(classes));
  const std::vector<std::int64_t> labels{classes - 1};
  const auto told = outcomes_of({logits.data(), 1, classes}, labels, false);
  CATCH_CHECK(told.classes == classes);
  CATCH_CHECK(told.confusion.empty());
}

CATCH_TEST_CASE("a threshold decides for one class, and else for the likeliest "
                "of the others",
                "[kernels][class_scores]") {
  // Of class 1: odds 3 to 1, 1 to 3, and 1 to 3 behind class 2.
  const auto log3 = std::log(3.0f);
  const std::vector<float> logits{0, log3, -99, log3, 0, -99, 0, -log3, 1};
  const const_matrix rows{logits.data(), 3, 3};
  const auto decided = [&rows](double probability) {
    threshold_choice threshold;
    threshold.of = 1;
    threshold.fixed = probability;
    std::vector<std::int64_t> out;
    argmax(rows, out);
    apply_threshold(rows, threshold, out);
    return out;
  };
  CATCH_CHECK(decided(0.5) == std::vector<std::int64_t>{1, 0, 2});
  CATCH_CHECK(decided(0.2) == std::vector<std::int64_t>{1, 1, 2});
  CATCH_CHECK(decided(0.9) == std::vector<std::int64_t>{0, 0, 2});
  CATCH_CHECK(decided(0) == std::vector<std::int64_t>{1, 1, 1});
  CATCH_CHECK(decided(1) == std::vector<std::int64_t>{0, 0, 2});
}

CATCH_TEST_CASE("a threshold decides for one of several labels",
                "[kernels][class_scores]") {
  const auto logit = -std::log(3.0f); // A probability of a quarter.
  const std::optional<threshold_choice> none;
  CATCH_CHECK_FALSE(takes_label(1, logit, none));
  CATCH_CHECK(takes_label(1, -logit, none));
  threshold_choice threshold;
  threshold.of = 1;
  for (const auto& [probability, taken] :
       {std::pair{0.2, true}, std::pair{0.3, false}}) {
    threshold.fixed = probability;
    CATCH_CHECK(takes_label(1, logit, threshold) == taken);
    CATCH_CHECK_FALSE(takes_label(0, logit, threshold));
  }
}
