#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/attention/projected_attention.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("GELU and its slope are those of a normal distribution",
                "[kernels]") {
  const std::vector<float> x{0, 1, -1, 12, -12};
  std::vector<float> y(x.size());
  gelu({x.data(), 5, 1}, 0, 5, {y.data(), 5, 1});
  const std::vector<double> want{0, 0.84134475, -0.15865525, 12, 0};
  std::vector<float> slopes(x.size(), 2);
  gelu_backward({x.data(), 5, 1}, 0.5f, 0, 5, {slopes.data(), 5, 1});
  const std::vector<double> slope{0.5, 1.08331547, -0.08331547, 1, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    CATCH_CHECK(std::abs(y[i] - want[i]) < 1e-6);
    CATCH_CHECK(std::abs(slopes[i] - slope[i]) < 1e-6);
  }
}

CATCH_TEST_CASE("relations share the attention of a row, by hand",
                "[kernels]") {
  // Row 0 has a source in each of two relations, row 1 in none. The keys are 0
  // and log 3, so that the sources are attended to as 1 to 3.
  const std::vector<std::int64_t> indptr{0, 1, 1};
  const std::vector<local_id> first{0};
  const std::vector<local_id> second{1};
  const std::vector<float> keys{0, std::log(3.0f)};
  const std::vector<float> values{2, 10};
  const std::vector<float> queries{1, 1};
  std::vector<float> weights(2);
  std::vector<float> sums(4, 7);
  const auto relation = [&](const std::vector<local_id>& columns, int number) {
    return projected_attention::relation{
      .indptr = indptr.data(),
      .columns = columns.data(),
      .keys = {keys.data(), 2, 1},
      .values = {values.data(), 2, 1},
      .queries = {queries.data(), 2, 1},
      .weights = weights.data() + number,
      .drop = {},
      .sums = {sums.data() + 2 * number, 2, 1}};
  };
  const projected_attention::relation both[]{relation(first, 0),
                                             relation(second, 1)};
  attend_across({both, 2, 1}, 0, 2);
  CATCH_CHECK(std::abs(weights[0] - 0.25) < 1e-6);
  CATCH_CHECK(std::abs(weights[1] - 0.75) < 1e-6);
  CATCH_CHECK(std::abs(sums[0] - 0.5) < 1e-5);
  CATCH_CHECK(std::abs(sums[2] - 7.5) < 1e-5);
  CATCH_CHECK(sums[1] == 0);
  CATCH_CHECK(sums[3] == 0);
}

} // namespace graphmill::test
