#include "actors/transport/sockets/link_board.hpp"

#include "tests/support/catch.hpp"

#include <string>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

using time_point = link_board::clock::time_point;

peer_event inbound(peer_event::kind change, const std::string& name,
                   const std::string& incarnation,
                   const std::string& reason = {}) {
  return {change,
          {name, incarnation, name.empty() ? "" : "tcp://10.0.0.9:7800"},
          true,
          reason};
}

/// Of the only peer that is told of.
link_standing only(const link_board& board) {
  const auto told = board.read();
  CATCH_REQUIRE(told.size() == 1);
  return told.front();
}

} // namespace

CATCH_TEST_CASE("a board tells how peers that are asked are, and since when",
                "[transport]") {
  const time_point begin{1h};
  link_board board;
  // Nobody knows who is there before it has been met.
  board.asks("tcp://b:1", "", link_state::opening, {}, begin);
  CATCH_CHECK(board.read().empty());
  board.asks("tcp://b:1", "b", link_state::ready, {}, begin + 1s);
  CATCH_CHECK(only(board).state == link_state::ready);
  CATCH_CHECK(only(board).since == begin + 1s);
  board.asks("tcp://b:1", "b", link_state::broken, "cut", begin + 2s);
  board.asks("tcp://b:1", "b", link_state::broken, "refused", begin + 3s);
  CATCH_CHECK(only(board).peer == "b");
  CATCH_CHECK(only(board).since == begin + 2s);
  CATCH_CHECK(only(board).why == "refused");
  board.forget("tcp://b:1");
  CATCH_CHECK(board.read().empty());
}

CATCH_TEST_CASE("a board tells of those who only ask", "[transport]") {
  using kind = peer_event::kind;
  const time_point begin{1h};
  link_board board;
  board.asked_by(inbound(kind::up, "", "client"), begin);
  CATCH_CHECK(board.read().empty());
  board.asked_by(inbound(kind::up, "b", "first"), begin);
  CATCH_CHECK(only(board).state == link_state::ready);
  // It was started again, and then the end of its connection is seen.
  board.asked_by(inbound(kind::up, "b", "second"), begin + 1s);
  board.asked_by(inbound(kind::lost, "b", "first", "broke"), begin + 2s);
  CATCH_CHECK(only(board).state == link_state::ready);
  // How it is asked from here goes before that, unless nobody asks it.
  board.asks("tcp://b:1", "b", link_state::closed, {}, begin + 3s);
  CATCH_CHECK(only(board).state == link_state::ready);
  board.asks("tcp://b:1", "b", link_state::silent, {}, begin + 4s);
  CATCH_CHECK(only(board).state == link_state::silent);
  board.forget("tcp://b:1");
  board.asked_by(inbound(kind::lost, "b", "second", "silent"), begin + 5s);
  CATCH_CHECK(only(board).state == link_state::lost);
  CATCH_CHECK(only(board).why == "silent");
  board.asked_by(inbound(kind::left, "b", "second"), begin + 6s);
  CATCH_CHECK(board.read().empty());
}

CATCH_TEST_CASE("a board has room for so many who only ask", "[transport]") {
  link_board board;
  for (std::size_t i = 0; i < link_board::most_askers + 10; ++i)
    board.asked_by(
      inbound(peer_event::kind::up, "d" + std::to_string(i), "one"), {});
  CATCH_CHECK(board.read().size() == link_board::most_askers);
}
