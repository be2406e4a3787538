#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_layout.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace graphmill {

/// A row of an edge list. The texts are valid while it is visited.
struct csv_edge {
  std::int64_t line = 0;
  std::string_view source;
  std::string_view destination;
  std::string_view relation; ///< Empty without such a column.
  std::string_view weight;   ///< Likewise.
};

using edge_visitor = std::function<result<void>(const csv_edge&)>;

/// Reads the edges of a file in order, without its header if it has one. Stops
/// at the first error of `visit`.
/// @param on_note Is told how many lines were comments.
result<void> for_each_csv_edge(const csv_table& table, const csv_layout& layout,
                               char separator, const edge_visitor& visit,
                               const note_callback& on_note = {});

} // namespace graphmill
