#include "actors/process/heap_trimmer.hpp"
#include "actors/process/memory_probe.hpp"
#include "pipelines/health/span_ring.hpp"
#include "tests/support/catch.hpp"

#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("holes in the heap are given back to the system", "[heap]") {
  constexpr std::size_t block = std::size_t{64} << 10;
  constexpr std::size_t count = 1024;
  std::vector<std::unique_ptr<char[]>> blocks(count);
  for (auto& memory : blocks) {
    memory = std::make_unique<char[]>(block);
    std::memset(memory.get(), 1, block);
  }
  memory_probe probe;
  const auto full = probe.sample();
  CATCH_REQUIRE(full > count * block);
  CATCH_CHECK(probe.mapped_bytes() > 0); // This program.
  // The last one stays, so that the heap cannot shrink from its end.
  for (std::size_t i = 0; i + 1 < count; ++i)
    blocks[i].reset();

  heap_trimmer heap;
  const heap_trimmer::clock::time_point start{std::chrono::hours{1}};
  CATCH_CHECK(heap.tick(start));
  CATCH_CHECK(probe.sample() < full - count * block / 2);
  CATCH_CHECK_FALSE(heap.tick(start + heap_trimmer::interval / 2));
  CATCH_CHECK(heap.tick(start + heap_trimmer::interval));
}

CATCH_TEST_CASE("rings of spans of earlier attempts leave no memory behind",
                "[heap]") {
  // On a thread of its own, as that of an agent: its heap is not the first.
  std::thread{[] {
    // Larger than that of a run, for the kernel counts pages roughly.
    constexpr std::size_t spans = std::size_t{1} << 19;
    constexpr std::size_t ring_bytes = 48 * spans;
    memory_probe probe;
    const auto none = probe.sample();
    auto ring = std::make_unique<span_ring>(spans);
    const auto one = probe.sample();
    CATCH_CHECK(one > none + ring_bytes / 2); // There from the beginning.
    for (int attempt = 0; attempt < 5; ++attempt) {
      auto next =
        std::make_unique<span_ring>(spans); // Before the old one goes.
      ring = std::move(next);
    }
    CATCH_CHECK(probe.sample() < one + ring_bytes / 2);
    ring.reset();
    CATCH_CHECK(probe.sample() < none + ring_bytes / 2);
  }}.join();
}
