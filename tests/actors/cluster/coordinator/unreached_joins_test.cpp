#include "actors/cluster/coordinator/members/unreached_joins.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

const unreached_joins::time_point start_of_joins{1h};

/// A daemon that asks to join, and what it is answered.
struct applicant {
  explicit applicant(const std::string& name, std::string home = "10.0.0.1")
    : asked{{name, name + "-1", "tcp://" + name + ":7800"},
            {},
            std::move(home),
            responder{[to = answer](result<payload> data) {
              *to = std::move(data);
            }}} {}

  std::shared_ptr<std::optional<result<payload>>> answer =
    std::make_shared<std::optional<result<payload>>>();
  unreached_joins::join asked;
};

} // namespace

CATCH_TEST_CASE("a join is over when its own incarnation answers there",
                "[cluster]") {
  unreached_joins joins;
  applicant a{"a"};
  CATCH_CHECK(joins.add(a.asked, start_of_joins + 3s));
  CATCH_CHECK(joins.waits_at("tcp://a:7800"));
  CATCH_CHECK(joins.met("tcp://a:7800", "another").empty());
  CATCH_CHECK(joins.met("tcp://b:7800", "a-1").empty());
  CATCH_CHECK_FALSE(joins.is_met(a.asked.identity));
  const auto reached = joins.met("tcp://a:7800", "a-1");
  CATCH_REQUIRE(reached.size() == 1);
  CATCH_CHECK(reached[0].identity.name == "a");
  CATCH_CHECK(joins.is_met(a.asked.identity));
  CATCH_CHECK(joins.size() == 0);
  CATCH_CHECK(joins.overdue(start_of_joins + 1h).empty());
  joins.gone("tcp://a:7800");
  CATCH_CHECK_FALSE(joins.is_met(a.asked.identity));
  CATCH_CHECK_FALSE(*a.answer);
}

CATCH_TEST_CASE("a daemon that nobody reaches is told so in time",
                "[cluster]") {
  unreached_joins joins;
  applicant a{"a"};
  applicant b{"b"};
  CATCH_CHECK(joins.add(a.asked, start_of_joins + 3s));
  CATCH_CHECK(joins.add(b.asked, start_of_joins + 4s));
  CATCH_CHECK(joins.overdue(start_of_joins + 2999ms).empty());
  auto late = joins.overdue(start_of_joins + 3s);
  CATCH_REQUIRE(late.size() == 1);
  CATCH_CHECK(late[0].reason.code == ec::unavailable);
  CATCH_CHECK(late[0].reason.message.find("nobody answers")
              != std::string::npos);
  CATCH_CHECK(late[0].reason.message.find("tcp://a:7800") != std::string::npos);
  joins.met("tcp://b:7800", "another");
  late = joins.overdue(start_of_joins + 4s);
  CATCH_REQUIRE(late.size() == 1);
  CATCH_CHECK(late[0].reason.message.find("another process answers")
              != std::string::npos);
  CATCH_CHECK(joins.size() == 0);
}

CATCH_TEST_CASE("a daemon that asks again has one place", "[cluster]") {
  unreached_joins joins;
  applicant first{"a"};
  applicant second{"a"};
  CATCH_CHECK(joins.add(first.asked, start_of_joins + 3s));
  CATCH_CHECK(joins.add(second.asked, start_of_joins + 4s));
  CATCH_CHECK(joins.size() == 1);
  CATCH_REQUIRE(*first.answer);
  CATCH_CHECK(error_of(**first.answer).code == ec::unavailable);
  CATCH_CHECK_FALSE(*second.answer);
  CATCH_CHECK(joins.overdue(start_of_joins + 3s).empty());
}

CATCH_TEST_CASE("ghosts are few, of one host and of all", "[cluster]") {
  unreached_joins joins;
  std::size_t taken = 0;
  for (int host = 0; host < 10; ++host) {
    std::size_t of_host = 0;
    for (int i = 0; i < 100; ++i) {
      applicant ghost{fmt::format("g{}-{}", host, i), std::to_string(host)};
      if (const auto waits = joins.add(ghost.asked, start_of_joins + 3s))
        ++of_host;
      else
        CATCH_REQUIRE(waits.error().code == ec::unavailable);
    }
    CATCH_CHECK(of_host == (host < 4 ? 16u : 0u));
    taken += of_host;
  }
  CATCH_CHECK(taken == 64);
  CATCH_CHECK(joins.overdue(start_of_joins + 3s).size() == 64);
}
