#include "pipelines/gradients/buckets.hpp"
#include "tests/support/catch.hpp"

namespace graphmill::test {

CATCH_TEST_CASE("buckets go from the end to the beginning, small one first",
                "[gradients]") {
  const bucket_limits limits{8, 16}; // Two floats, then four.
  CATCH_CHECK(cut_buckets(0, limits).empty());
  CATCH_CHECK(cut_buckets(1, limits) == std::vector<bucket>{{0, 1}});
  CATCH_CHECK(cut_buckets(2, limits) == std::vector<bucket>{{0, 2}});
  CATCH_CHECK(cut_buckets(7, limits)
              == std::vector<bucket>{{5, 2}, {1, 4}, {0, 1}});
  const auto usual = cut_buckets(std::int64_t{20} << 20); // 80 MiB
  CATCH_REQUIRE(usual.size() == 5);
  CATCH_CHECK(usual.front().size == 1 << 18);
  CATCH_CHECK(usual[1].size == 25 << 18);
  CATCH_CHECK(usual.back().offset == 0);
}

CATCH_TEST_CASE("chunks cover a bucket and differ by one float at most",
                "[gradients]") {
  for (std::int64_t size : {0, 1, 2, 3, 4, 5, 1000, 1003})
    for (rank_id ranks : {1, 3, 4, 7}) {
      CATCH_INFO(size << " floats over " << ranks);
      auto at = std::int64_t{50};
      for (rank_id r = 0; r < ranks; ++r) {
        const auto chunk = chunk_of({50, size}, r, ranks);
        CATCH_CHECK(chunk.offset == at);
        CATCH_CHECK(chunk.size >= size / ranks);
        CATCH_CHECK(chunk.size <= size / ranks + 1);
        at += chunk.size;
      }
      CATCH_CHECK(at == 50 + size);
    }
}

CATCH_TEST_CASE("of two ranks each adds up all", "[gradients]") {
  for (std::int64_t size : {0, 1, 1003})
    for (rank_id r : {0, 1})
      CATCH_CHECK(chunk_of({50, size}, r, 2) == bucket{50, size});
  CATCH_CHECK_FALSE(sums_travel(2));
  CATCH_CHECK(sums_travel(3));
}

} // namespace graphmill::test
