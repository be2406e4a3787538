#include "partition/files/memory_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

/// What the two versions of memory cgroups call things.
struct names {
  const char* limit;
  const char* usage;
  const char* active; ///< In memory.stat.
  const char* inactive;
};
constexpr names version_1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                          "total_active_file", "total_inactive_file"};
constexpr names version_2{"memory.max", "memory.current", "active_file",
                          "inactive_file"};

/// A hierarchy of cgroups that bounds memory, and where this process is in it.
struct hierarchy {
  fs::path folder; ///< Of its root, as far as it can be seen from here.
  fs::path group;  ///< Within that.
  names called;
};

/// The number in a file; none if it is missing or says "max".
std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream in{path};
  std::uint64_t value = 0;
  if (in >> value)
    return value;
  return std::nullopt;
}

/// The number after a word that begins a line; 0 if there is none.
std::uint64_t number_after(const fs::path& path, std::string_view word) {
  std::ifstream in{path};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words{line};
    std::string first;
    std::uint64_t value = 0;
    if (words >> first >> value && first == word)
      return value;
  }
  return 0;
}

bool lists(const std::string& words, std::string_view word) {
  std::istringstream in{words};
  for (std::string listed; std::getline(in, listed, ',');)
    if (listed == word)
      return true;
  return false;
}

/// The group of this process: the line of version 1's memory hierarchy, or of
/// version 2. Lines are "number:controllers:/group".
std::optional<std::string> group_of(const fs::path& proc, bool unified) {
  std::ifstream in{proc / "self/cgroup"};
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    if (unified ? controllers.empty() : lists(controllers, "memory"))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Those that are mounted: "... root mount-point options ... - type source
/// super-options".
std::vector<hierarchy> hierarchies(const fs::path& proc, const fs::path& root) {
  std::vector<hierarchy> out;
  std::ifstream in{proc / "self/mountinfo"};
  for (std::string line; std::getline(in, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos)
      continue;
    std::istringstream front{line.substr(0, dash)};
    std::istringstream back{line.substr(dash + 3)};
    std::string skipped, top, point, type, source, options;
    front >> skipped >> skipped >> skipped >> top >> point;
    back >> type >> source >> options;
    const auto unified = type == "cgroup2";
    if (!unified && (type != "cgroup" || !lists(options, "memory")))
      continue;
    const auto group = group_of(proc, unified);
    if (!group)
      continue;
    // In a container the mount's root may be the container's own group.
    const auto within = top != "/" && group->starts_with(top)
                          ? group->substr(top.size())
                          : *group;
    out.push_back({root / fs::path{point}.relative_path(),
                   fs::path{within}.relative_path(),
                   unified ? version_2 : version_1});
  }
  return out;
}

/// What a group leaves; none if it sets no limit.
std::optional<std::uint64_t> room_in(const fs::path& folder,
                                     const names& called) {
  const auto limit = number_in(folder / called.limit);
  const auto usage = number_in(folder / called.usage);
  // Version 1 says "no limit" by a number near 2^63.
  if (!limit || !usage || *limit >= no_limit / 4)
    return std::nullopt;
  const auto files = number_after(folder / "memory.stat", called.active)
                     + number_after(folder / "memory.stat", called.inactive);
  const auto held = *usage - std::min(*usage, files);
  return *limit - std::min(*limit, held);
}

} // namespace

memory_room memory_available(const fs::path& proc, const fs::path& root) {
  memory_room out{number_after(proc / "meminfo", "MemAvailable:") * 1024,
                  "the system's available memory"};
  if (out.bytes == 0)
    out.bytes = no_limit; // It does not say.
  for (const auto& [folder, group, called] : hierarchies(proc, root))
    for (auto at = group;; at = at.parent_path()) {
      const auto room = room_in(folder / at, called);
      if (room && *room < out.bytes)
        out = {*room,
               fmt::format("the memory cgroup /{}", at.generic_string())};
      if (at.empty() || at == at.parent_path())
        break;
    }
  return out;
}

} // namespace graphmill
