#include "messages/base/counter.hpp"

#include "tests/support/catch.hpp"

#include <thread>
#include <vector>

using graphmill::counter;

CATCH_TEST_CASE("a copy of a counter stays what it was", "[messages]") {
  counter sum;
  CATCH_CHECK(sum == 0);
  sum += 40;
  const auto before = sum;
  CATCH_CHECK(sum++ == 40);
  CATCH_CHECK(++sum == 42);
  CATCH_CHECK(before == 40);
  sum = before;
  CATCH_CHECK(sum == 40);
}

CATCH_TEST_CASE("threads lose nothing that they count", "[messages]") {
  counter sum;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&sum] {
      for (int n = 0; n < 10000; ++n)
        ++sum;
    });
  for (auto& thread : threads)
    thread.join();
  CATCH_CHECK(sum == 40000);
}
