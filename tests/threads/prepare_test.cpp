#include "partition/writing/prepare.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <atomic>
#include <chrono>
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
        target, [&built](const std::filesystem::path& aside) -> result<bool> {
          ++built;
          std::ofstream{aside / "content"} << "whole";
          return true;
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

CATCH_TEST_CASE("who takes over from an abandoned preparation is left alone",
                "[threads][prepare]") {
  namespace fs = std::filesystem;
  test::temp_folder folder;
  const auto target = folder / "made";
  const auto exists_soon = [](const fs::path& path) {
    for (int i = 0; i < 3000 && !fs::exists(path); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    return fs::exists(path);
  };
  // Waits for the lock, then builds until told that the first one is over.
  const auto next = test::start_child([&] {
    if (!exists_soon(folder / "begun"))
      return 2;
    const auto mine =
      prepare_folder(target, [&](const fs::path& at) -> result<bool> {
        std::ofstream{at / "content"} << "whole";
        std::ofstream{folder / "taken-over"} << "x";
        if (!exists_soon(folder / "over") || fs::exists(at / "late"))
          return fail(ec::internal, "disturbed");
        return true;
      });
    return mine && mine.value() ? 0 : 1;
  });
  folder_preparation first{target};
  std::thread watcher;
  const auto failed =
    test::error_of(first.run([&](const fs::path& at) -> result<bool> {
      std::ofstream{at / "some"} << "x";
      std::ofstream{folder / "begun"} << "x";
      watcher = std::thread{[&first, &folder] {
        const auto removed = first.abandon();
        if (removed && removed.value())
          std::ofstream{folder / "removed"} << "x";
      }};
      CATCH_CHECK(exists_soon(folder / "taken-over"));
      // What this one still writes reaches nobody.
      fs::create_directories(at);
      std::ofstream{at / "late"} << "x";
      fs::remove_all(at);
      return true;
    }));
  watcher.join();
  CATCH_CHECK_FALSE(failed.message.empty());
  CATCH_CHECK(fs::exists(folder / "removed"));
  CATCH_CHECK(fs::exists(folder / ".made.lock"));
  std::ofstream{folder / "over"} << "x";
  CATCH_CHECK(test::wait_for(next) == 0);
  CATCH_CHECK(fs::exists(target / "content"));
  CATCH_CHECK_FALSE(fs::exists(folder / ".made.lock"));
}
