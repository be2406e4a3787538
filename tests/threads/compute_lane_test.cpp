#include "actors/compute_lane.hpp"
#include "tests/support/catch.hpp"

#include <atomic>
#include <thread>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("jobs from several threads run one at a time",
                "[threads][lane]") {
  constexpr int posters = 4;
  constexpr int each = 500;
  int count = 0; // Not atomic: only the lane's thread touches it.
  {
    compute_lane lane;
    std::vector<std::thread> threads;
    for (int t = 0; t < posters; ++t)
      threads.emplace_back([&lane, &count] {
        for (int i = 0; i < each; ++i)
          lane.post([&count] { ++count; });
      });
    for (auto& thread : threads)
      thread.join();
    // The last job ends the wait; the lane's end joins its thread.
    std::atomic<bool> done{false};
    lane.post([&done] {
      done = true;
      done.notify_one();
    });
    done.wait(false);
  }
  CATCH_CHECK(count == posters * each);
}
