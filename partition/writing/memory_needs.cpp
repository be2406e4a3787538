#include "partition/writing/memory_needs.hpp"

#include "messages/words/byte_text.hpp"

#include <fmt/format.h>

namespace graphmill {

std::optional<std::string> memory_shortage(std::string_view work,
                                           std::uint64_t bytes,
                                           const memory_room& room) {
  if (bytes <= room.bytes)
    return std::nullopt;
  return fmt::format("{} needs about {} of memory, and {} leaves {}", work,
                     byte_text(bytes), room.bound, byte_text(room.bytes));
}

} // namespace graphmill
