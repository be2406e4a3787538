#include "pipelines/health/span_ring.hpp"
#include "tests/support/catch.hpp"

#include <cstdint>
#include <vector>

using namespace graphmill;

namespace {

ring_span from_to(std::int64_t begin, std::int64_t end) {
  return {begin, end, 7, 8, 0xfffffffe, 0xfffd, 0xfc};
}

} // namespace

CATCH_TEST_CASE("a ring gives back its spans page by page",
                "[pipelines][span_ring]") {
  span_ring ring{6}; // Becomes 8.
  CATCH_CHECK(ring.size() == 8);
  CATCH_CHECK(ring.read(0, 10).spans.empty());
  for (int i = 0; i < 5; ++i)
    ring.write(from_to(i, i + 1));
  CATCH_CHECK(ring.written() == 5);
  const auto first = ring.read(0, 3);
  CATCH_CHECK(first.spans
              == std::vector{from_to(0, 1), from_to(1, 2), from_to(2, 3)});
  CATCH_CHECK(first.first == 0);
  CATCH_CHECK(first.next == 3);
  const auto second = ring.read(first.next, 3);
  CATCH_CHECK(second.spans == std::vector{from_to(3, 4), from_to(4, 5)});
  CATCH_CHECK(second.next == 5);
  const auto none = ring.read(second.next, 3);
  CATCH_CHECK(none.spans.empty());
  CATCH_CHECK(none.first == 5);
  CATCH_CHECK(none.next == 5);
}

CATCH_TEST_CASE("a full ring keeps the last spans", "[pipelines][span_ring]") {
  span_ring ring{4};
  for (int i = 0; i < 11; ++i)
    ring.write(from_to(i, i + 1));
  const auto page = ring.read(2, 100);
  CATCH_CHECK(page.first == 7);
  CATCH_CHECK(page.next == 11);
  CATCH_CHECK(page.spans
              == std::vector{from_to(7, 8), from_to(8, 9), from_to(9, 10),
                             from_to(10, 11)});
  const auto late = ring.read(~std::uint64_t{0}, 100);
  CATCH_CHECK(late.spans.empty());
  CATCH_CHECK(late.next == 11);
}
