#include "actors/transport/sockets/connections/outbox.hpp"
#include "tests/support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

/// Connections that take what the test lets them.
struct scene {
  message reply(std::size_t bytes) const {
    message out;
    out.head.kind = message_kind::reply;
    out.data.body = frame::copy(std::vector<std::byte>(bytes));
    return out;
  }

  bool send(const std::string& connection_id, std::size_t bytes) {
    return box.send(now, connection_id, reply(bytes));
  }

  session_time now{1h};
  std::map<std::string, int> room; ///< Messages that a connection takes.
  std::vector<std::pair<std::string, message>> taken;
  std::shared_ptr<outflow> flow; ///< Of the last one.
  outbox box{{.limit_bytes = 3000, .most_messages = 4, .patience = 30s},
             [this](const std::string& connection_id, const message& outgoing,
                    const std::shared_ptr<outflow>& over) {
               flow = over;
               if (!room.contains(connection_id))
                 return sent::gone;
               if (room[connection_id] == 0)
                 return sent::blocked;
               --room[connection_id];
               taken.emplace_back(connection_id, outgoing);
               return sent::done;
             }};
};

} // namespace

CATCH_TEST_CASE("what waits for all connections together has a limit",
                "[transport][outbox]") {
  scene it;
  it.room = {{"a", 0}, {"b", 0}, {"c", 1}};
  const auto around = cost_of(message{});
  CATCH_CHECK(it.send("a", 1500));
  CATCH_CHECK(it.send("b", 400));
  CATCH_CHECK(it.box.bytes() == 1900 + 2 * around);
  CATCH_CHECK_FALSE(it.send("c", 300));
  it.room["a"] = it.room["b"] = 9;
  it.box.flush(it.now);
  CATCH_CHECK_FALSE(it.box.waits());
  CATCH_CHECK(it.box.bytes() == 0);
  CATCH_REQUIRE(it.taken.size() == 3);
  const auto& first = it.taken.front().second;
  CATCH_CHECK(it.taken.front().first == "c");
  CATCH_CHECK(first.data.byte_size() == 0);
  CATCH_CHECK(first.head.failure.code == ec::unavailable);
  CATCH_CHECK(first.head.retry_after > 0ms);
  // Alone, it may be as large as it likes.
  it.room["a"] = 0;
  CATCH_CHECK(it.send("a", 5000));
}

CATCH_TEST_CASE("one connection has a part of what may wait",
                "[transport][outbox]") {
  scene it;
  it.room = {{"a", 0}, {"b", 0}};
  CATCH_CHECK(it.send("a", 100));
  CATCH_CHECK_FALSE(it.send("a", 700));
  CATCH_CHECK(it.send("b", 700));
}

CATCH_TEST_CASE("what libzmq holds counts", "[transport][outbox]") {
  scene it;
  it.room = {{"a", 9}, {"b", 9}};
  CATCH_CHECK(it.send("a", 10));
  // As if it had been a large frame, which is not copied.
  const auto held = it.flow;
  *held->port_bytes += 2900;
  held->bytes += 2900;
  CATCH_CHECK(it.box.bytes() == 2900);
  CATCH_CHECK_FALSE(it.send("b", 10));
  *held->port_bytes -= 2900;
  held->bytes -= 2900;
  CATCH_CHECK(it.send("b", 10));
}

CATCH_TEST_CASE("small answers that nobody takes do not pile up",
                "[transport][outbox]") {
  scene it;
  it.room = {{"a", 0}};
  for (int i = 0; i < 1000; ++i)
    it.send("a", 0);
  CATCH_CHECK(it.box.bytes() <= 4 * cost_of(it.reply(0)) + 4 * 200);
  CATCH_CHECK(it.box.stalled(it.now) == std::vector<std::string>{"a"});
}

CATCH_TEST_CASE("whoever takes nothing is named", "[transport][outbox]") {
  scene it;
  it.room = {{"a", 0}, {"b", 1}};
  it.send("a", 10);
  it.send("a", 10);
  it.send("b", 10); // Taken, but libzmq holds it still.
  const auto held = it.flow;
  held->held = 2;
  CATCH_CHECK(it.box.next_tick() <= it.now);
  CATCH_CHECK(it.box.stalled(it.now).empty());
  it.now += 20s;
  it.room["a"] = 1;
  it.box.flush(it.now);
  it.now += 15s;
  CATCH_CHECK(it.box.stalled(it.now) == std::vector<std::string>{"b"});
  held->held = 1;
  held->freed = 1; // It moves after all.
  CATCH_CHECK(it.box.stalled(it.now).empty());
  it.now += 15s;
  CATCH_CHECK(it.box.stalled(it.now) == std::vector<std::string>{"a"});
  it.box.forget("a");
  CATCH_CHECK_FALSE(it.box.waits());
  CATCH_CHECK(it.box.bytes() == 0);
  held->held = 0;
  CATCH_CHECK(it.box.stalled(it.now + 1h).empty());
  CATCH_CHECK(it.box.next_tick() == session_time::max());
}

CATCH_TEST_CASE("what waits for a connection that is gone is dropped",
                "[transport][outbox]") {
  scene it;
  it.room = {{"a", 0}};
  it.send("a", 10);
  it.room.erase("a");
  it.box.flush(it.now);
  CATCH_CHECK(it.box.bytes() == 0);
  CATCH_CHECK(it.send("a", 10)); // For nobody.
  CATCH_CHECK_FALSE(it.box.waits());
}
