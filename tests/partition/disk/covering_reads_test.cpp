#include "partition/disk/covering_reads.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <random>
#include <set>

using namespace graphmill;

CATCH_TEST_CASE("reads cover the rows and nothing far from them",
                "[partition][disk]") {
  std::mt19937 random{5};
  for (const std::size_t row_bytes : {2, 400, 1024, 70000})
    for (const std::size_t alignment : {1, 512, 4096}) {
      CATCH_INFO(row_bytes << " bytes a row, aligned to " << alignment);
      const row_layout layout{
        128, row_bytes, alignment,
        std::max<std::size_t>(65536,
                              row_layout::bytes_for(row_bytes, alignment))};
      std::set<std::int64_t> wanted;
      for (int i = 0; i < 300; ++i)
        wanted.insert(std::uniform_int_distribution{0, 9999}(random));
      const std::vector rows(wanted.begin(), wanted.end());
      std::vector<std::int64_t> covered;
      auto good = true;
      for (const auto& read : cover_rows(layout, rows)) {
        good &= read.offset % alignment == 0 && read.size % alignment == 0;
        good &= read.size <= layout.most_bytes;
        good &= read.end == layout.offset_of(read.rows.back()) + row_bytes;
        good &= read.offset <= layout.offset_of(read.rows.front());
        good &= read.offset + read.size >= read.end;
        good &= read.end + alignment > read.offset + read.size;
        for (std::size_t i = 1; i < read.rows.size(); ++i)
          good &=
            layout.offset_of(read.rows[i])
            <= layout.offset_of(read.rows[i - 1]) + row_bytes + near_bytes;
        covered.insert(covered.end(), read.rows.begin(), read.rows.end());
      }
      CATCH_CHECK(good);
      CATCH_CHECK(covered == rows);
    }
}

CATCH_TEST_CASE("rows that lie near each other come by one read",
                "[partition][disk]") {
  const row_layout layout{0, 400, 512, 65536};
  const std::vector<std::int64_t> rows{0, 1, 10, 1000, 1001};
  const auto reads = cover_rows(layout, rows);
  CATCH_REQUIRE(reads.size() == 2);
  CATCH_CHECK(reads[0].rows == std::vector<std::int64_t>{0, 1, 10});
  CATCH_CHECK(reads[0].offset == 0);
  CATCH_CHECK(reads[0].size == 4608); // 11 rows are 4400 bytes.
  CATCH_CHECK(reads[1].offset == 399872);
  CATCH_CHECK(cover_rows(layout, {}).empty());
}
