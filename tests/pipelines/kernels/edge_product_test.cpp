#include "pipelines/kernels/edge_product.hpp"
#include "tests/support/catch.hpp"

#include <random>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("products of edges are added up as written down",
                "[compute][edge_features]") {
  // Edges, columns and features below, at and between what fills registers.
  const auto edges = GENERATE(0, 1, 5, 8, 67);
  const auto width = GENERATE(1, 16, 47, 64, 100, 376);
  const auto features = GENERATE(1, 2, 9, 16, 19);
  CATCH_INFO("edges " << edges << ", width " << width << ", features "
                      << features << ", seed 5");
  std::mt19937_64 random{5};
  const auto numbers = [&](std::int64_t count) {
    std::vector<float> out(static_cast<std::size_t>(count));
    for (auto& one : out) // Sixteenths, of which all sums here are exact.
      one = (static_cast<float>(random() % 33) - 16) / 16;
    return out;
  };
  constexpr std::int64_t begin = 3;
  const auto given = numbers((begin + edges) * features);
  const auto weights = numbers(features * width);
  const const_matrix rows{given.data(), begin + edges, features};
  const auto weight = product_weight({weights.data(), features, width},
                                     features + 1, buffer_pool::make(0));
  const auto columns = weight.view().columns;
  CATCH_REQUIRE(columns == product_columns(width));

  auto products = numbers(edges * columns);
  auto expected = products;
  for (std::int64_t e = 0; e < edges; ++e)
    for (std::int64_t f = 0; f < features; ++f)
      for (std::int64_t c = 0; c < width; ++c)
        expected[e * columns + c] +=
          rows.row(begin + e)[f] * weights[f * width + c];
  add_products(rows, weight.view(), begin, begin + edges,
               {products.data(), edges, columns});
  CATCH_CHECK(products == expected);

  auto sums = numbers((features + 1) * columns);
  auto expected_sums = sums;
  for (std::int64_t e = 0; e < edges; ++e)
    for (std::int64_t f = 0; f < features; ++f)
      for (std::int64_t c = 0; c < columns; ++c)
        expected_sums[f * columns + c] +=
          rows.row(begin + e)[f] * products[e * columns + c];
  add_product_gradient(rows, {products.data(), edges, columns}, begin,
                       begin + edges, {sums.data(), features + 1, columns});
  CATCH_CHECK(sums == expected_sums);
}

} // namespace graphmill::test
