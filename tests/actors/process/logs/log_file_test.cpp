#include "actors/process/logs/log_file.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

log_file small_log(const std::filesystem::path& path,
                   std::vector<std::string>& told) {
  return log_file{
    {rotated_file{path, 100, {".1"}},
     [](std::size_t lost) { return fmt::format("{} lost\n", lost); },
     [&told](const std::string& text) { told.push_back(text); }, "no more",
     "again"}};
}

} // namespace

CATCH_TEST_CASE("a log that cannot be written is told once, and goes on later",
                "[logs]") {
  const temp_folder folder;
  const auto place = folder / "there";
  std::filesystem::create_directory(place);
  std::vector<std::string> told;
  auto file = small_log(place / "log", told);
  CATCH_CHECK(file.open());
  const auto line = std::string(59, 'x') + "\n";
  file.write(line);
  CATCH_CHECK(told.empty());
  // It is full, and there is no place for another one.
  std::filesystem::remove_all(place);
  file.write(line);
  file.write(line + line);
  CATCH_REQUIRE(told.size() == 1);
  CATCH_CHECK(told[0].ends_with("; no more"));
  std::filesystem::create_directory(place);
  file.write("back\n");
  CATCH_REQUIRE(told.size() == 2);
  CATCH_CHECK(told[1] == "again");
  CATCH_CHECK(value_of(read_text(place / "log", 1000)) == "3 lost\nback\n");
  file.miss(2); // By who writes: nobody needs to be told.
  file.write("on\n");
  CATCH_CHECK(told.size() == 2);
  CATCH_CHECK(value_of(read_text(place / "log", 1000))
              == "3 lost\nback\n2 lost\non\n");
}

CATCH_TEST_CASE("a log is opened where there is no folder", "[logs]") {
  const temp_folder folder;
  std::vector<std::string> told;
  auto file = small_log(folder / "no" / "log", told);
  CATCH_CHECK(error_of(file.open()).message.find("no/log")
              != std::string::npos);
  CATCH_CHECK(told.empty());
}

} // namespace graphmill::test
