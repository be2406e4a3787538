#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace graphmill {

/// How much memory a process may still take.
struct memory_room {
  std::uint64_t bytes = 0;
  std::string bound; ///< What sets the bound, for people.
};

/// Memory that this process could take now without anything being swapped out
/// or killed: what the system says is available (MemAvailable), and what the
/// limits of its memory cgroups (version 1 or 2) and of those around them leave
/// beside what cannot be dropped. Pages of files count as free: they can be.
/// @param proc, root For tests: where /proc lies, and what its mount points
/// are below.
memory_room memory_available(const std::filesystem::path& proc = "/proc",
                             const std::filesystem::path& root = "/");

} // namespace graphmill
