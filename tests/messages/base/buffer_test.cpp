#include "messages/base/block_source.hpp"
#include "messages/base/buffer.hpp"
#include "tests/support/catch.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>

using namespace graphmill;

namespace {

/// All buffers take their blocks from here while it lives.
class scoped_source final : public block_source {
public:
  scoped_source() { take_blocks_from(this); }
  ~scoped_source() override { take_blocks_from(nullptr); }

  std::byte* take(std::size_t capacity) override {
    taken += capacity;
    if (auto* block = std::aligned_alloc(64, capacity))
      return static_cast<std::byte*>(block);
    throw std::bad_alloc{};
  }
  void give_back(std::byte* block, std::size_t capacity) noexcept override {
    taken -= capacity;
    std::free(block);
  }

  std::size_t taken = 0;
};

} // namespace

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

CATCH_TEST_CASE("a pool of a source keeps no blocks that are hardly used",
                "[messages][buffer]") {
  scoped_source source;
  auto pool = buffer_pool::make(1 << 30);
  // None stands in for another one, and each is live on its own.
  const std::array<std::size_t, 4> rare{100000, 40000, 15000, 6000};
  for (std::size_t i = 0; i < 20 * rare.size(); ++i) {
    for (int usual = 0; usual < 100; ++usual)
      pool->acquire(300000);
    pool->acquire(rare[i % rare.size()]);
    if (i == rare.size())
      pool->reset_peak(); // It is no matter.
  }
  CATCH_CHECK(4 * pool->kept_bytes() <= 5 * pool->peak_bytes());
  CATCH_CHECK(source.taken == pool->kept_bytes());
}

CATCH_TEST_CASE(
  "a pool of a source keeps its large blocks, and little else that "
  "is idle",
  "[messages][buffer]") {
  scoped_source source;
  auto pool = buffer_pool::make(1 << 30);
  const std::array<std::size_t, 4> rare{5000000, 2000000, 900000, 400000};
  const std::byte* large = pool->acquire(20000000).data();
  for (std::size_t i = 0; i < 20 * rare.size(); ++i) {
    {
      const auto one = pool->acquire(rare[i % rare.size()]);
      const auto other = pool->acquire(rare[i % rare.size()]);
    }
    for (int usual = 0; usual < 300; ++usual)
      CATCH_CHECK(pool->acquire(20000000).data() == large);
  }
  // The last two may be the largest. All of them have 16.6 MB.
  CATCH_CHECK(pool->kept_bytes() <= pool->peak_bytes() + (2 << 20) + 10600000);
}

CATCH_TEST_CASE("a pool keeps all blocks that are used again and again",
                "[messages][buffer]") {
  scoped_source source;
  auto pool = buffer_pool::make(1 << 30);
  const std::array<std::size_t, 5> sizes{300000, 100000, 40000, 15000, 6000};
  for (int i = 0; i < 100; ++i)
    for (const auto size : sizes)
      pool->acquire(size);
  CATCH_CHECK(pool->kept_bytes() >= 461000);
}

CATCH_TEST_CASE("a large block of a source serves sizes that differ by a few "
                "percent",
                "[messages][buffer]") {
  scoped_source source;
  for (const std::size_t size : {1100000, 16777216, 17000000}) {
    auto pool = buffer_pool::make(1 << 30);
    auto first = pool->acquire(size);
    CATCH_CHECK(first.capacity() >= size + size / 64);
    CATCH_CHECK(first.capacity() <= size + size / 16);
    const auto* data = first.data();
    first.reset();
    CATCH_CHECK(pool->acquire(size + size / 64).data() == data);
  }
}

CATCH_TEST_CASE("a pool of the heap keeps what was live in turn",
                "[messages][buffer]") {
  auto pool = buffer_pool::make(1 << 30);
  for (const std::size_t size : {300000, 100000, 40000, 15000, 6000})
    pool->acquire(size);
  for (int usual = 0; usual < 1000; ++usual)
    pool->acquire(300000);
  CATCH_CHECK(pool->kept_bytes() >= 461000);
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
