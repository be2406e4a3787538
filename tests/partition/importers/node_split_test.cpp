#include "partition/importers/node_split.hpp"
#include "tests/support/catch.hpp"

#include <cstdint>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("nodes are split by time, the oldest first",
                "[partition][import]") {
  const std::vector<std::int64_t> labels{0, 1, -1, 0, 1};
  const std::vector<double> times{5, 3, 1, 3, 9};
  const auto splits =
    split_nodes({{0.5, 0.25, 0.25}, split_order::time, 0}, labels, times);
  CATCH_CHECK(splits[0] == std::vector<node_id>{1, 3});
  CATCH_CHECK(splits[1] == std::vector<node_id>{0});
  CATCH_CHECK(splits[2] == std::vector<node_id>{4});
}

CATCH_TEST_CASE("each class is split by chance", "[partition][import]") {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 100; ++i)
    labels.push_back(i % 10 == 0 ? 1 : 0);
  const auto splits =
    split_nodes({{0.8, 0.1, 0.1}, split_order::label, 7}, labels, {});
  const std::vector<std::size_t> sizes{80, 10, 10};
  const std::vector<std::int64_t> of_class_1{8, 1, 1};
  for (std::size_t s = 0; s < 3; ++s) {
    CATCH_CHECK(splits[s].size() == sizes[s]);
    std::int64_t ones = 0;
    for (auto id : splits[s])
      ones += labels[static_cast<std::size_t>(id)];
    CATCH_CHECK(ones == of_class_1[s]);
  }
  const auto random =
    split_nodes({{0.8, 0.1, 0.1}, split_order::random, 7}, labels, {});
  CATCH_CHECK(random[0].size() == 80);
  CATCH_CHECK(
    random
    == split_nodes({{0.8, 0.1, 0.1}, split_order::random, 7}, labels, {}));
}
