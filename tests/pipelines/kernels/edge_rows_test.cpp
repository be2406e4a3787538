#include "pipelines/kernels/edge_rows.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("sums over edges add up each column edge by edge",
                "[kernels][edge_features]") {
  std::mt19937_64 random{1};
  std::uniform_real_distribution<float> number{-2, 2};
  const std::vector<std::int64_t> indptr{0, 3, 3, 4, 60};
  const auto edges = indptr.back();
  std::vector<local_id> columns;
  std::vector<float> values, row_scale, column_scale;
  for (std::int64_t e = 0; e < edges; ++e) {
    columns.push_back(static_cast<local_id>(random() % 5));
    values.push_back(number(random));
  }
  for (int i = 0; i < 5; ++i) {
    row_scale.push_back(number(random));
    column_scale.push_back(number(random));
  }
  for (const std::int64_t width : {1, 7, 8, 9, 15, 16, 17, 24, 31, 40, 47}) {
    CATCH_CAPTURE(width);
    std::vector<float> x(static_cast<std::size_t>(edges * width));
    for (auto& one : x)
      one = number(random);
    for (const auto scaled : {false, true}) {
      const edge_sum task{.indptr = indptr.data(),
                          .columns = columns.data(),
                          .x = {x.data(), edges, width},
                          .row_scale = row_scale.data(),
                          .column_scale =
                            scaled ? column_scale.data() : nullptr,
                          .values = scaled ? values.data() : nullptr};
      std::vector<float> sums(static_cast<std::size_t>(4 * width), 99.0f);
      run(task, 0, 4, {sums.data(), 4, width});
      auto expected = sums;
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t c = 0; c < width; ++c) {
          float sum = 0;
          for (auto e = indptr[static_cast<std::size_t>(i)];
               e < indptr[static_cast<std::size_t>(i + 1)]; ++e) {
            const auto at = static_cast<std::size_t>(e);
            const auto scale =
              scaled ? values[at]
                         * column_scale[static_cast<std::size_t>(columns[at])]
                     : 1.0f;
            sum =
              std::fma(scale, x[static_cast<std::size_t>(e * width + c)], sum);
          }
          expected[static_cast<std::size_t>(i * width + c)] =
            sum * row_scale[static_cast<std::size_t>(i)];
        }
      CATCH_CHECK(sums == expected);
    }
  }
}

CATCH_TEST_CASE("the gradient of sums over edges goes to their last columns",
                "[kernels][edge_features]") {
  // Two rows: edges 0 and 1 lead to sources 1 and 0, edge 2 to source 1.
  const std::vector<std::int64_t> indptr{0, 2, 3};
  const std::vector<local_id> columns{1, 0, 1};
  const std::vector<float> row_scale{2, 0.5f}, column_scale{4, 8};
  const std::vector<float> values{1, 3, 0.25f}, gradient{1, 2, -1, 4};
  const edge_sum task{.indptr = indptr.data(),
                      .columns = columns.data(),
                      .row_scale = row_scale.data(),
                      .column_scale = column_scale.data(),
                      .values = values.data()};
  std::vector<float> into{1, 0, 0, 0, 0, 0};
  edge_sum_backward(task, {gradient.data(), 2, 2}, 0, 2, {into.data(), 3, 2});
  CATCH_CHECK(into == std::vector<float>{17, 32, 24, 48, -1, 4});
}

} // namespace graphmill::test
