#include "pipelines/kernels/age_columns.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace graphmill::test {

namespace {

constexpr std::int64_t aged_edges = 300;

std::vector<float> random_ages(std::mt19937_64& random) {
  std::vector<float> out;
  for (std::int64_t e = 0; e < aged_edges; ++e)
    out.push_back(static_cast<float>(std::pow(10.0, double(random() % 90) / 10)
                                     * double(random() % 100)));
  return out;
}

} // namespace

CATCH_TEST_CASE("ages make columns of logarithms and cosines",
                "[kernels][edge_ages]") {
  const std::vector<float> ages{0, 1, 3, 1e6f};
  std::vector<float> rows(8, -7);
  age_columns{ages.data(), 1}.run(0, 4, 1, {rows.data(), 4, 2});
  CATCH_CHECK(rows[1] == 0);
  CATCH_CHECK(rows[3] == static_cast<float>(std::log(2.0)));
  CATCH_CHECK(rows[5] == static_cast<float>(std::log(4.0)));
  CATCH_CHECK(rows[7] == static_cast<float>(std::log(1'000'001.0)));
  for (const auto e : {0, 2, 4, 6})
    CATCH_CHECK(rows[static_cast<std::size_t>(e)] == -7); // What is in front.
  // Angles of 0, a quarter, a half and a whole turn.
  const auto pi = static_cast<float>(std::numbers::pi);
  const std::vector<float> zero{0};
  for (const auto& [phase, value] :
       {std::pair{0.0f, 1.0f}, {pi / 2, 0.0f}, {pi, -1.0f}, {2 * pi, 1.0f}}) {
    float out = 9;
    age_columns{ages.data(), 1, {zero.data(), 1, 1}, {&phase, 1, 1}}.run(
      0, 1, 0, {&out, 1, 1});
    CATCH_CHECK(std::abs(out - value) < 1e-7);
  }
}

CATCH_TEST_CASE("cosines of ages and their gradients are right for any width",
                "[kernels][edge_ages]") {
  std::mt19937_64 random{71};
  std::uniform_real_distribution<float> value{-3, 3};
  const auto ages = random_ages(random);
  for (const std::int64_t width : {1, 3, 8, 16, 21}) {
    CATCH_INFO("width " << width << ", seed 71");
    std::vector<float> logs, phases, gradient;
    for (std::int64_t k = 0; k < width; ++k) {
      logs.push_back(-value(random) * 3 - 9);
      phases.push_back(value(random));
    }
    for (std::int64_t i = 0; i < aged_edges * width; ++i)
      gradient.push_back(value(random));
    const age_columns task{
      ages.data(), 0.25, {logs.data(), 1, width}, {phases.data(), 1, width}};
    std::vector<float> out(static_cast<std::size_t>(aged_edges * width));
    task.run(0, aged_edges, 0, {out.data(), aged_edges, width});
    std::vector<double> sums(static_cast<std::size_t>(2 * task.lanes()));
    task.backward({gradient.data(), aged_edges, width}, 0, aged_edges,
                  sums.data());
    for (std::int64_t k = 0; k < width; ++k) {
      const auto column = static_cast<std::size_t>(k);
      const auto w = std::exp(double(logs[column]));
      double of_logs = 0, of_phases = 0, logs_error = 0, phases_error = 0;
      for (std::int64_t e = 0; e < aged_edges; ++e) {
        const auto x = 0.25 * double(ages[static_cast<std::size_t>(e)]);
        const auto at = static_cast<std::size_t>(e * width + k);
        const auto angle = w * x + double(phases[column]);
        // An angle has as many digits as a double.
        CATCH_CHECK(std::abs(double(out[at]) - std::cos(angle))
                    < 1e-7 + 1e-15 * std::abs(angle));
        const auto change = -std::sin(angle) * double(gradient[at]);
        of_logs += change * w * x;
        of_phases += change;
        const auto error =
          std::abs(gradient[at]) * (1e-10 + 1e-15 * std::abs(angle));
        logs_error += error * w * x;
        phases_error += error;
      }
      CATCH_CHECK(std::abs(sums[column] - of_logs) < 1e-9 + logs_error);
      CATCH_CHECK(std::abs(sums[column + static_cast<std::size_t>(task.lanes())]
                           - of_phases)
                  < 1e-9 + phases_error);
    }
  }
}

CATCH_TEST_CASE("frequencies that are no numbers are not hidden by cosines",
                "[kernels][edge_ages]") {
  const float age = 2;
  const float phase = 0;
  const auto nothing = std::numeric_limits<float>::quiet_NaN();
  float out = 0;
  age_columns{&age, 1, {&nothing, 1, 1}, {&phase, 1, 1}}.run(0, 1, 0,
                                                             {&out, 1, 1});
  CATCH_CHECK(std::isnan(out));
}

} // namespace graphmill::test
