#include "partition/importers/columns/fields/number_fit.hpp"
#include "tests/support/result.hpp"

#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("statistics of few numbers are exact",
                "[import][columns][number_fit]") {
  number_fit fit;
  for (const auto value : {4.0, 1.0, 2.0, 2.0, 1e9})
    fit.learn(value);
  CATCH_CHECK(fit.median() == 2);
  CATCH_CHECK(fit.mode() == 2);
  CATCH_CHECK(fit.least() == 1);
  CATCH_CHECK(fit.greatest() == 1e9);
  CATCH_CHECK(fit.quantiles(3) == std::vector<double>{1, 2, 1e9});
  CATCH_CHECK(fit.quantiles(9) == std::vector<double>{1, 2, 2, 4, 1e9});
}

CATCH_TEST_CASE("memory is bounded, and quantiles are near",
                "[import][columns][number_fit]") {
  number_fit fit;
  constexpr auto most = 4 * number_fit::most_sampled;
  for (std::int64_t i = 0; i < most; ++i)
    fit.learn(static_cast<double>(i));
  CATCH_CHECK(fit.mean() == (most - 1) / 2.0);
  CATCH_CHECK(std::abs(fit.median() / most - 0.5) < 0.01);
  const auto quantiles = fit.quantiles(5);
  CATCH_CHECK(quantiles.front() == 0);
  CATCH_CHECK(quantiles.back() == most - 1);
  CATCH_CHECK(std::abs(quantiles[1] / most - 0.25) < 0.01);
}
