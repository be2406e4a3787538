#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/columns/feature_columns.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/row_errors.hpp"
#include "partition/importers/row_norm.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// How the features of a node table or edge list are made. Move-only.
struct csv_features {
  feature_columns columns;
  std::vector<std::size_t> fields; ///< [requests] Columns of the table.
  row_norm norm = row_norm::none;
  /// Of `standardise`, once it is fitted.
  std::optional<column_scale> scale;
  bool fitted = false;  ///< Elsewhere, and kept as it is.
  bool checked = false; ///< All rows were looked at for errors.

  bool needs_fit() const {
    return !fitted && (columns.needs_fit() || norm == row_norm::standardise);
  }
};

/// Whether tables have nodes of a type, or edge lists end at it.
bool is_csv_node_type(const csv_import_options& options, std::string_view name);

/// How the options scale features of a node type or edge list. Of lists only
/// what speaks of them counts, by their type or its middle name, unless a node
/// type is called so.
row_norm csv_norm_of(const csv_table& table, const csv_import_options& options);

/// Finds out how the columns of a table become features: as those of the
/// dataset that it is to be like, as a columns file says, or else each by
/// itself as a number. Fails if a columns file names a column that the table
/// lacks, or leaves one out that it has.
result<csv_features> choose_csv_features(const csv_table& table,
                                         const csv_layout& layout,
                                         const csv_import_options& options);

/// Looks for errors in the fields of features, unless that was done.
result<void> check_csv_features(const csv_table& table,
                                const csv_layout& layout, char separator,
                                csv_features& features, row_errors& errors);

/// Reads a table to fit its features, if they need that, and drops what they
/// were fitted to before. After errors in rows the features are not fitted.
/// @param rows Which rows to fit on; empty: all.
result<void> fit_csv_features(const csv_table& table, const csv_layout& layout,
                              char separator, const std::vector<bool>& rows,
                              csv_features& features, row_errors& errors);

/// Reads a table and gives its features to a writer, a block of rows at a time;
/// after errors in rows it only looks for more. Fails if the table's columns
/// have changed meanwhile.
result<void> copy_csv_features(const csv_table& table, const csv_layout& layout,
                               char separator, csv_features& features,
                               node_type_id id, dataset_writer& writer,
                               row_errors& errors);

} // namespace graphmill
