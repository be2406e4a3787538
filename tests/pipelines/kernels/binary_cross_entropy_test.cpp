#include "pipelines/kernels/labels/binary_cross_entropy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace graphmill;

namespace {

const float ln3 = std::log(3.0f);

/// Probabilities of 1/2 and 3/4; nothing known; sure and right.
const std::vector<float> some_logits{0, ln3, //
                                     5, 5,   //
                                     2, -2};
const std::vector<std::uint8_t> some_rows{1, 0, 255, 255, 1, 0};

} // namespace

CATCH_TEST_CASE("the loss of several labels on paper", "[kernels][labels]") {
  std::vector<float> gradient(6, 9);
  const auto sums = binary_cross_entropy({some_logits.data(), 3, 2}, some_rows,
                                         0.5, {gradient.data(), 3, 2});
  CATCH_CHECK(sums.seeds == 2);
  CATCH_CHECK(sums.correct == 1);
  // (log 2 + log 4) / 2, and log (1 + exp(-2)) twice, halved.
  CATCH_CHECK(
    sums.loss_sum
    == Approx(1.5 * std::log(2.0) + std::log1p(std::exp(-2.0))).epsilon(1e-6));
  CATCH_CHECK(gradient[0] == Approx(0.25 * (0.5 - 1)));
  CATCH_CHECK(gradient[1] == Approx(0.25 * 0.75));
  CATCH_CHECK((gradient[2] == 0 && gradient[3] == 0));
  const auto p = 1 / (1 + std::exp(-2.0));
  CATCH_CHECK(gradient[4] == Approx(0.25 * (p - 1)));
  CATCH_CHECK(gradient[5] == Approx(0.25 * (1 - p)));
  const auto told =
    binary_cross_entropy({some_logits.data(), 3, 2}, some_rows, 1, {});
  CATCH_CHECK(told.loss_sum == sums.loss_sum);
}

CATCH_TEST_CASE("the loss of several labels does not overflow",
                "[kernels][labels]") {
  const std::vector<float> logits{1000, -1000};
  std::vector<float> gradient(2);
  const std::vector<std::uint8_t> wrong{0, 1};
  const auto sums = binary_cross_entropy({logits.data(), 1, 2}, wrong, 1,
                                         {gradient.data(), 1, 2});
  CATCH_CHECK(sums.loss_sum == 1000);
  CATCH_CHECK(gradient == std::vector<float>{0.5f, -0.5f});
  const std::vector<std::uint8_t> right{1, 0};
  CATCH_CHECK(binary_cross_entropy({logits.data(), 1, 2}, right, 1, {}).loss_sum
              == 0);
  std::vector<float> probabilities(2);
  logistic({logits.data(), 1, 2}, {probabilities.data(), 1, 2});
  CATCH_CHECK(probabilities == std::vector<float>{1, 0});
}

CATCH_TEST_CASE("gradients of several labels are those of the loss",
                "[kernels][labels]") {
  std::mt19937 engine{7};
  std::normal_distribution<float> draw{0, 2};
  constexpr std::int64_t labels = 5;
  std::vector<float> logits(3 * labels);
  std::vector<std::uint8_t> rows(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = draw(engine);
    rows[i] = static_cast<std::uint8_t>(engine() % 2);
  }
  std::vector<float> gradient(logits.size());
  binary_cross_entropy({logits.data(), 3, labels}, rows, 1,
                       {gradient.data(), 3, labels});
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const auto kept = logits[i];
    const auto loss_at = [&](float x) {
      logits[i] = x;
      return binary_cross_entropy({logits.data(), 3, labels}, rows, 1, {})
        .loss_sum;
    };
    const auto above = kept + 0.0625f;
    const auto below = kept - 0.0625f;
    const auto slope =
      (loss_at(above) - loss_at(below)) / (double{above} - double{below});
    logits[i] = kept;
    // The third derivative of the loss of a label is below 0.1.
    CATCH_CHECK(gradient[i] == Approx(slope).margin(1e-4));
  }
}

CATCH_TEST_CASE("the gradient of a focal loss of labels is its slope",
                "[kernels][labels]") {
  const auto focus = GENERATE(0.5, 1.0, 2.0);
  const std::vector<std::uint8_t> rows{1, 0};
  std::vector<float> logits{-0.75f, 0.5f};
  std::vector<float> gradient(2);
  const auto sums = binary_cross_entropy({logits.data(), 1, 2}, rows, 1,
                                         {gradient.data(), 1, 2}, focus);
  const auto loss = [focus](double x, bool has) {
    const auto p = 1 / (1 + std::exp(has ? -x : x));
    return std::pow(1 - p, focus) * -std::log(p) / 2;
  };
  for (std::size_t i = 0; i < 2; ++i) {
    const auto slope = (loss(logits[i] + 1e-5, rows[i] == 1)
                        - loss(logits[i] - 1e-5, rows[i] == 1))
                       / 2e-5;
    CATCH_CHECK(std::abs(gradient[i] - slope) < 1e-6);
  }
  // What is told stays the plain loss.
  CATCH_CHECK(
    sums.loss_sum
    == binary_cross_entropy({logits.data(), 1, 2}, rows, 1, {}).loss_sum);
}

CATCH_TEST_CASE("outcomes of several labels are of the labelled seeds",
                "[kernels][labels]") {
  const const_matrix logits{some_logits.data(), 3, 2};
  const auto plain = label_outcomes_of(logits, some_rows, false);
  test::value_of(plain.check());
  CATCH_CHECK(plain.form == outcome_form::labels);
  CATCH_CHECK(plain.classes == 2);
  CATCH_CHECK(plain.confusion
              == std::vector<confusion_count>{{0, seed_outcomes::missed, 1},
                                              {0, seed_outcomes::right, 1},
                                              {1, seed_outcomes::absent, 1},
                                              {1, seed_outcomes::wrong, 1}});
  CATCH_CHECK((plain.labels.empty() && plain.scores.empty()));
  const auto scored = label_outcomes_of(logits, some_rows, true);
  test::value_of(scored.check());
  CATCH_CHECK(scored.confusion == plain.confusion);
  CATCH_CHECK(scored.scored() == 2);
  CATCH_CHECK(scored.labels == std::vector<std::int32_t>{1, 1});
  CATCH_CHECK(scored.scores == std::vector<float>{0, ln3, 2, -2});
}

CATCH_TEST_CASE("labels of a seed are bits of several words",
                "[kernels][labels]") {
  const std::vector<float> logits(33);
  std::vector<std::uint8_t> rows(33);
  rows[0] = rows[31] = rows[32] = 1;
  const auto told = label_outcomes_of({logits.data(), 1, 33}, rows, true);
  test::value_of(told.check());
  CATCH_CHECK(told.label_words() == 2);
  CATCH_CHECK(told.scored() == 1);
  CATCH_CHECK(told.labels
              == std::vector<std::int32_t>{
                std::numeric_limits<std::int32_t>::min() + 1, 1});
}
