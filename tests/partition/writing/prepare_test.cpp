#include "partition/writing/prepare.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

result<bool> build_slowly(const fs::path& folder) {
  fs::create_directory(folder / "inner");
  std::ofstream{folder / "inner" / "a"} << "half";
  std::this_thread::sleep_for(20ms);
  std::ofstream{folder / "inner" / "a"} << "whole";
  return true;
}

std::string content(const fs::path& target) {
  std::string text;
  std::ifstream{target / "inner" / "a"} >> text;
  return text;
}

/// Waits, at most for half a minute, until a file appears.
bool appears(const fs::path& path) {
  for (int i = 0; i < 3000 && !fs::exists(path); ++i)
    std::this_thread::sleep_for(10ms);
  return fs::exists(path);
}

} // namespace

CATCH_TEST_CASE("a folder is prepared once", "[partition][prepare]") {
  temp_folder folder;
  const auto target = folder / "new" / "data/";
  CATCH_CHECK(value_of(prepare_folder(target, build_slowly)));
  CATCH_CHECK_FALSE(value_of(prepare_folder(target, [](const fs::path&) {
    return result<bool>{fail(ec::internal, "built again")};
  })));
  CATCH_CHECK(content(target) == "whole");
  CATCH_CHECK(names_in(folder / "new") == std::vector<std::string>{"data"});
}

CATCH_TEST_CASE("an empty folder is not a prepared one",
                "[partition][prepare]") {
  temp_folder folder;
  fs::create_directory(folder / "data");
  CATCH_CHECK(value_of(prepare_folder(folder / "data", build_slowly)));
  CATCH_CHECK(content(folder / "data") == "whole");
}

CATCH_TEST_CASE("an error of the builder is kept and nothing else",
                "[partition][prepare]") {
  temp_folder folder;
  const auto failed = error_of(
    prepare_folder(folder / "data", [](const fs::path& at) -> result<bool> {
      GRAPHMILL_TRYV(build_slowly(at));
      return fail(ec::no_space, "the disk is full of {}", "cats");
    }));
  CATCH_CHECK(failed.code == ec::no_space);
  CATCH_CHECK(failed.message == "the disk is full of cats");
  CATCH_CHECK(names_in(folder.path()).empty());
  CATCH_CHECK_THROWS(
    prepare_folder(folder / "data", [](const fs::path&) -> result<bool> {
      throw std::bad_alloc{};
    }));
  CATCH_CHECK(names_in(folder.path()).empty());
  CATCH_CHECK(value_of(prepare_folder(folder / "data", build_slowly)));
}

CATCH_TEST_CASE("a stop between building and the last fsync leaves nothing",
                "[partition][prepare]") {
  temp_folder folder;
  std::atomic<bool> stop{true}; // The builder does not look at it.
  const auto ended =
    error_of(prepare_folder(folder / "data", build_slowly, {}, &stop));
  CATCH_CHECK(ended.code == ec::cancelled);
  CATCH_CHECK(names_in(folder.path()).empty());
  stop = false;
  CATCH_CHECK(
    value_of(prepare_folder(folder / "data", build_slowly, {}, &stop)));
  CATCH_CHECK(content(folder / "data") == "whole");
}

CATCH_TEST_CASE("places that cannot be a folder", "[partition][prepare]") {
  temp_folder folder;
  std::ofstream{folder / "file"} << "x";
  for (const auto& target :
       {fs::path{""}, fs::path{"/"}, fs::path{"."}, fs::path{".."},
        folder / "file", folder / "file" / "data"}) {
    CATCH_INFO(target);
    CATCH_CHECK_FALSE(prepare_folder(target, build_slowly).has_value());
  }
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

CATCH_TEST_CASE("among threads one works and the others wait",
                "[partition][prepare]") {
  temp_folder folder;
  std::atomic<int> built = 0;
  std::atomic<int> seen_whole = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      auto mine = prepare_folder(folder / "data", build_slowly);
      built += mine && mine.value() ? 1 : 0;
      seen_whole += content(folder / "data") == "whole" ? 1 : 0;
    });
  for (auto& thread : threads)
    thread.join();
  CATCH_CHECK(built == 1);
  CATCH_CHECK(seen_whole == 8);
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
}

CATCH_TEST_CASE("among threads whose work fails each tries itself",
                "[partition][prepare]") {
  temp_folder folder;
  std::atomic<int> tries = 0;
  std::atomic<int> built = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      auto mine = prepare_folder(folder / "data", [&](const fs::path& at) {
        return ++tries < 4 ? result<bool>{fail(ec::io, "no luck")}
                           : build_slowly(at);
      });
      built += mine && mine.value() ? 1 : 0;
    });
  for (auto& thread : threads)
    thread.join();
  CATCH_CHECK(tries == 4);
  CATCH_CHECK(built == 1);
  CATCH_CHECK(content(folder / "data") == "whole");
}

CATCH_TEST_CASE("among processes one works and the others wait",
                "[partition][prepare]") {
  temp_folder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i)
    children.push_back(start_child([&] {
      auto mine = prepare_folder(folder / "data", build_slowly);
      if (!mine || content(folder / "data") != "whole")
        return 2;
      return mine.value() ? 1 : 0;
    }));
  int built = 0;
  for (auto child : children) {
    const auto status = wait_for(child);
    CATCH_REQUIRE(WIFEXITED(status));
    CATCH_CHECK(WEXITSTATUS(status) <= 1);
    built += WEXITSTATUS(status);
  }
  CATCH_CHECK(built == 1);
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
}

CATCH_TEST_CASE("a killed process leaves nothing that hinders the next",
                "[partition][prepare]") {
  temp_folder folder;
  const auto child = start_child([&] {
    (void)prepare_folder(folder / "data", [&](const fs::path& at) {
      auto begun = build_slowly(at);
      std::ofstream{folder / "begun"} << "x";
      std::this_thread::sleep_for(60s);
      return begun;
    });
    return 0;
  });
  CATCH_REQUIRE(appears(folder / "begun"));
  // Somebody waits for it already.
  std::atomic<bool> waited = false;
  std::thread waiter{[&] {
    auto mine = prepare_folder(
      folder / "data",
      [](const fs::path& at) {
        if (fs::exists(at / "inner"))
          return result<bool>{fail(ec::internal, "leftovers")};
        return build_slowly(at);
      },
      [&](const progress& now) {
        waited = waited || now.phase == "wait for another process";
      });
    if (!mine || !mine.value())
      std::ofstream{folder / "failed"} << "x";
  }};
  for (int i = 0; i < 3000 && !waited; ++i)
    std::this_thread::sleep_for(10ms);
  CATCH_CHECK(waited);
  CATCH_CHECK_FALSE(fs::exists(folder / "data"));
  ::kill(child, SIGKILL);
  CATCH_CHECK(WIFSIGNALED(wait_for(child)));
  waiter.join();
  CATCH_CHECK(content(folder / "data") == "whole");
  CATCH_CHECK(names_in(folder.path())
              == std::vector<std::string>{"begun", "data"});
}

CATCH_TEST_CASE("leftovers of killed processes are removed, and only those",
                "[partition][prepare]") {
  temp_folder folder;
  for (const auto* name :
       {".data.partial-1", ".data.ended-23", ".data.partial-1.partial-4",
        ".data.partial-", ".data.ended-1x", ".datum.partial-1"}) {
    fs::create_directory(folder / name);
    std::ofstream{folder / name / "left"} << "x";
  }
  CATCH_CHECK(value_of(prepare_folder(folder / "data", build_slowly)));
  CATCH_CHECK(names_in(folder.path())
              == std::vector<std::string>{".data.ended-1x", ".data.partial-",
                                          ".data.partial-1.partial-4",
                                          ".datum.partial-1", "data"});
  CATCH_CHECK(names_in(folder / "data") == std::vector<std::string>{"inner"});
}

CATCH_TEST_CASE("what is abandoned before its time is removed",
                "[partition][prepare]") {
  temp_folder folder;
  folder_preparation preparation{folder / "data"};
  CATCH_SECTION("before it began") {
    CATCH_CHECK(value_of(preparation.abandon()));
    const auto failed = error_of(preparation.run(build_slowly));
    CATCH_CHECK(failed.code == ec::cancelled);
  }
  CATCH_SECTION("while it is built") {
    const auto failed = error_of(preparation.run([&](const fs::path& at) {
      auto begun = build_slowly(at);
      CATCH_CHECK(value_of(preparation.abandon()));
      CATCH_CHECK(names_in(folder.path()).empty());
      return begun;
    }));
    CATCH_CHECK_FALSE(failed.message.empty());
  }
  CATCH_CHECK(names_in(folder.path()).empty());
  CATCH_CHECK(value_of(prepare_folder(folder / "data", build_slowly)));
}

CATCH_TEST_CASE("what is complete is not abandoned", "[partition][prepare]") {
  temp_folder folder;
  folder_preparation mine{folder / "data"};
  CATCH_CHECK(value_of(mine.run(build_slowly)));
  CATCH_CHECK_FALSE(value_of(mine.abandon()));
  folder_preparation late{folder / "data"};
  CATCH_CHECK_FALSE(value_of(late.run(build_slowly)));
  CATCH_CHECK_FALSE(value_of(late.abandon()));
  CATCH_CHECK(content(folder / "data") == "whole");
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
}

CATCH_TEST_CASE("a lock file of somebody else is left alone",
                "[partition][prepare]") {
  temp_folder folder;
  folder_preparation preparation{folder / "data"};
  CATCH_CHECK_FALSE(preparation
                      .run([&](const fs::path&) -> result<bool> {
                        fs::remove(folder / ".data.lock");
                        std::ofstream{folder / ".data.lock"} << "x";
                        return fail(ec::io, "no luck");
                      })
                      .has_value());
  CATCH_CHECK(names_in(folder.path())
              == std::vector<std::string>{".data.lock"});
}

CATCH_TEST_CASE("a folder without permission is an error",
                "[partition][prepare]") {
  if (::geteuid() != 0) {
    CATCH_WARN("not root: cannot become another user");
    return;
  }
  temp_folder folder;
  fs::permissions(folder.path(), fs::perms::owner_all);
  const auto code = code_of_child([&] {
    constexpr uid_t nobody = 65534;
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0)
      return 50;
    auto made = prepare_folder(folder / "data", build_slowly);
    return made ? 51 : static_cast<int>(made.error().code);
  });
  CATCH_CHECK(code == static_cast<int>(ec::permission));
  CATCH_CHECK(names_in(folder.path()).empty());
}

namespace {

/// An old folder, and a build of the one that is to take its place.
void put_old(const fs::path& target) {
  fs::create_directories(target / "inner");
  std::ofstream{target / "inner" / "a"} << "old";
  std::ofstream{target / "b"} << "old";
}

folder_preparation replacing(const fs::path& target) {
  return folder_preparation{target, present_folder::replace};
}

} // namespace

CATCH_TEST_CASE("a folder is replaced when the new one is whole",
                "[partition][prepare][replace]") {
  temp_folder folder;
  const auto target = folder / "data";
  CATCH_SECTION("one that is there") {
    put_old(target);
    CATCH_CHECK(value_of(replacing(target).run([&](const fs::path& at) {
      CATCH_CHECK(content(target) == "old");
      return build_slowly(at);
    })));
  }
  CATCH_SECTION("none") {
    CATCH_CHECK(value_of(replacing(target).run(build_slowly)));
  }
  CATCH_CHECK(content(target) == "whole");
  CATCH_CHECK(names_in(target) == std::vector<std::string>{"inner"});
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
}

CATCH_TEST_CASE("a folder that is not replaced stays",
                "[partition][prepare][replace]") {
  temp_folder folder;
  const auto target = folder / "data";
  put_old(target);
  CATCH_SECTION("the new one fails") {
    const auto failed =
      error_of(replacing(target).run([](const fs::path& at) -> result<bool> {
        GRAPHMILL_TRYV(build_slowly(at));
        return fail(ec::io, "no luck");
      }));
    CATCH_CHECK(failed.message == "no luck");
  }
  CATCH_SECTION("the new one is not wanted") {
    const auto propose = [](const fs::path& at) -> result<bool> {
      GRAPHMILL_TRYV(build_slowly(at));
      return false;
    };
    CATCH_CHECK_FALSE(value_of(replacing(target).run(propose)));
  }
  CATCH_SECTION("the new one is abandoned") {
    auto preparation = replacing(target);
    (void)error_of(preparation.run([&](const fs::path& at) {
      auto begun = build_slowly(at);
      CATCH_CHECK(value_of(preparation.abandon()));
      return begun;
    }));
  }
  CATCH_CHECK(content(target) == "old");
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
}

CATCH_TEST_CASE("the folder behind a link is replaced",
                "[partition][prepare][replace]") {
  temp_folder folder;
  put_old(folder / "far" / "data");
  fs::create_symlink("far/data", folder / "link");
  CATCH_CHECK(value_of(replacing(folder / "link").run(build_slowly)));
  CATCH_CHECK(fs::is_symlink(folder / "link"));
  CATCH_CHECK(content(folder / "far" / "data") == "whole");
  CATCH_CHECK(names_in(folder / "far") == std::vector<std::string>{"data"});
}

CATCH_TEST_CASE("a killed replacement leaves the old folder or the new one",
                "[partition][prepare][replace]") {
  temp_folder folder;
  const auto target = folder / "data";
  auto kept = 0;
  auto replaced = 0;
  for (auto wait = 0us; wait < 40ms || kept == 0 || replaced == 0;
       wait += 1ms) {
    fs::remove_all(target);
    put_old(target);
    const auto child = ::fork();
    if (child == 0) {
      (void)replacing(target).run(build_slowly);
      ::_exit(0);
    }
    std::this_thread::sleep_for(wait);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto is_old = fs::exists(target / "b");
    CATCH_REQUIRE(content(target) == (is_old ? "old" : "whole"));
    ++(is_old ? kept : replaced);
  }
  CATCH_CHECK(value_of(replacing(target).run(build_slowly)));
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
}
