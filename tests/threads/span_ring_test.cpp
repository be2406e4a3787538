#include "pipelines/health/span_ring.hpp"
#include "tests/support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

using namespace graphmill;

namespace {

/// A span whose words all tell the same number, so that a mixed one shows.
ring_span numbered(std::uint64_t number, std::uint16_t worker) {
  return {
    static_cast<std::int64_t>(number),    static_cast<std::int64_t>(number) + 1,
    number ^ 0x5555555555555555,          ~number,
    static_cast<std::uint32_t>(number),   worker,
    static_cast<std::uint8_t>(number % 8)};
}

} // namespace

CATCH_TEST_CASE("a ring that threads write holds whole spans in order",
                "[threads][span_ring]") {
  constexpr std::uint64_t each = 20'000;
  constexpr std::uint16_t writers = 4;
  // Small, so that slots are overwritten while they are read.
  span_ring ring{64};
  std::atomic<int> writing{writers};
  std::vector<std::thread> threads;
  for (std::uint16_t worker = 0; worker < writers; ++worker)
    threads.emplace_back([&ring, &writing, worker] {
      for (std::uint64_t i = 0; i < each; ++i)
        ring.write(numbered(i, worker));
      --writing;
    });
  std::vector<std::int64_t> last(writers, -1);
  std::uint64_t next = 0;
  std::size_t wrong = 0;
  for (auto ends = false; !ends;) {
    ends = writing == 0; // Then this is the last look, at all that is left.
    const auto page = ring.read(next, ring.size());
    wrong += page.first < next || page.next < page.first;
    next = page.next;
    for (const auto& span : page.spans) {
      const auto number = static_cast<std::uint64_t>(span.begin);
      wrong += span.worker >= writers || span != numbered(number, span.worker)
               || span.begin <= last[span.worker % writers];
      last[span.worker % writers] = span.begin;
    }
  }
  for (auto& thread : threads)
    thread.join();
  CATCH_CHECK(wrong == 0);
  CATCH_CHECK(ring.written() == each * writers);
  // Whoever sleeps for a whole round of so small a ring loses its span, and
  // nobody else does.
  CATCH_CHECK(next <= each * writers);
}
