#include "pipelines/kernels/labels/value_losses.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/value_list.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// Errors of 0.5 and 3; nothing known; errors of -2 and 0.
const std::vector<float> some_outputs{1,  4, //
                                      5,  5, //
                                      -2, 2};
const std::vector<float> some_values{0.5f, 1, no_value, no_value, 0, 2};

constexpr auto all_losses = {value_loss::mse, value_loss::mae,
                             value_loss::huber};

} // namespace

CATCH_TEST_CASE("losses of numbers on paper", "[kernels][labels]") {
  struct {
    value_loss loss;
    double sum;
    std::vector<float> gradient;
  } const cases[]{
    {value_loss::mse, (0.25 + 9) / 2 + 4. / 2, {0.25f, 1.5f, 0, 0, -1, 0}},
    {value_loss::mae, (0.5 + 3) / 2 + 2. / 2, {0.25f, 0.25f, 0, 0, -0.25f, 0}},
    {value_loss::huber,
     (0.125 + 2.5) / 2 + 1.5 / 2,
     {0.125f, 0.25f, 0, 0, -0.25f, 0}},
  };
  for (const auto& [loss, sum, want] : cases) {
    CATCH_INFO(static_cast<int>(loss));
    std::vector<float> gradient(6, 9);
    const auto sums = value_losses({some_outputs.data(), 3, 2}, some_values,
                                   loss, 0.5, {gradient.data(), 3, 2});
    CATCH_CHECK(sums.seeds == 2);
    CATCH_CHECK(sums.correct == 0);
    CATCH_CHECK(sums.loss_sum == sum);
    CATCH_CHECK(gradient == want);
    const auto told =
      value_losses({some_outputs.data(), 3, 2}, some_values, loss, 1, {});
    CATCH_CHECK(told.loss_sum == sum);
  }
}

CATCH_TEST_CASE("gradients of numbers are those of the loss",
                "[kernels][labels]") {
  // Further from where slopes jump than the difference reaches.
  std::vector<float> outputs{-3, -1.5f, -0.5f, 0.25f, 0.8125f, 4};
  const auto values = std::vector<float>(outputs.size(), 0);
  constexpr auto step = 0.0625f;
  for (const auto loss : all_losses) {
    CATCH_INFO(static_cast<int>(loss));
    std::vector<float> gradient(outputs.size());
    value_losses({outputs.data(), 2, 3}, values, loss, 1,
                 {gradient.data(), 2, 3});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto kept = outputs[i];
      const auto loss_at = [&](float x) {
        outputs[i] = x;
        return value_losses({outputs.data(), 2, 3}, values, loss, 1, {})
          .loss_sum;
      };
      // Squares have no third derivative, so that this is exact.
      const auto slope =
        (loss_at(kept + step) - loss_at(kept - step)) / (2 * double{step});
      outputs[i] = kept;
      CATCH_CHECK(gradient[i] == Approx(slope).margin(1e-6));
    }
  }
}

CATCH_TEST_CASE("what is no number stays so in losses of numbers",
                "[kernels][labels]") {
  const std::vector<float> output{no_value};
  const std::vector<float> values{1};
  for (const auto loss : all_losses) {
    std::vector<float> gradient(1);
    const auto sums = value_losses({output.data(), 1, 1}, values, loss, 1,
                                   {gradient.data(), 1, 1});
    CATCH_CHECK(sums.seeds == 1);
    CATCH_CHECK(std::isnan(sums.loss_sum));
    CATCH_CHECK(std::isnan(gradient[0]));
  }
}

CATCH_TEST_CASE("outcomes of numbers are of the labelled seeds",
                "[kernels][labels]") {
  const auto told = value_outcomes_of({some_outputs.data(), 3, 2}, some_values);
  value_of(told.check());
  CATCH_CHECK(told.form == outcome_form::values);
  CATCH_CHECK(told.classes == 2);
  CATCH_CHECK(told.confusion.empty());
  CATCH_CHECK(told.scored() == 2);
  CATCH_CHECK(told.labels.empty());
  CATCH_CHECK(told.values == std::vector<float>{0.5f, 1, 0, 2});
  CATCH_CHECK(told.scores == std::vector<float>{1, 4, -2, 2});
}
