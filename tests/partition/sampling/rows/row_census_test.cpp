#include "partition/sampling/rows/row_census.hpp"
#include "tests/support/catch.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace graphmill::test {

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

std::vector<node_id> nodes_from(node_id first, std::size_t count) {
  std::vector<node_id> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

} // namespace

CATCH_TEST_CASE("what a cache would have spared is what came again",
                "[partition][health]") {
  row_census census;
  CATCH_CHECK(census.offer().bytes == 0);
  // Four rows of a quarter of a MiB fill the smallest cache.
  const auto often = nodes_from(0, 4);
  for (int i = 0; i < 25; ++i)
    census.add(0, often, mib / 4);
  // The same numbers of another type are other nodes.
  census.add(1, nodes_from(0, 100), mib / 4);
  const auto small = census.offer();
  CATCH_CHECK(small.bytes == mib);
  CATCH_CHECK(small.spared == 96.0 / 200);
  // With these, 3 MiB are asked for more than once.
  for (int i = 0; i < 20; ++i)
    census.add(2, nodes_from(0, 8), mib / 4);
  const auto more = census.offer();
  CATCH_CHECK(more.bytes == 4 * mib);
  CATCH_CHECK(more.spared == Approx((96.0 + 152.0) / 360));
}

CATCH_TEST_CASE("rows that do not come again are worth no cache",
                "[partition][health]") {
  row_census census;
  census.add(0, nodes_from(0, 1000), 400);
  CATCH_CHECK(census.offer().bytes == 0);
  census.add(0, nodes_from(0, 100), 400); // 100 of 1,100.
  CATCH_CHECK(census.offer().bytes == 0);
  census.add(0, nodes_from(100, 100), 400);
  const auto worth = census.offer();
  CATCH_CHECK(worth.bytes == mib);
  CATCH_CHECK(worth.spared == 200.0 / 1200);
}

CATCH_TEST_CASE("a sample of many nodes tells about all of them",
                "[partition][health]") {
  // A quarter of the nodes nine times, of 1 KiB each: they alone are worth a
  // cache, and spare 8 x 50,000 of 600,000 rows.
  row_census census;
  census.add(0, nodes_from(0, 200'000), 1024);
  for (int i = 0; i < 8; ++i)
    census.add(0, nodes_from(0, 50'000), 1024);
  const auto offer = census.offer();
  CATCH_CHECK(offer.bytes == 64 * mib); // 48.8 MiB
  CATCH_CHECK(offer.spared == Approx(2.0 / 3).epsilon(0.05));
}

} // namespace graphmill::test
