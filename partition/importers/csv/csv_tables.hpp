#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"

#include <string_view>

namespace graphmill {

/// The type of edge lists of which none is said.
inline constexpr std::string_view usual_edge_type = "node__to__node";

/// The options with one table for each type: types that are not said are the
/// usual ones, patterns are replaced by the files that match, in the order of
/// their names, and files of one type are those of one table, in the order in
/// which they were given; comments are as the options say. Fails on a pattern
/// that matches nothing, and on a file that a table has twice.
result<csv_import_options> join_tables(csv_import_options options);

} // namespace graphmill
