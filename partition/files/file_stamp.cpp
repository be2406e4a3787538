#include "partition/files/file_stamp.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace graphmill {

namespace {

std::int64_t nanoseconds_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

file_stamp stamp_of(const struct stat& about) {
  return {.device = about.st_dev,
          .inode = about.st_ino,
          .size = static_cast<std::uint64_t>(about.st_size),
          .modified = nanoseconds_of(about.st_mtim),
          .changed = nanoseconds_of(about.st_ctim)};
}

result<file_stamp> stamp_file(const std::filesystem::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return fail_errno(errno, "cannot look at {}", path.string());
  return stamp_of(about);
}

} // namespace graphmill
