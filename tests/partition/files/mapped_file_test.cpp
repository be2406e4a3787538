#include "partition/files/file_io.hpp"
#include "partition/files/mapped_file.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr std::size_t large = 64 * 4096 + 100;

void fill(const std::filesystem::path& path, std::size_t size) {
  std::ofstream{path} << std::string(size, 'x');
}

/// Reads pages while the handler of another thread's bus error replaces them.
/// For the thread sanitizer that is a race; it is what is promised to work.
__attribute__((no_sanitize("thread"))) std::size_t
count_x(const mapped_file& file) {
  std::size_t n = 0;
  for (auto byte : file.bytes())
    n += byte == std::byte{'x'} ? 1 : 0;
  return n;
}

/// What is promised of a file that shrinks while threads read it. 0 = kept.
int read_while_truncated(const std::filesystem::path& path) {
  auto file = mapped_file::open(path);
  auto other = mapped_file::open(path);
  if (!file || !other || count_x(file.value()) != large)
    return 1;
  if (mapped_file::first_fault())
    return 2;
  std::filesystem::resize_file(path, 2 * 4096);
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] { (void)count_x(file.value()); });
  for (auto& reader : readers)
    reader.join();
  if (count_x(file.value()) != 2 * 4096)
    return 3;
  auto broken = mapped_file::first_fault();
  if (!broken || broken->message.find(path.string()) == std::string::npos)
    return 4;
  // The second mapping has faults of its own. They go when both have gone.
  if (count_x(other.value()) != 2 * 4096)
    return 5;
  file = mapped_file{};
  if (!mapped_file::first_fault())
    return 6;
  other = mapped_file{};
  if (mapped_file::first_fault())
    return 7;
  // Restored, the file can be used again.
  fill(path, large);
  auto restored = mapped_file::open(path);
  return restored && count_x(restored.value()) == large
             && !mapped_file::first_fault()
           ? 0
           : 8;
}

/// A SIGBUS that is not about a mapping of ours ends the process as ever.
int read_foreign_mapping(const std::filesystem::path& path) {
  auto ours = mapped_file::open(path);
  const auto fd = ::open(path.c_str(), O_RDONLY);
  const auto* data = static_cast<const volatile char*>(
    ::mmap(nullptr, large, PROT_READ, MAP_SHARED, fd, 0));
  std::filesystem::resize_file(path, 0);
  return data[4096];
}

} // namespace

CATCH_TEST_CASE("a file is mapped as it is", "[partition][mapped_file]") {
  temp_folder folder;
  fill(folder / "a", 10000);
  auto file = value_of(mapped_file::open(folder / "a"));
  file.advise_sequential();
  CATCH_CHECK(file.bytes().size() == 10000);
  CATCH_CHECK(count_x(file) == 10000);
  auto moved = std::move(file);
  CATCH_CHECK(file.bytes().empty());
  CATCH_CHECK(count_x(moved) == 10000);
  moved = value_of(mapped_file::open(folder / "a"));
  CATCH_CHECK(count_x(moved) == 10000);
  CATCH_CHECK_FALSE(mapped_file::first_fault().has_value());
}

CATCH_TEST_CASE("an open file is mapped whatever its name leads to by now",
                "[partition][mapped_file]") {
  temp_folder folder;
  fill(folder / "a", 10000);
  auto opened = value_of(open_file(folder / "a", O_RDONLY));
  fill(folder / "b", 10);
  std::filesystem::rename(folder / "b", folder / "a");
  const auto file = value_of(mapped_file::of(opened.get(), folder / "a"));
  opened.reset();
  CATCH_CHECK(count_x(file) == 10000);
  const auto none = error_of(mapped_file::of(opened.get(), folder / "a"));
  CATCH_CHECK(none.message.find((folder / "a").string()) != std::string::npos);
}

CATCH_TEST_CASE("an empty file maps to nothing", "[partition][mapped_file]") {
  temp_folder folder;
  fill(folder / "empty", 0);
  const auto file = value_of(mapped_file::open(folder / "empty"));
  CATCH_CHECK(file.bytes().empty());
}

CATCH_TEST_CASE("what cannot be mapped is an error",
                "[partition][mapped_file]") {
  temp_folder folder;
  const auto missing = error_of(mapped_file::open(folder / "missing"));
  CATCH_CHECK(missing.code == ec::not_found);
  CATCH_CHECK(missing.message.find("missing") != std::string::npos);
  CATCH_CHECK(error_of(mapped_file::open(folder.path())).code
              == ec::invalid_data);
}

CATCH_TEST_CASE("a file truncated in use reads as zeros and is named",
                "[partition][mapped_file]") {
  temp_folder folder;
  fill(folder / "shrinks", large);
  CATCH_CHECK(
    code_of_child([&] { return read_while_truncated(folder / "shrinks"); })
    == 0);
}

CATCH_TEST_CASE("a bus error elsewhere still ends the process",
                "[partition][mapped_file]") {
  temp_folder folder;
  fill(folder / "shrinks", large);
  // Catch2's own handlers of signals would report it as a failure of a test.
  CATCH_CHECK(code_of_child([&] {
                std::signal(SIGBUS, SIG_DFL);
                return read_foreign_mapping(folder / "shrinks");
              })
              == -SIGBUS);
}
