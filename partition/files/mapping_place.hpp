#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace graphmill {

/// Where in which file lies what is seen in memory.
struct mapping_place {
  std::filesystem::path path;
  std::uint64_t offset = 0; ///< Bytes.
};

/// The file behind an address in a `mapped_file`, which must stay open
/// meanwhile; nothing if it is in none.
std::optional<mapping_place> place_of(const void* address);

} // namespace graphmill
