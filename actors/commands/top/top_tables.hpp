#pragma once

#include "actors/commands/top/top_model.hpp"
#include "actors/commands/top/top_writer.hpp"

#include <cstddef>

namespace graphmill {

/// Writes the tables of daemons and of actors, up to a row of the screen: as
/// many rows of each as there is room for, the selected one among them.
void write_tables(top_writer& out, const top_data& data, const top_view& view,
                  std::size_t end);

} // namespace graphmill
