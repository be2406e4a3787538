#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_header.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_roles.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"

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

  /// Of an edge list; no columns if the file is empty. Fails if neither the
  /// options say nor its first rows tell whether it has a header.
  /// @param is_node Whether an id is in the node tables of its ends; empty:
  /// they have none.
  result<csv_layout> edge_columns(const csv_table& table,
                                  const node_test& is_node = {});

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
    bool if_there = false;
    std::string task{};  ///< Empty: not named.
    std::string where{}; ///< As in `csv_choice`.
  };
  struct seen_column {
    std::string name;
    bool edges; ///< Of an edge list, not of a node table.
  };

  result<column_roles> apply(const csv_table& table, const csv_reader& rows,
                             csv_layout& layout, bool edges);
  /// Fails if an append has a column that no table of its import had.
  result<void> expect_known(const column_roles& roles, const csv_layout& layout,
                            const csv_reader& rows) const;
  /// Gives tasks the column of a choice.
  result<void> set_task_columns(const choice& choice, std::size_t column,
                                const csv_reader& rows,
                                csv_layout& layout) const;
  result<bool> edge_header(const csv_table& table, const csv_reader& rows,
                           const std::vector<std::vector<std::string>>& first,
                           const node_test& is_node) const;
  /// Fails if a further file of an edge list whose first one was guessed to
  /// have no header may have one.
  result<void>
  expect_no_header(const csv_table& table,
                   const std::vector<std::vector<std::string>>& first,
                   const node_test& is_node) const;
  header_hints hints_of(const csv_table& table, const node_test& is_node) const;
  /// Fails if nothing tells that the first row of a node table is a header: its
  /// ids were chosen by number, not by a name in it.
  result<void> expect_header(const csv_table& table, const csv_reader& rows,
                             const csv_layout& layout,
                             const column_roles& roles) const;
  /// What the user has said, or what stands for it.
  static std::string text_of(const choice& choice);
  /// Names, not numbers, that choices give to columns of an edge list.
  std::vector<std::string> names_chosen_for(const csv_table& table) const;
  static bool ignores_others(const choice& choice);
  /// Leaves out columns without a role, if the user says so.
  void ignore_others(column_roles& roles, const csv_table& table) const;
  void remember(const csv_layout& layout, bool edges);
  /// Whether an edge list, or else a node table, has such a column.
  bool has_seen(const std::string& column, bool edges) const;
  /// "; --ignore X names none of its columns" of each choice that no table has
  /// had a column for, this one neither; empty if there is none.
  std::string choices_missed(const csv_layout& layout, bool edges) const;
  std::optional<bool> said_header(const csv_table& table) const;
  /// "; did you mean ..." of a column that no table has, or which ones there
  /// are.
  std::string columns_meant(const std::string& column) const;

  const csv_import_options& options_;
  std::vector<choice> choices_;
  std::vector<bool> used_;           ///< [choices]
  std::vector<seen_column> seen_{};  ///< Of all tables so far.
  std::vector<std::string> empty_{}; ///< Edge lists without a row.
};

} // namespace graphmill
