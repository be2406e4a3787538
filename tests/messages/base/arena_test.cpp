#include "messages/base/arena.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <random>

namespace graphmill::test::arenas {

CATCH_TEST_CASE("another mapping of an arena sees what is in its blocks",
                "[messages][arena]") {
  const auto memory = value_of(arena::make(1 << 20));
  auto* block = memory->take(5120);
  std::memset(block, 7, 5120);
  auto* other = static_cast<std::byte*>(::mmap(
    nullptr, memory->bytes(), PROT_READ, MAP_SHARED, memory->descriptor(), 0));
  CATCH_REQUIRE(other != MAP_FAILED);
  const auto place = memory->place_of(block);
  CATCH_CHECK(std::memcmp(other + place, block, 5120) == 0);
  // Pages that are given back take no memory: they read as zeros.
  memory->give_back(block, 5120);
  CATCH_CHECK(other[place] == std::byte{0});
  // Others stay, for a device that reads them.
  memory->keep_pages();
  std::memset(memory->take(5120), 9, 5120);
  memory->give_back(block, 5120);
  CATCH_CHECK(other[place] == std::byte{9});
  ::munmap(other, memory->bytes());
}

CATCH_TEST_CASE("a block of an arena has its memory when it is taken",
                "[messages][arena]") {
  constexpr std::size_t size = 1 << 20;
  const auto memory = value_of(arena::make(size));
  auto* block = memory->take(size);
  // Systems before Linux 5.14 do not do that.
  if (::madvise(block, size, MADV_POPULATE_WRITE) != 0 && errno == EINVAL) {
    CATCH_WARN("skipped: this system gives memory at its first use alone");
    return;
  }
  memory->give_back(block, size);
  const auto used = [&memory] {
    struct stat about {};
    CATCH_REQUIRE(::fstat(memory->descriptor(), &about) == 0);
    return about.st_blocks * 512;
  };
  CATCH_CHECK(used() == 0);
  block = memory->take(5120);
  CATCH_CHECK(used() == 8192);
  memory->give_back(block, 5120);
  // Where there is none, that is an error and no signal.
  CATCH_REQUIRE(::ftruncate(memory->descriptor(), 0) == 0);
  CATCH_CHECK_THROWS_AS(memory->take(5120), std::bad_alloc);
  CATCH_CHECK(memory->taken_bytes() == 0);
}

CATCH_TEST_CASE("blocks of an arena never overlap, and become one again",
                "[messages][arena]") {
  constexpr std::size_t size = 1 << 20;
  const auto memory = value_of(arena::make(size));
  const auto seed = std::uint32_t{20261129};
  CATCH_CAPTURE(seed);
  std::mt19937 draw{seed};
  std::map<std::byte*, std::size_t> taken;
  std::size_t bytes = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto capacity = 64 * (1 + draw() % (i % 3 == 0 ? 300 : 20));
    if (draw() % 5 < 3) {
      try {
        auto* block = memory->take(capacity);
        CATCH_REQUIRE(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
        const auto next = taken.lower_bound(block);
        CATCH_REQUIRE((next == taken.end() || block + capacity <= next->first));
        if (next != taken.begin()) {
          const auto before = std::prev(next);
          CATCH_REQUIRE(before->first + before->second <= block);
        }
        taken.emplace(block, capacity);
        bytes += capacity;
        continue;
      } catch (const std::bad_alloc&) {
      }
    }
    if (taken.empty())
      continue;
    const auto it =
      std::next(taken.begin(), static_cast<int>(draw() % taken.size()));
    memory->give_back(it->first, it->second);
    bytes -= it->second;
    taken.erase(it);
    CATCH_REQUIRE(memory->taken_bytes() == bytes);
  }
  for (const auto& [block, capacity] : taken)
    memory->give_back(block, capacity);
  auto* whole = memory->take(size);
  CATCH_CHECK(memory->place_of(whole) == 0);
  CATCH_CHECK_THROWS_AS(memory->take(64), std::bad_alloc);
}

} // namespace graphmill::test::arenas
