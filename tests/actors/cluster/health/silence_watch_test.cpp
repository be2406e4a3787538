#include "actors/cluster/health/silence_watch.hpp"

#include "tests/support/catch.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("that a daemon is silent is told once, and that it is heard "
                "again",
                "[cluster][health]") {
  using namespace std::chrono_literals;
  const silence_watch::clock::time_point began{1000s};
  silence_watch watch;
  CATCH_CHECK_FALSE(watch.change({}, began));
  auto told = watch.change({"c"}, began + 6s);
  CATCH_REQUIRE(told);
  CATCH_CHECK(told->who == "c");
  CATCH_CHECK(told->text == "nothing is heard of \"c\" any more");
  CATCH_CHECK_FALSE(watch.change({"c"}, began + 60s));
  told = watch.change({}, began + 61s);
  CATCH_REQUIRE(told);
  CATCH_CHECK(told->who == "c");
  CATCH_CHECK(told->text == "\"c\" is heard again");
  CATCH_CHECK_FALSE(watch.change({}, began + 100s));
}

CATCH_TEST_CASE("silences that come and go are told of once in ten seconds",
                "[cluster][health]") {
  using namespace std::chrono_literals;
  const silence_watch::clock::time_point began{1000s};
  silence_watch watch;
  int told = 0;
  for (int second = 0; second < 100; ++second)
    told += watch
              .change(second % 2 == 0 ? std::vector<std::string>{"a"}
                                      : std::vector<std::string>{"b"},
                      began + second * 1s)
              .has_value();
  CATCH_CHECK(told <= 10);
  CATCH_CHECK(told >= 5);
  const auto many = watch.change({"a", "b", "c", "d", "e"}, began + 200s);
  CATCH_REQUIRE(many);
  CATCH_CHECK(many->who.empty());
  CATCH_CHECK_THAT(many->text, contains("\"a\", \"b\", \"c\" and 2 more"));
}

} // namespace graphmill::test
