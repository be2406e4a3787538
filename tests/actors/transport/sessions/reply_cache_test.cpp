#include "actors/transport/sessions/reply_cache.hpp"

#include "tests/support/catch.hpp"

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

message reply_of(std::size_t bytes) {
  message out;
  out.data.body = frame::copy(std::vector<std::byte>(bytes));
  return out;
}

const session_time born{std::chrono::hours{1}};

} // namespace

CATCH_TEST_CASE("kept replies are found until their time is over",
                "[transport][session]") {
  reply_cache cache{1 << 20};
  cache.put({"a", 1}, reply_of(8), born + 1s);
  cache.put({"a", 2}, reply_of(16), born + 2s);
  CATCH_CHECK(cache.find({"b", 1}) == nullptr);
  CATCH_REQUIRE(cache.find({"a", 1}) != nullptr);
  CATCH_CHECK(cache.find({"a", 1})->data.body.size() == 8);
  cache.expire(born + 1s);
  CATCH_CHECK(cache.find({"a", 1}) == nullptr);
  CATCH_CHECK(cache.find({"a", 2}) != nullptr);
  cache.expire(born + 2s);
  CATCH_CHECK(cache.size() == 0);
  CATCH_CHECK(cache.bytes() == 0);
}

CATCH_TEST_CASE("the oldest replies give way", "[transport][session]") {
  reply_cache cache{10000};
  for (std::uint64_t id = 0; id < 100; ++id) {
    cache.put({"a", id}, reply_of(1000), born);
    CATCH_CHECK(cache.bytes() <= 10000);
    CATCH_CHECK(cache.find({"a", id}) != nullptr);
  }
  CATCH_CHECK(cache.find({"a", 0}) == nullptr);
  CATCH_CHECK(cache.size() > 2);
  cache.put({"a", 99}, reply_of(10), born);
  CATCH_CHECK(cache.find({"a", 99})->data.body.size() == 10);
  cache.put({"a", 1000}, reply_of(20000), born); // Would never fit.
  CATCH_CHECK(cache.find({"a", 1000}) == nullptr);
  CATCH_CHECK(cache.size() > 2);
}
