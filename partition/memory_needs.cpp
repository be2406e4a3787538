#include "partition/memory_needs.hpp"

#include "partition/partitioners/report.hpp"

#include <fmt/format.h>

namespace graphmill {

std::optional<std::string> memory_shortage(std::string_view work,
                                           std::uint64_t bytes,
                                           const memory_room& room) {
  if (bytes <= room.bytes)
    return std::nullopt;
  return fmt::format("{} needs about {} of memory, and {} leaves {}", work,
                     size_text(bytes), room.bound, size_text(room.bytes));
}

} // namespace graphmill
