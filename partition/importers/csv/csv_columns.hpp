#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// Finds out what the columns of tables are: first by what the user has chosen,
/// then by usual names. Nothing is left over: a column that nobody knows is an
/// error that names it and says how to choose. Remembers which choices have
/// found a column. Refers to the options; not thread-safe.
class csv_chooser {
public:
  explicit csv_chooser(const csv_import_options& options);

  /// Of an edge list, with a header if its first two rows look like that or the
  /// options say so; no columns if the file is empty.
  result<csv_layout> edge_columns(const csv_table& table);

  /// Of a node table, which has a header unless the options name it as one that
  /// has none.
  result<csv_layout> node_columns(const csv_table& table);

  /// Fails if a choice has found no column in any table.
  result<void> expect_all_used() const;

private:
  struct choice {
    csv_role role;
    std::string table; ///< Empty: of every table that may have such a column.
    std::string column;
  };

  result<std::vector<std::optional<csv_role>>> apply(const csv_table& table,
                                                     const csv_reader& rows,
                                                     const csv_layout& layout,
                                                     bool edges);
  result<bool> edge_header(const csv_table& table, const csv_reader& rows,
                           const std::vector<std::string>& first,
                           const std::vector<std::string>& second) const;
  /// "; --ignore X names none of its columns" of each choice that no table has
  /// had a column for, this one neither; empty if there is none.
  std::string choices_missed(const csv_layout& layout, bool edges) const;
  std::optional<bool> said_header(const csv_table& table) const;
  /// "; did you mean ..." of a column that no table has, or which ones there
  /// are.
  std::string columns_meant(const std::string& column) const;

  const csv_import_options& options_;
  std::vector<choice> choices_;
  std::vector<bool> used_;          ///< [choices]
  std::vector<std::string> seen_{}; ///< Names of columns of all tables so far.
};

} // namespace graphmill
