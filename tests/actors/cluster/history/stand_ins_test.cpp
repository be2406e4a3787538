#include "actors/cluster/history/stand_ins.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <csignal>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using names_told = std::vector<std::string>;

std::size_t files_of_stand_ins(const temp_folder& runs) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator{runs / stand_in_sign::folder_name})
    ++count;
  return count;
}

} // namespace

CATCH_TEST_CASE("who stands by is listed as long as it does", "[stand_ins]") {
  temp_folder runs;
  CATCH_CHECK(stand_ins_at(runs.path()).empty());
  CATCH_CHECK(stand_ins_at(runs / "none").empty());
  std::optional first{value_of(stand_in_sign::put_up(runs.path(), "b"))};
  auto second = value_of(stand_in_sign::put_up(runs.path(), "a"));
  CATCH_CHECK(stand_ins_at(runs.path()) == names_told{"a", "b"});
  first.reset();
  CATCH_CHECK(stand_ins_at(runs.path()) == names_told{"a"});
  const auto moved = std::move(second);
  CATCH_CHECK(stand_ins_at(runs.path()) == names_told{"a"});
  CATCH_CHECK(files_of_stand_ins(runs) == 1);
}

CATCH_TEST_CASE("who was killed while it stood by is forgotten",
                "[stand_ins]") {
  temp_folder runs;
  CATCH_REQUIRE(code_of_child([&runs] {
                  const auto sign =
                    value_of(stand_in_sign::put_up(runs.path(), "b"));
                  ::kill(::getpid(), SIGKILL);
                  return 0;
                })
                == -SIGKILL);
  CATCH_CHECK(files_of_stand_ins(runs) == 1);
  CATCH_CHECK(stand_ins_at(runs.path()).empty());
  CATCH_CHECK(files_of_stand_ins(runs) == 0);
}

CATCH_TEST_CASE("the name of a stand-in is text of one line", "[stand_ins]") {
  temp_folder runs;
  const auto sign =
    value_of(stand_in_sign::put_up(runs.path(), "x\n" + std::string(500, 'y')));
  const auto names = stand_ins_at(runs.path());
  CATCH_REQUIRE(names.size() == 1);
  CATCH_CHECK(names[0].starts_with("x\\ny"));
  CATCH_CHECK(names[0].size() <= 129); // The line break takes two.
}

CATCH_TEST_CASE("what is no sign of a stand-in is left alone", "[stand_ins]") {
  temp_folder runs;
  const auto folder = runs / stand_in_sign::folder_name;
  std::filesystem::create_directories(folder / "folder");
  std::filesystem::create_symlink(runs / "secret", folder / "link");
  std::ofstream{runs / "secret"} << "mine";
  CATCH_CHECK(stand_ins_at(runs.path()).empty());
  CATCH_CHECK(std::filesystem::exists(runs / "secret"));
  CATCH_CHECK(files_of_stand_ins(runs) == 2);
}
