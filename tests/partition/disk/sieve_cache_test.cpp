#include "partition/disk/sieve_cache.hpp"
#include "tests/support/catch.hpp"

#include <cstring>
#include <map>
#include <random>
#include <string>

using namespace graphmill;

namespace {

constexpr std::size_t row_bytes = sizeof(std::int64_t);

std::uint64_t bytes_for(std::uint64_t rows) {
  return rows * (row_bytes + sieve_cache::bytes_per_row);
}

void put(sieve_cache& cache, std::int64_t row, std::int64_t value) {
  std::byte bytes[row_bytes];
  std::memcpy(bytes, &value, row_bytes);
  cache.put(row, bytes);
}

/// The value of a row, or -1.
std::int64_t get(sieve_cache& cache, std::int64_t row) {
  const auto* bytes = cache.find(row);
  std::int64_t value = -1;
  if (bytes != nullptr)
    std::memcpy(&value, bytes, row_bytes);
  return value;
}

} // namespace

CATCH_TEST_CASE("SIEVE spares what was found since the hand passed",
                "[partition][disk]") {
  sieve_cache cache{row_bytes, bytes_for(3), 100};
  CATCH_REQUIRE(cache.capacity() == 3);
  for (auto row : {1, 2, 3})
    put(cache, row, 10 * row);
  CATCH_CHECK(get(cache, 1) == 10);
  put(cache, 4, 40); // The hand spares 1 and takes 2; then 3 is next.
  put(cache, 5, 50);
  std::string there;
  for (auto row : {1, 2, 3, 4, 5})
    there += get(cache, row) == 10 * row ? '+' : '-';
  CATCH_CHECK(there == "+--++");
  // All have been found: the hand, at 4, goes round and comes back to it.
  put(cache, 6, 60);
  CATCH_CHECK(get(cache, 4) == -1);
  CATCH_CHECK(get(cache, 1) == 10);
}

CATCH_TEST_CASE("a cache gives back what was put, in bounded memory",
                "[partition][disk]") {
  constexpr std::int64_t rows = 400;
  for (const auto held : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7},
                          std::uint64_t{100}, std::uint64_t{5000}}) {
    CATCH_INFO("room for " << held);
    std::mt19937 random{static_cast<unsigned>(held)};
    std::geometric_distribution<std::int64_t> which{0.01};
    sieve_cache cache{row_bytes, bytes_for(held), rows};
    CATCH_CHECK(cache.capacity() == std::min<std::uint64_t>(held, rows));
    CATCH_CHECK(cache.byte_size() <= bytes_for(held) + 64);
    std::map<std::int64_t, std::int64_t> last;
    auto good = true;
    for (std::int64_t i = 0; i < 50000; ++i) {
      const auto row = which(random) % rows;
      const auto found = get(cache, row);
      good &= found == -1 || found == last.at(row);
      if (found == -1)
        put(cache, row, last[row] = i);
      good &= cache.size() <= cache.capacity();
    }
    CATCH_CHECK(good);
    if (held >= rows)
      for (const auto& [row, value] : last)
        CATCH_CHECK(get(cache, row) == value);
  }
}
