#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_features.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_nodes.hpp"
#include "partition/importers/csv/row_errors.hpp"
#include "partition/importers/csv/text/id_map.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// One edge list: the edges of one type, or of one for each value of a relation
/// column.
struct csv_edge_file {
  csv_table table;
  csv_layout layout;
  csv_features features; ///< Of all its edge types.
  /// The middle names of its edge types: `type_name_for` each relation.
  std::vector<std::string> names;
  id_map relations; ///< The values of the relation column, in the same order.
  std::size_t source = 0; ///< In the list of node types.
  std::size_t destination = 0;
  /// Of each file of the table, the split that the options say of all its
  /// edges, for tasks.
  std::vector<std::optional<split>> splits_of_files{};
  time_form form_of_times = time_form::none; ///< Known once edges are copied.
};

/// What tables say, but for features and edges.
struct csv_graph {
  std::vector<csv_node_type> nodes;
  std::vector<csv_edge_file> edges;
};

/// Finds out what columns are, reads node tables, and from the edge lists the
/// ids of node types without a table and the values of relations.
/// @param options As `join_tables` gives them.
/// @param errors After them the graph is good for no more than looking for
/// further errors.
result<csv_graph> read_csv_graph(const csv_import_options& options,
                                 row_errors& errors);

} // namespace graphmill
