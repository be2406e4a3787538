#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_graph.hpp"
#include "partition/importers/csv/row_errors.hpp"
#include "partition/writing/edge_rules.hpp"

#include <span>
#include <vector>

namespace graphmill {

/// Finds out which rows of an edge list its features are fitted on: those that
/// become edges, and of these the training edges of a task if `options` want
/// that and the source says them. Reads the list. Takes a bit for each row, and
/// 32 bytes where duplicates are dropped. Fails if training edges are wanted
/// that only a split to come chooses. Notes if there are none.
/// @param rules Of the edge types of the list.
/// @returns empty: all rows. After errors in rows it may be anything.
result<std::vector<bool>> fitted_edges(const csv_graph& graph,
                                       csv_edge_file& file,
                                       const csv_import_options& options,
                                       std::span<const edge_rules> rules,
                                       row_errors& errors);

} // namespace graphmill
