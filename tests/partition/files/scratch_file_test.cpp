#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <string>
#include <string_view>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

void put(const scratch_file& file, std::string_view text) {
  value_of(write_all(file.fd(), std::as_bytes(std::span{text}), file.path()));
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
    std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

} // namespace

CATCH_TEST_CASE("a scratch file takes its place when it is whole",
                "[partition][files]") {
  const temp_folder folder;
  const auto target = folder / "a.npy";
  value_of(write_text(target, "old"));
  {
    const auto given_up = value_of(scratch_file::create(target));
    put(given_up, "half");
    CATCH_CHECK(value_of(read_text(target, 100)) == "old");
    CATCH_CHECK(files_in(folder.path()) == 2);
  }
  CATCH_CHECK(files_in(folder.path()) == 1);
  CATCH_CHECK(value_of(read_text(target, 100)) == "old");
  auto moved = value_of(scratch_file::create(target));
  put(moved, "new");
  auto kept = std::move(moved);
  value_of(kept.commit());
  CATCH_CHECK(value_of(read_text(target, 100)) == "new");
  CATCH_CHECK(files_in(folder.path()) == 1);
}

CATCH_TEST_CASE("a place that cannot be written is known at once",
                "[partition][files]") {
  const temp_folder folder;
  const auto missing = error_of(scratch_file::create(folder / "none" / "a"));
  CATCH_CHECK(missing.code == ec::not_found);
  CATCH_CHECK(missing.message.find((folder / "none" / "a").string())
              != std::string::npos);
  const auto taken = error_of(scratch_file::create(folder.path()));
  CATCH_CHECK(taken.message.find("is a folder") != std::string::npos);
}
