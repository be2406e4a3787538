#pragma once

#include "actors/commands/top/top_model.hpp"
#include "actors/commands/top/top_writer.hpp"

#include <cstddef>

namespace graphmill {

/// Writes the log that the user follows up to a row of the screen: the latest
/// lines for which there is room, the last of them at the bottom.
void write_log(top_writer& out, const top_data& data, const top_view& view,
               std::size_t end);

} // namespace graphmill
