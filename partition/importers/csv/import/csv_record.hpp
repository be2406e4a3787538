#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_graph.hpp"

#include <filesystem>

namespace graphmill {

/// Writes columns.json beside dataset.json: what the columns of all tables
/// were taken for, how features were made, and what they were fitted to. It is
/// what `--like` reads, and no part of the dataset's digest.
result<void> write_csv_record(const csv_graph& graph,
                              const csv_import_options& options,
                              const std::filesystem::path& folder);

/// Writes that record of a dataset which has grown. It says what the first
/// times of a table were.
/// @param options With `after`.
result<void> continue_csv_record(const csv_graph& graph,
                                 const csv_import_options& options,
                                 const std::filesystem::path& folder);

/// Makes options import tables as those of `options.like` were imported: roles
/// of columns, features with their fitted state, classes, relations, and
/// changes of the graph. Roles that the options give already stay. Labels and
/// splits may be missing. With `options.after`, tasks of edges go on, too, with
/// their columns. Fails if that dataset has no such record, if other
/// tables are given than it was made of, or if other changes are asked for.
result<void> adopt_csv_record(csv_import_options& options);

/// Fails if an import has other types than the dataset that it is to be like.
result<void> expect_same_types(const dataset_info& info,
                               const csv_import_options& options);

} // namespace graphmill
