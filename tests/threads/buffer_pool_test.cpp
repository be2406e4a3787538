#include "messages/base/buffer.hpp"
#include "messages/base/random.hpp"
#include "tests/support/catch.hpp"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("threads share a pool, and nobody gets another's memory",
                "[threads][buffer]") {
  constexpr std::uint64_t threads = 4;
  constexpr int rounds = 500;
  auto pool = buffer_pool::make(std::size_t{1} << 20);
  std::atomic<int> spoilt{0};
  std::vector<std::thread> users;
  for (std::uint64_t t = 0; t < threads; ++t)
    users.emplace_back([pool, t, &spoilt] {
      random_stream draws{stream_key(1, purpose::generate, 0, 0), t};
      for (int round = 0; round < rounds; ++round) {
        const auto size = 1 + draws.below(50000);
        auto mine = pool->acquire(size);
        std::memset(mine.data(), static_cast<int>(t), size);
        std::this_thread::yield();
        for (std::size_t i = 0; i < size; i += 997)
          spoilt += mine.data()[i] != std::byte(t);
      }
    });
  for (auto& user : users)
    user.join();
  CATCH_CHECK(spoilt == 0);
  CATCH_CHECK(pool->live_bytes() == 0);
  CATCH_CHECK(pool->kept_bytes() <= std::size_t{1} << 20);
}
