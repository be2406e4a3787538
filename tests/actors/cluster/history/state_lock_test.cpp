#include "actors/cluster/history/state_lock.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <csignal>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("one coordinator has a state folder, and says who it is",
                "[state_lock]") {
  temp_folder folder;
  const auto runs = folder / "runs"; // Is made.
  {
    const auto held = value_of(state_lock::take(runs));
    CATCH_CHECK(held.check());
    CATCH_CHECK_FALSE(value_of(state_lock::try_take(runs)));
    const auto refused = error_of(state_lock::take(runs));
    CATCH_CHECK(refused.code == ec::unavailable);
    CATCH_CHECK(has(refused.message, runs.string()));
    CATCH_CHECK(has(refused.message,
                    "process " + std::to_string(::getpid()) + " on host "));
    CATCH_CHECK(held.check());
  }
  const auto next = value_of(state_lock::try_take(runs));
  CATCH_REQUIRE(next);
  CATCH_CHECK(next->check());
}

CATCH_TEST_CASE("a lock goes with its process, however that ends",
                "[state_lock]") {
  temp_folder folder;
  CATCH_REQUIRE(code_of_child([&folder] {
                  const auto held = value_of(state_lock::take(folder.path()));
                  ::kill(::getpid(), SIGKILL);
                  return held.check() ? 0 : 1;
                })
                == -SIGKILL);
  CATCH_CHECK(value_of(state_lock::take(folder.path())).check());
}

CATCH_TEST_CASE("who has lost the lock to another one notices",
                "[state_lock]") {
  temp_folder folder;
  const auto file = folder / state_lock::file_name;
  const auto old = value_of(state_lock::take(folder.path()));
  // A file server that has not heard of the holder: the file is another one.
  std::filesystem::remove(file);
  CATCH_CHECK(old.check()); // It cannot be told.
  std::ofstream{file} << "{";
  CATCH_CHECK(old.check()); // Nor now.
  std::filesystem::remove(file);
  const auto next = value_of(state_lock::take(folder.path()));
  CATCH_CHECK(next.check());
  const auto lost = error_of(old.check());
  CATCH_CHECK(lost.code == ec::superseded);
  CATCH_CHECK(has(lost.message, "led by another coordinator"));
}

CATCH_TEST_CASE("an heir ends with the cluster, and who begins anew does not",
                "[state_lock]") {
  temp_folder folder;
  {
    const auto held = value_of(state_lock::take(folder.path()));
    CATCH_REQUIRE(held.mark_ended());
    CATCH_CHECK(held.check()); // It is its own still.
    CATCH_CHECK_FALSE(value_of(state_lock::try_take(folder.path(), true)));
  }
  for (auto heir = 0; heir < 2; ++heir) { // Each finds the mark.
    const auto ended = error_of(state_lock::try_take(folder.path(), true));
    CATCH_CHECK(ended.code == ec::cancelled);
    CATCH_CHECK(has(ended.message, folder.path().string()));
  }
  CATCH_CHECK(value_of(state_lock::try_take(folder.path())));
  // That one has cleared it, and is missed.
  CATCH_CHECK(value_of(state_lock::try_take(folder.path(), true)));
}

CATCH_TEST_CASE("a folder that cannot be written has no lock", "[state_lock]") {
  temp_folder folder;
  std::ofstream{folder / "file"} << "x";
  CATCH_CHECK_FALSE(state_lock::try_take(folder / "file"));
}
