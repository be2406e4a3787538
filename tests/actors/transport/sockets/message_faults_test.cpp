#include "actors/transport/sockets/message_faults.hpp"

#include "tests/support/catch.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

const session_time held_start{1h};

message numbered(std::uint64_t id) {
  message out;
  out.head.id = id;
  return out;
}

link_fault delay_of(std::chrono::milliseconds each,
                    std::chrono::milliseconds lasts,
                    const std::string& peer = {}) {
  return {link_fault::kind::delay, peer, each, lasts};
}

bool takes(message_faults& from, session_time now, const std::string& to,
           std::uint64_t id, bool guest = false) {
  auto content = numbered(id);
  return from.take(now, {to, guest, channel::data}, content);
}

/// What leaves at a time, by id.
std::vector<std::uint64_t> ids_due(message_faults& from, session_time now) {
  std::vector<std::uint64_t> out;
  for (const auto& one : from.due(now))
    out.push_back(one.content.head.id);
  return out;
}

} // namespace

CATCH_TEST_CASE("messages are held for their time, and leave in order",
                "[transport][held]") {
  message_faults held;
  CATCH_CHECK_FALSE(takes(held, held_start, "a", 1));
  CATCH_CHECK(held.next_tick() == session_time::max());
  held.begin(held_start, delay_of(100ms, 1s));
  CATCH_CHECK(takes(held, held_start, "a", 2));
  CATCH_CHECK(takes(held, held_start + 50ms, "b", 3, true));
  CATCH_CHECK(held.next_tick() == held_start + 100ms);
  CATCH_CHECK(ids_due(held, held_start + 99ms).empty());
  CATCH_CHECK(ids_due(held, held_start + 100ms)
              == std::vector<std::uint64_t>{2});
  CATCH_CHECK(ids_due(held, held_start + 150ms)
              == std::vector<std::uint64_t>{3});
  CATCH_CHECK_FALSE(takes(held, held_start + 1s, "a", 4));
}

CATCH_TEST_CASE("a message does not overtake one that is held",
                "[transport][held]") {
  message_faults held;
  held.begin(held_start, delay_of(100ms, 10ms));
  CATCH_CHECK(takes(held, held_start + 5ms, "a", 1));
  // It is over for others, but not for those behind the first.
  CATCH_CHECK(takes(held, held_start + 20ms, "a", 2));
  CATCH_CHECK_FALSE(takes(held, held_start + 20ms, "b", 3));
  CATCH_CHECK(ids_due(held, held_start + 104ms).empty());
  CATCH_CHECK(ids_due(held, held_start + 105ms)
              == std::vector<std::uint64_t>{1, 2});
  CATCH_CHECK_FALSE(takes(held, held_start + 105ms, "a", 4));
}

CATCH_TEST_CASE("one peer alone is held up", "[transport][held]") {
  message_faults held;
  held.begin(held_start, delay_of(100ms, 1s, "a"));
  CATCH_CHECK(takes(held, held_start, "a", 1));
  CATCH_CHECK_FALSE(takes(held, held_start, "b", 2));
  held.forget("a");
  CATCH_CHECK(held.next_tick() == session_time::max());
  CATCH_CHECK(ids_due(held, held_start + 1h).empty());
}

CATCH_TEST_CASE("what is held has a limit, and then leaves at once",
                "[transport][held]") {
  message_faults held;
  held.begin(held_start, delay_of(1s, 10s));
  for (std::size_t i = 0; i < message_faults::most; ++i)
    CATCH_REQUIRE(takes(held, held_start, "a", i));
  CATCH_CHECK(ids_due(held, held_start).empty());
  CATCH_CHECK(takes(held, held_start, "a", message_faults::most));
  CATCH_CHECK(ids_due(held, held_start).size() == message_faults::most + 1);
  CATCH_CHECK_FALSE(takes(held, held_start, "a", 1));
}

CATCH_TEST_CASE("the next messages on data channels are damaged",
                "[transport][held]") {
  message_faults faults;
  faults.begin(held_start, {.what = link_fault::kind::corrupt, .messages = 2});
  std::vector<bool> damaged;
  for (const auto method : {method::hello, method::beat, method::sample,
                            method::gather, method::sample}) {
    auto content = numbered(1);
    content.head.method = method;
    CATCH_CHECK_FALSE(faults.take(held_start, {"a", true}, content));
    damaged.push_back(content.damaged);
  }
  CATCH_CHECK(damaged == std::vector{false, false, true, true, false});
}
