#include "actors/transport/sockets/connections/unfinished.hpp"
#include "tests/support/catch.hpp"

#include <map>
#include <set>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

/// Connections of which the test says what has been received.
struct unfinished_scene {
  std::vector<int> look() {
    now += 1s;
    return messages.excess(
      now, [this](int descriptor) { return received[descriptor]; },
      [this](int descriptor) { return strangers.contains(descriptor); });
  }

  session_time now{1h};
  std::map<int, std::uint64_t> received;
  std::set<int> strangers;
  unfinished_messages messages{
    {.connection = 100, .stranger = 10, .total = 250}};
};

} // namespace

CATCH_TEST_CASE("whoever sends no end of a message is named",
                "[transport][unfinished]") {
  unfinished_scene it;
  it.messages.opened(1);
  it.messages.opened(2);
  it.received = {{1, 100}, {2, 90}};
  CATCH_CHECK(it.look().empty());
  it.received = {{1, 101}, {2, 200}};
  it.messages.finished(2);
  CATCH_CHECK(it.look() == std::vector{1});
  CATCH_CHECK(it.look().empty()); // Once.
  it.received[2] = 301;           // All of it after the last whole message.
  CATCH_CHECK(it.look() == std::vector{2});
  CATCH_CHECK(it.messages.next_tick() == session_time::max());
}

CATCH_TEST_CASE("strangers may send less", "[transport][unfinished]") {
  unfinished_scene it;
  it.messages.opened(1);
  it.strangers = {1};
  it.received[1] = 11;
  CATCH_CHECK(it.look() == std::vector{1});
}

CATCH_TEST_CASE("all together have a limit", "[transport][unfinished]") {
  unfinished_scene it;
  for (int i = 1; i <= 4; ++i)
    it.messages.opened(i);
  it.received = {{1, 60}, {2, 90}, {3, 70}, {4, 20}};
  CATCH_CHECK(it.look().empty());
  it.received[4] = 40;
  CATCH_CHECK(it.look() == std::vector{2}); // Has most.
  it.messages.closed(3);
  it.received[4] = 100;
  CATCH_CHECK(it.look().empty());
}

CATCH_TEST_CASE("a descriptor is used anew", "[transport][unfinished]") {
  unfinished_scene it;
  it.messages.opened(1);
  it.received[1] = 90;
  CATCH_CHECK(it.look().empty());
  it.messages.closed(1);
  it.messages.opened(1);
  it.received[1] = 100;
  CATCH_CHECK(it.look().empty());
}
