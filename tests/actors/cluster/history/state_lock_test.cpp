#include "actors/cluster/history/state_lock.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <sys/stat.h>

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
  CATCH_CHECK(has(lost.message, "another coordinator leads"));
}

CATCH_TEST_CASE("who has lost the lock does not end the cluster of another one",
                "[state_lock]") {
  temp_folder folder;
  const auto file = folder / state_lock::file_name;
  const auto old = value_of(state_lock::take(folder.path()));
  // As a file server lets it, the next one has signed the same file.
  const auto before = content_of(file);
  const std::string others = R"({"token": "of another one"})";
  std::ofstream{file, std::ios::trunc} << others;
  CATCH_CHECK(error_of(old.mark_ended()).code == ec::superseded);
  CATCH_CHECK(content_of(file) == others);
  std::ofstream{file, std::ios::trunc} << before;
  CATCH_CHECK(old.mark_ended());
  CATCH_CHECK(has(content_of(file), R"("ended":true)"));
}

CATCH_TEST_CASE("a copy of the lock's file is no lock", "[state_lock]") {
  temp_folder folder;
  const auto file = folder / state_lock::file_name;
  const auto old = value_of(state_lock::take(folder.path()));
  const auto aside = folder / "aside";
  std::filesystem::copy_file(file, aside);
  std::filesystem::rename(aside, file); // The same words, another file.
  CATCH_CHECK(error_of(old.check()).code == ec::superseded);
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

namespace {

/// Of a lock that nobody may take, whichever way.
error no_lock(const std::filesystem::path& folder) {
  auto out = error_of(state_lock::take(folder));
  CATCH_CHECK(error_of(state_lock::try_take(folder)).message == out.message);
  return out;
}

} // namespace

CATCH_TEST_CASE("nothing is written to what lies in the place of the lock",
                "[state_lock]") {
  temp_folder folder;
  const auto runs = folder / "runs";
  const auto victim = folder / "victim";
  const auto lock = runs / state_lock::file_name;
  std::filesystem::create_directory(runs);
  std::filesystem::permissions(runs, std::filesystem::perms::owner_all);
  std::ofstream{victim} << "precious";
  std::string what;
  CATCH_SECTION("a link to a file") {
    std::filesystem::create_symlink(victim, lock);
    what = "a link";
  }
  CATCH_SECTION("a link to nothing") {
    std::filesystem::create_symlink(folder / "made", lock);
    what = "a link";
  }
  CATCH_SECTION("a second name") {
    std::filesystem::create_hard_link(victim, lock);
    what = "a file with a second name elsewhere";
  }
  CATCH_SECTION("a pipe") {
    CATCH_REQUIRE(::mkfifo(lock.c_str(), 0600) == 0);
    what = "a pipe, device or socket";
  }
  CATCH_SECTION("a folder") {
    std::filesystem::create_directory(lock);
    what = "a folder";
  }
  const auto refused = no_lock(runs);
  CATCH_CHECK(refused.code == ec::permission);
  CATCH_CHECK(has(refused.message, lock.string() + " is " + what));
  CATCH_CHECK(content_of(victim) == "precious");
  CATCH_CHECK_FALSE(std::filesystem::exists(folder / "made"));
  // When it is gone, all is well.
  std::filesystem::remove(lock);
  CATCH_CHECK(value_of(state_lock::take(runs)).check());
  CATCH_CHECK(content_of(victim) == "precious");
}

CATCH_TEST_CASE("a folder that every user may write to has no lock",
                "[state_lock]") {
  temp_folder folder;
  for (const auto mode : {0777, 01777, 0703}) {
    CATCH_REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
    const auto refused = no_lock(folder.path());
    CATCH_CHECK(refused.code == ec::permission);
    CATCH_CHECK(has(refused.message, "chmod 700"));
    CATCH_CHECK(std::filesystem::is_empty(folder.path()));
  }
  // Read by all, or shared with a group, it was on purpose.
  for (const auto mode : {0755, 0775, 0700}) {
    CATCH_REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
    CATCH_CHECK(value_of(state_lock::take(folder.path())).check());
  }
}

CATCH_TEST_CASE("a folder of another user has no lock", "[state_lock]") {
  temp_folder folder;
  // Only root can give folders away.
  if (::chown(folder.path().c_str(), 65534, 65534) != 0)
    return;
  CATCH_REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  const auto refused = no_lock(folder.path());
  CATCH_CHECK(refused.code == ec::permission);
  CATCH_CHECK(has(refused.message, folder.path().string()
                                     + " belongs to the user with the number "
                                       "65534"));
  CATCH_CHECK(std::filesystem::is_empty(folder.path()));
}

CATCH_TEST_CASE("what a lock says of its holder is one line, whatever it says",
                "[state_lock]") {
  temp_folder folder;
  const auto note = [&folder](const std::string& text) {
    std::ofstream{folder / state_lock::file_name} << text;
    return state_lock::holder(folder.path());
  };
  CATCH_CHECK(note(R"({"process": 12, "host": "a"})")
              == "process 12 on host a");
  CATCH_CHECK(note(R"({"process": -5, "host": "a\nforged \u001b[2J"})")
              == "process -5 on host a\\nforged \\u001b[2J");
  CATCH_CHECK(note(R"({"process": "x", "host": ["y"]})")
              == "process 0 on host ");
  CATCH_CHECK(note(R"({"host": ")" + std::string(3000, 'a') + R"("})")
              == "process 0 on host " + std::string(252, 'a') + "...");
  const std::string nobody = "an unknown process";
  CATCH_CHECK(note(R"({"host": ")" + std::string(5000, 'a') + R"("})")
              == nobody);
  CATCH_CHECK(note("[1]") == nobody);
  CATCH_CHECK(note("") == nobody);
}

CATCH_TEST_CASE("a folder that cannot be written has no lock", "[state_lock]") {
  temp_folder folder;
  std::ofstream{folder / "file"} << "x";
  CATCH_CHECK_FALSE(state_lock::try_take(folder / "file"));
}
