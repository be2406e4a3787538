#include "messages/wire/method.hpp"
#include "tests/actors/transport/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

// What a transport does wrong on purpose costs time, and no answer.

namespace {

/// Two daemons that have met.
struct two_daemons {
  std::unique_ptr<transport> first = start(echo_daemon("first"));
  std::unique_ptr<transport> second = start(echo_daemon("second"));

  two_daemons() { check_data("before"); }

  /// Over the data channel.
  void check_data(const std::string& text) const {
    CATCH_CHECK(text_of(value_of(ask(*first, second->self().address,
                                     method::gather, text_payload(text))))
                == text);
  }
};

/// How many messages have come damaged, once there is one.
std::uint64_t damaged_at(const transport& here) {
  const auto until = std::chrono::steady_clock::now() + 250s;
  while (here.statistics().malformed == 0
         && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  return here.statistics().malformed;
}

} // namespace

CATCH_TEST_CASE("a damaged request ends its connection, and is sent again",
                "[transport][chaos]") {
  const two_daemons both;
  both.first->disturb({link_fault::kind::corrupt, {}, 0ms, 0ms, 1});
  both.check_data("after");
  CATCH_CHECK(damaged_at(*both.second) == 1);
  CATCH_CHECK(both.first->statistics().malformed == 0);
}

CATCH_TEST_CASE("a damaged answer ends its connection, and is asked for again",
                "[transport][chaos]") {
  const two_daemons both;
  both.second->disturb({link_fault::kind::corrupt, {}, 0ms, 0ms, 1});
  both.check_data("after");
  CATCH_CHECK(damaged_at(*both.first) == 1);
}

CATCH_TEST_CASE("what is asked while connections are cut is answered",
                "[transport][chaos]") {
  const two_daemons both;
  for (int i = 0; i < 3; ++i) {
    both.first->disturb({link_fault::kind::cut, both.second->self().address});
    both.check_data("by its caller");
    both.second->disturb({link_fault::kind::cut});
    both.check_data("by both ends");
  }
}

CATCH_TEST_CASE("messages that are late come all the same",
                "[transport][chaos]") {
  const two_daemons both;
  both.first->disturb({link_fault::kind::delay, {}, 20ms, 1min});
  const auto began = std::chrono::steady_clock::now();
  both.check_data("after");
  // What is asked of a transport is taken in turn: it held the question.
  CATCH_CHECK(std::chrono::steady_clock::now() - began >= 20ms);
}
