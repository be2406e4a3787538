#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Reads numbers of parts and ranges of them, as in "0,2-4", or "none".
/// @returns them ascending, each once.
result<std::vector<part_id>> parse_parts(std::string_view text);

/// Reads what a daemon is to serve: the same, or "any", for all parts that the
/// dataset has; then nothing is returned.
result<std::optional<std::vector<part_id>>>
parse_served_parts(std::string_view text);

/// The shortest form that `parse_parts` reads.
/// @param parts Ascending.
std::string to_part_text(std::span<const part_id> parts);

/// The parts that daemon `index` of `daemons` serves when `parts` are dealt out
/// in turn. With more daemons than parts, the others serve one part again.
std::vector<part_id> deal_parts(part_id parts, std::uint32_t index,
                                std::uint32_t daemons);

} // namespace graphmill
