#include "messages/base/buffer.hpp"
#include "tests/support/catch.hpp"

#include <array>
#include <cstdint>

using namespace graphmill;

CATCH_TEST_CASE("a pool reuses what was given back", "[messages][buffer]") {
  auto pool = buffer_pool::make(1 << 20);
  auto first = pool->acquire(10000);
  auto* data = first.data();
  CATCH_CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
  CATCH_CHECK(pool->live_bytes() == first.capacity());
  first.reset();
  CATCH_CHECK(pool->live_bytes() == 0);
  CATCH_CHECK(pool->kept_bytes() >= 10000);
  auto second = pool->acquire(10000);
  CATCH_CHECK(second.data() == data);
  CATCH_CHECK(pool->kept_bytes() == 0);
}

CATCH_TEST_CASE("live and kept blocks stay within the limit",
                "[messages][buffer]") {
  auto pool = buffer_pool::make(100000);
  {
    auto a = pool->acquire(40000);
    auto b = pool->acquire(40000);
  }
  CATCH_CHECK(pool->kept_bytes() <= 100000);
  auto c = pool->acquire(90000);
  CATCH_CHECK(pool->kept_bytes() + pool->live_bytes() <= 100000);
}

CATCH_TEST_CASE("a pool keeps no more blocks of similar sizes than were live",
                "[messages][buffer]") {
  for (const std::size_t least : {1000, 100000}) {
    auto pool = buffer_pool::make(1 << 30);
    // All sizes up to half as large again come up, four at a time.
    for (std::size_t i = 0; i < 1000; ++i) {
      std::array<buffer, 4> live;
      for (std::size_t k = 0; k < live.size(); ++k)
        live[k] = pool->acquire(least + (4 * i + k) * 7919 % (least / 2 + 1));
    }
    const auto largest = pool->acquire(least + least / 2).capacity();
    CATCH_CHECK(pool->kept_bytes() <= 4 * largest);
  }
}

CATCH_TEST_CASE("a buffer outlives its pool's handle", "[messages][buffer]") {
  buffer kept;
  {
    auto pool = buffer_pool::make(1000);
    kept = pool->acquire(100);
  }
  kept.data()[99] = std::byte{1};
  kept.reset();
  CATCH_CHECK(kept.data() == nullptr);
}

CATCH_TEST_CASE("pod_vector grows and keeps its content",
                "[messages][buffer]") {
  auto pool = buffer_pool::make(1 << 20);
  pod_vector<std::int64_t> values{pool};
  for (std::int64_t i = 0; i < 1000; ++i)
    values.push_back(i * i);
  std::array<std::int64_t, 3> more{1, 2, 3};
  values.append(more);
  CATCH_REQUIRE(values.size() == 1003);
  for (std::int64_t i = 0; i < 1000; ++i)
    CATCH_CHECK(values[i] == i * i);
  CATCH_CHECK(values.back() == 3);
  auto moved = std::move(values);
  CATCH_CHECK(moved.size() == 1003);
}

CATCH_TEST_CASE("a pool remembers its peak", "[messages][buffer]") {
  auto pool = buffer_pool::make(1 << 20);
  {
    const auto first = pool->acquire(4096);
    const auto second = pool->acquire(4096);
  }
  CATCH_CHECK(pool->peak_bytes() == 8192);
  pool->reset_peak();
  CATCH_CHECK(pool->peak_bytes() == 0);
}
