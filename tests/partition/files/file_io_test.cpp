#include "partition/dataset/shard.hpp"
#include "partition/disk/direct_file.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/mapped_file.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

fs::path pipe_at(const fs::path& path) {
  CATCH_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  return path;
}

void check_refused(const error& reason, const fs::path& path) {
  CATCH_CHECK(reason.code == ec::invalid_data);
  CATCH_CHECK(reason.message.find(path.string() + " is not a file")
              != std::string::npos);
}

} // namespace

CATCH_TEST_CASE("a pipe in the place of a file is refused, not waited for",
                "[partition][file]") {
  const temp_folder folder;
  const auto pipe = pipe_at(folder / "pipe");
  check_refused(error_of(open_file(pipe, O_RDONLY)), pipe);
  check_refused(error_of(read_text(pipe, 100)), pipe);
  check_refused(error_of(mapped_file::open(pipe)), pipe);
  check_refused(error_of(direct_file::open(pipe)), pipe);
  check_refused(error_of(open_file("/dev/zero", O_RDONLY)), "/dev/zero");
}

CATCH_TEST_CASE("what is opened to be read waits as usual",
                "[partition][file]") {
  const temp_folder folder;
  value_of(write_text(folder / "text", "a"));
  const auto file = value_of(open_file(folder / "text", O_RDONLY));
  CATCH_CHECK((::fcntl(file.get(), F_GETFL) & O_NONBLOCK) == 0);
  value_of(sync_tree(folder / ""));
}

CATCH_TEST_CASE("bytes at an offset are all read, or the file is short",
                "[partition][file]") {
  const temp_folder folder;
  const auto path = folder / "text";
  value_of(write_text(path, "abcdef"));
  const auto file = value_of(open_file(path, O_RDONLY));
  std::string text(3, ' ');
  const auto read = [&](std::uint64_t offset) {
    return read_at(file.get(), std::as_writable_bytes(std::span{text}), offset,
                   path);
  };
  value_of(read(3));
  CATCH_CHECK(text == "def");
  CATCH_CHECK(::lseek(file.get(), 0, SEEK_CUR) == 0);
  const auto failed = error_of(read(4));
  CATCH_CHECK(failed.code == ec::invalid_data);
  CATCH_CHECK(failed.message
              == path.string()
                   + " is too short: 3 bytes are expected from byte 4 on, and "
                     "2 are there");
  const auto closed =
    error_of(read_at(-1, std::as_writable_bytes(std::span{text}), 0, path));
  CATCH_CHECK(closed.message.starts_with("cannot read " + path.string()));
}

CATCH_TEST_CASE("no file of a dataset can be a pipe", "[partition][file]") {
  const temp_folder folder;
  const auto data = folder / "data";
  fs::create_directory(data);
  value_of(write_example(data));
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator{data})
    if (entry.is_regular_file())
      files.push_back(entry.path());
  CATCH_CHECK(files.size() >= 10);
  for (const auto& file : files) {
    CATCH_INFO(file);
    fs::rename(file, folder / "aside");
    pipe_at(file);
    const auto opened = [&]() -> result<void> {
      GRAPHMILL_TRY(const auto graph, partitioned_graph::open(data));
      GRAPHMILL_TRYV(graph.open_shard(0));
      return ok();
    }();
    check_refused(error_of(opened), file);
    fs::remove(file);
    fs::rename(folder / "aside", file);
  }
}

CATCH_TEST_CASE("nothing is written through a link or into a pipe",
                "[partition][file]") {
  const temp_folder folder;
  const auto text = folder / "text";
  value_of(write_text(text, "a"));
  fs::create_symlink(text, folder / "link");
  fs::create_symlink(folder / "nowhere", folder / "loose");
  for (const auto* name : {"link", "loose"})
    for (const auto flags : {O_WRONLY | O_APPEND | O_CREAT, O_RDWR | O_CREAT,
                             O_WRONLY | O_CREAT | O_TRUNC}) {
      CATCH_INFO(name << " " << flags);
      const auto refused = error_of(open_file(folder / name, flags));
      CATCH_CHECK(refused.code == ec::permission);
      CATCH_CHECK(
        refused.message.starts_with((folder / name).string() + " is a link"));
    }
  CATCH_CHECK(error_of(write_text(folder / "link", "b")).code
              == ec::permission);
  CATCH_CHECK(value_of(read_text(folder / "link", 10)) == "a");
  CATCH_CHECK_FALSE(fs::exists(folder / "nowhere"));
  const auto pipe = pipe_at(folder / "pipe");
  check_refused(error_of(open_file(pipe, O_WRONLY)), pipe);
  check_refused(error_of(open_file(pipe, O_RDWR)), pipe);
  value_of(open_file("/dev/null", O_WRONLY));
}

CATCH_TEST_CASE("what is its owner's is not written by a second name",
                "[partition][file]") {
  const temp_folder folder;
  value_of(write_text(folder / "text", "a"));
  fs::create_hard_link(folder / "text", folder / "second");
  const auto refused = error_of(
    open_file(folder / "second", O_WRONLY | O_APPEND, file_access::owner));
  CATCH_CHECK(refused.code == ec::permission);
  CATCH_CHECK(refused.message.find("second name") != std::string::npos);
  value_of(open_file(folder / "second", O_RDONLY, file_access::owner));
  value_of(open_file(folder / "second", O_WRONLY | O_APPEND));
}

CATCH_TEST_CASE("a folder within ours is no link", "[partition][file]") {
  const temp_folder folder;
  fs::create_directory(folder / "theirs");
  fs::create_directory_symlink(folder / "theirs", folder / "link");
  fs::create_directory_symlink(folder / "nowhere", folder / "loose");
  value_of(make_private_folder(folder / "link")); // The user may name it.
  for (const auto* name : {"link", "loose"}) {
    const auto refused = error_of(make_inner_folder(folder / name));
    CATCH_CHECK(refused.code == ec::permission);
    CATCH_CHECK(
      refused.message.starts_with((folder / name).string() + " is a link"));
  }
  CATCH_CHECK_FALSE(fs::exists(folder / "nowhere"));
  value_of(make_inner_folder(folder / "ours"));
  value_of(make_inner_folder(folder / "ours"));
  struct stat about {};
  CATCH_REQUIRE(::stat((folder / "ours").c_str(), &about) == 0);
  CATCH_CHECK((about.st_mode & 077) == 0);
}

CATCH_TEST_CASE("a file of ours is no link, no second name and no pipe",
                "[partition][file]") {
  const temp_folder folder;
  value_of(write_text(folder / "text", "a"));
  const auto refused = [](const fs::path& path) {
    CATCH_CHECK(error_of(open_own_file(path, O_RDONLY)).code == ec::permission);
    CATCH_CHECK(error_of(open_own_file(path, O_RDWR | O_CREAT)).code
                == ec::permission);
  };
  value_of(open_own_file(folder / "text", O_RDWR));
  fs::create_symlink(folder / "text", folder / "link");
  refused(folder / "link");
  fs::create_symlink(folder / "nowhere", folder / "loose");
  refused(folder / "loose");
  CATCH_CHECK_FALSE(fs::exists(folder / "nowhere"));
  fs::create_hard_link(folder / "text", folder / "second");
  refused(folder / "second");
  refused(folder / "text");
  refused(pipe_at(folder / "pipe"));
  fs::create_directory(folder / "folder");
  refused(folder / "folder");
  CATCH_CHECK(error_of(open_own_file(folder / "none", O_RDWR)).code
              != ec::permission);
  const auto made = value_of(open_own_file(folder / "new", O_RDWR | O_CREAT));
  struct stat about {};
  CATCH_REQUIRE(::fstat(made.get(), &about) == 0);
  CATCH_CHECK((about.st_mode & 077) == 0);
  // Only root can give files away.
  if (::chown((folder / "new").c_str(), 65534, 65534) == 0)
    refused(folder / "new");
}
