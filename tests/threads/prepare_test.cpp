#include "partition/prepare.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temp_folder.hpp"

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("of many threads one prepares, the others use the result",
                "[threads][prepare]") {
  test::temp_folder folder;
  const auto target = folder / "made";
  std::atomic<int> built{0};
  std::atomic<int> told{0};
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      const auto mine = prepare_folder(
        target, [&built](const std::filesystem::path& aside) -> result<void> {
          ++built;
          std::ofstream{aside / "content"} << "whole";
          return ok();
        });
      failed += !mine;
      told += mine && mine.value();
    });
  for (auto& thread : threads)
    thread.join();
  CATCH_CHECK(failed == 0);
  CATCH_CHECK(built == 1);
  CATCH_CHECK(told == 1);
  CATCH_CHECK(std::filesystem::exists(target / "content"));
}
