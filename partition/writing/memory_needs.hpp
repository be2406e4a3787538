#pragma once

#include "partition/files/memory_limit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// Says beforehand what a piece of work needs when that is more than there is:
/// a sentence without a full stop, nothing if it fits.
/// @param work The subject of the sentence: "sorting the edges of x".
/// @param bytes It needs, mapped files apart.
std::optional<std::string>
memory_shortage(std::string_view work, std::uint64_t bytes,
                const memory_room& room = memory_available());

} // namespace graphmill
