#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

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

CATCH_TEST_CASE("a scratch file is a new one, whatever lies in its place",
                "[partition][files]") {
  const temp_folder folder;
  const auto victim = folder / "victim";
  value_of(write_text(victim, "precious"));
  const auto target = folder / "a.npy";
  const auto scratch =
    folder / (".a.npy." + std::to_string(::getpid()) + ".tmp");
  CATCH_SECTION("a link to a file") {
    fs::create_symlink(victim, scratch);
  }
  CATCH_SECTION("a link to nothing") {
    fs::create_symlink(folder / "made", scratch);
  }
  CATCH_SECTION("a second name") {
    fs::create_hard_link(victim, scratch);
  }
  CATCH_SECTION("one that was left") {
    value_of(write_text(scratch, "older"));
  }
  auto made = value_of(scratch_file::create(target, file_access::owner));
  put(made, "new");
  value_of(made.commit());
  CATCH_CHECK(value_of(read_text(target, 100)) == "new");
  CATCH_CHECK(fs::is_regular_file(fs::symlink_status(target)));
  CATCH_CHECK(fs::status(target).permissions()
              == (fs::perms::owner_read | fs::perms::owner_write));
  CATCH_CHECK(value_of(read_text(victim, 100)) == "precious");
  CATCH_CHECK_FALSE(fs::exists(folder / "made"));
}

CATCH_TEST_CASE("a link in the place of the target is replaced",
                "[partition][files]") {
  const temp_folder folder;
  const auto victim = folder / "victim";
  value_of(write_text(victim, "precious"));
  fs::create_symlink(victim, folder / "a.npy");
  auto made = value_of(scratch_file::create(folder / "a.npy"));
  put(made, "new");
  value_of(made.commit());
  CATCH_CHECK(fs::is_regular_file(fs::symlink_status(folder / "a.npy")));
  CATCH_CHECK(value_of(read_text(folder / "a.npy", 100)) == "new");
  CATCH_CHECK(value_of(read_text(victim, 100)) == "precious");
}

CATCH_TEST_CASE("scratch files of processes that have gone are removed",
                "[files]") {
  const temp_folder folder;
  const auto gone = start_child([] { return 0; });
  wait_for(gone);
  const auto number = [](pid_t process) { return std::to_string(process); };
  const std::vector<std::string> left{
    ".weights.safetensors." + number(gone) + ".tmp",
    ".summary.json." + number(::getpid()) + ".tmp"};
  const std::vector<std::string> kept{
    ".." + number(gone) + ".tmp",   ".a." + number(gone) + "x.tmp",
    ".a.-" + number(gone) + ".tmp", ".a." + number(::getppid()) + ".tmp",
    ".a.99999999999999999999.tmp",  ".a.tmp",
    "a." + number(gone) + ".tmp",   "weights.safetensors"};
  for (const auto* names : {&left, &kept})
    for (const auto& name : *names)
      std::ofstream{folder / name} << "x";
  const auto link = folder / "link";
  std::filesystem::create_directory_symlink(folder.path(), link);
  remove_left_scratch_files(link);
  CATCH_CHECK(std::filesystem::exists(folder / left[0]));
  remove_left_scratch_files(folder.path());
  for (const auto& name : left)
    CATCH_CHECK_FALSE(std::filesystem::exists(folder / name));
  for (const auto& name : kept)
    CATCH_CHECK(std::filesystem::exists(folder / name));
  remove_left_scratch_files(folder / "missing");
}
