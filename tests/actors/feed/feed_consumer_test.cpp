#include "actors/feed/feed_consumer.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> received_by(feed_socket& consumer) {
  std::vector<std::string> out;
  while (const auto packet = value_of(consumer.receive(0ms)))
    out.emplace_back(reinterpret_cast<const char*>(packet->bytes.data()),
                     packet->bytes.size());
  return out;
}

} // namespace

CATCH_TEST_CASE("what a consumer had no room for is told later, the failure "
                "last",
                "[actors][feed]") {
  std::array<int, 2> ends{};
  CATCH_REQUIRE(
    ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
  feed_socket ours{ends[0]};
  feed_socket theirs{ends[1]};
  const auto memory = value_of(arena::make(1 << 16));
  feed_consumer consumer{
    ours, *memory,
    std::make_shared<spdlog::logger>(
      "feed", std::make_shared<spdlog::sinks::null_sink_mt>())};
  const std::vector<std::byte> packet(1000, std::byte{'x'});
  auto filled = 0u;
  while (value_of(ours.send(packet)))
    CATCH_REQUIRE(++filled < 1'000'000);
  consumer.waits("an earlier word");
  consumer.report(fail(ec::unavailable, "d1 is lost"));
  consumer.report(fail(ec::internal, "what follows from that"));
  consumer.waits("the last word");
  consumer.judged(verdict{"loop", "your loop is the limit", {}});
  consumer.tell_again(); // There is no room yet.
  CATCH_CHECK(received_by(theirs).size() == filled);
  consumer.tell_again();
  consumer.tell_again();
  const auto told = received_by(theirs);
  CATCH_REQUIRE(told.size() == 3);
  CATCH_CHECK(told[0].find("the last word") != std::string::npos);
  CATCH_CHECK(told[1].find("your loop is the limit") != std::string::npos);
  CATCH_CHECK(told[2].find("d1 is lost") != std::string::npos);
}
