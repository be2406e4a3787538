#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace graphmill::test {

/// Puts a file system of `bytes` over `folder`, seen by this process alone and
/// gone with it: for a forked child.
/// @returns false where that is not allowed.
inline bool mount_tiny_disk(const std::filesystem::path& folder,
                            std::size_t bytes) {
  const auto size = "size=" + std::to_string(bytes);
  return ::geteuid() == 0 && ::unshare(CLONE_NEWNS) == 0
         && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
         && ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
}

} // namespace graphmill::test
