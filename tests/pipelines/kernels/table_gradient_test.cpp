#include "pipelines/kernels/table_gradient.hpp"

#include "tests/support/catch.hpp"

#include <vector>

namespace graphmill::test::table_gradients {

CATCH_TEST_CASE("a row of a table that trees take twice has the sum of both",
                "[kernels][times]") {
  const std::vector<float> rows{1, 2, 10, 20, 100, 200, 1000, 2000};
  const std::vector<node_id> ids{7, 3, 7, 7};
  gradient_set::sparse out;
  set_table_gradient({rows.data(), 4, 2}, ids, out);
  CATCH_CHECK(std::vector<std::int64_t>(out.rows.begin(), out.rows.end())
              == std::vector<std::int64_t>{3, 7});
  CATCH_CHECK(std::vector<float>(out.values.begin(), out.values.end())
              == std::vector<float>{10, 20, 1101, 2202});
}

} // namespace graphmill::test::table_gradients
