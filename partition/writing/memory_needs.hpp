#pragma once

#include "partition/files/memory_limit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// Says beforehand what a piece of work needs when that is more than there is.
/// It stops nothing: what becomes of the sentence is up to the caller.
/// @param work The subject of the sentence: "sorting the edges of x".
/// @param bytes What the work needs, mapped files apart.
/// @param room What the process may count on, and what bounds that.
/// @returns a sentence without a full stop; nothing if the work fits.
std::optional<std::string>
memory_shortage(std::string_view work, std::uint64_t bytes,
                const memory_room& room = memory_available());

} // namespace graphmill
