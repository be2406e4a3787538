#include "actors/process/logs/rotated_file.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

namespace fs = std::filesystem;

/// Of 50 bytes, its number at its begin.
std::string line_of_fifty(int number) {
  auto out = std::to_string(number) + " ";
  out.resize(49, 'x');
  return out + "\n";
}

} // namespace

CATCH_TEST_CASE("a file that is full is put aside, and the oldest one goes",
                "[logs]") {
  const temp_folder folder;
  rotated_file file{folder / "log", 100, {".1", ".2"}};
  for (int i = 0; i < 9; ++i)
    CATCH_CHECK(file.append(line_of_fifty(i)));
  CATCH_CHECK(names_in(folder.path())
              == std::vector<std::string>{"log", "log.1", "log.2"});
  CATCH_CHECK(value_of(read_text(folder / "log", 1000)) == line_of_fifty(8));
  CATCH_CHECK(value_of(read_text(folder / "log.1", 1000))
              == line_of_fifty(6) + line_of_fifty(7));
  CATCH_CHECK(value_of(read_text(folder / "log.2", 1000))
              == line_of_fifty(4) + line_of_fifty(5));
  for (const auto* name : {"log", "log.1", "log.2"}) {
    struct stat about {};
    CATCH_REQUIRE(::stat((folder / name).c_str(), &about) == 0);
    CATCH_CHECK((about.st_mode & 0777) == 0600);
  }
}

CATCH_TEST_CASE("a file goes on where the process before has left it",
                "[logs]") {
  const temp_folder folder;
  for (int i = 0; i < 3; ++i) {
    rotated_file file{folder / "log", 100, {".1"}};
    CATCH_CHECK(file.append({}));
    CATCH_CHECK(file.append(line_of_fifty(i)));
  }
  CATCH_CHECK(value_of(read_text(folder / "log", 1000)) == line_of_fifty(2));
  CATCH_CHECK(value_of(read_text(folder / "log.1", 1000))
              == line_of_fifty(0) + line_of_fifty(1));
}

CATCH_TEST_CASE("a file that somebody has taken away is begun anew", "[logs]") {
  const temp_folder folder;
  rotated_file file{folder / "log", 100, {".1", ".2"}};
  for (int i = 0; i < 3; ++i)
    CATCH_CHECK(file.append(line_of_fifty(i)));
  fs::rename(folder / "log", folder / "taken");
  for (int i = 3; i < 5; ++i)
    CATCH_CHECK(file.append(line_of_fifty(i)));
  CATCH_CHECK(value_of(read_text(folder / "taken", 1000))
              == line_of_fifty(2) + line_of_fifty(3));
  CATCH_CHECK(value_of(read_text(folder / "log", 1000)) == line_of_fifty(4));
  CATCH_CHECK(value_of(read_text(folder / "log.2", 1000))
              == line_of_fifty(0) + line_of_fifty(1));
  CATCH_CHECK(names_in(folder.path())
              == std::vector<std::string>{"log", "log.2", "taken"});
}

CATCH_TEST_CASE("a device takes what it can", "[logs]") {
  rotated_file file{"/dev/full", 100, {".1"}};
  value_of(file.append({}));
  for (int i = 0; i < 3; ++i)
    CATCH_CHECK(error_of(file.append(line_of_fifty(i)))
                  .message.find("No space left on device")
                != std::string::npos);
}

CATCH_TEST_CASE("a file that cannot be put aside takes no more until it can",
                "[logs]") {
  const temp_folder folder;
  const auto full = line_of_fifty(0) + line_of_fifty(1);
  rotated_file file{folder / "log", 100, {".1"}};
  CATCH_CHECK(file.append(full));
  fs::create_directory(folder / "log.1");
  for (int i = 0; i < 2; ++i)
    CATCH_CHECK(
      error_of(file.append(line_of_fifty(2))).message.find("cannot rename")
      == 0);
  CATCH_CHECK(value_of(read_text(folder / "log", 1000)) == full);
  fs::remove(folder / "log.1");
  CATCH_CHECK(file.append(line_of_fifty(2)));
  CATCH_CHECK(value_of(read_text(folder / "log", 1000)) == line_of_fifty(2));
  CATCH_CHECK(value_of(read_text(folder / "log.1", 1000)) == full);
}

CATCH_TEST_CASE("a file of one writer is refused to another one", "[logs]") {
  const temp_folder folder;
  const auto of_one = [&folder] {
    return rotated_file{
      folder / "log", 100, {".1"}, rotated_file::writers::one};
  };
  auto file = of_one();
  CATCH_CHECK(file.append(line_of_fifty(0)));
  CATCH_CHECK(error_of(of_one().append({})).code == ec::unavailable);
  for (int i = 1; i < 4; ++i) // It is put aside, and still its own.
    CATCH_CHECK(file.append(line_of_fifty(i)));
  CATCH_CHECK(error_of(of_one().append({})).code == ec::unavailable);
  CATCH_CHECK(value_of(read_text(folder / "log", 1000))
              == line_of_fifty(2) + line_of_fifty(3));
  file = of_one();
  CATCH_CHECK(of_one().append({}));
}

CATCH_TEST_CASE("a rotated file does not go where a link leads", "[logs]") {
  const temp_folder folder;
  value_of(write_text(folder / "victim", "precious"));
  fs::create_symlink(folder / "victim", folder / "log");
  rotated_file file{folder / "log", 100, {".1"}};
  CATCH_CHECK(error_of(file.append("line\n")).code == ec::permission);
  CATCH_CHECK(value_of(read_text(folder / "victim", 100)) == "precious");
  // A link in place of an old one is replaced.
  fs::remove(folder / "log");
  fs::create_symlink(folder / "victim", folder / "log.1");
  CATCH_CHECK(file.append(line_of_fifty(0)));
  CATCH_CHECK(file.append(line_of_fifty(1) + line_of_fifty(2)));
  CATCH_CHECK(value_of(read_text(folder / "victim", 100)) == "precious");
  CATCH_CHECK(value_of(read_text(folder / "log.1", 100)) == line_of_fifty(0));
}

} // namespace graphmill::test
