#include "actors/feed/feed_socket.hpp"

#include "messages/base/arena.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <sys/socket.h>

#include <array>
#include <string_view>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span{text});
}

struct socket_pair {
  std::array<int, 2> ends{};
  socket_pair() {
    CATCH_REQUIRE(
      ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data())
      == 0);
  }
};

} // namespace

CATCH_TEST_CASE("packets arrive whole, with their descriptors",
                "[actors][feed]") {
  const socket_pair pair;
  feed_socket ours{pair.ends[0]};
  feed_socket theirs{pair.ends[1]};
  CATCH_CHECK(!value_of(ours.receive(0ms)));
  const auto memory = value_of(arena::make(1 << 16));
  CATCH_CHECK(value_of(theirs.send(bytes_of_text("first"))));
  CATCH_CHECK(
    value_of(theirs.send(bytes_of_text("second"), memory->descriptor())));
  const auto first = value_of(ours.receive(10s));
  CATCH_REQUIRE(first);
  CATCH_CHECK(first->bytes.size() == 5);
  CATCH_CHECK(first->descriptors.empty());
  const auto second = value_of(ours.receive(10s));
  CATCH_REQUIRE(second);
  CATCH_CHECK(second->bytes.size() == 6);
  CATCH_REQUIRE(second->descriptors.size() == 1);
  CATCH_CHECK(second->descriptors[0].number() != memory->descriptor());
}

CATCH_TEST_CASE("a full socket refuses a packet, and a lost one is an end",
                "[actors][feed]") {
  const socket_pair pair;
  feed_socket ours{pair.ends[0]};
  std::optional<feed_socket> theirs{pair.ends[1]};
  const std::vector<std::byte> packet(1000);
  auto sent = 0;
  while (value_of(ours.send(packet)))
    ++sent;
  CATCH_CHECK(sent > 0);
  CATCH_REQUIRE(value_of(theirs->receive(10s)));
  CATCH_CHECK(value_of(ours.send(packet))); // There is room again.
  theirs.reset();
  CATCH_CHECK(!ours.send(packet));
  const auto end = value_of(ours.receive(10s));
  CATCH_REQUIRE(end);
  CATCH_CHECK(end->bytes.empty());
}
