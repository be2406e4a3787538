#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What is wrong with an edge list whose rows have one field.
inline constexpr const char* one_csv_field =
  "one field; a source and a destination expected; name an unusual separator "
  "with --separator";

inline constexpr const char* changed_csv_table =
  "the table changed while it was read: start again when nothing writes to it";

/// The columns of one label set.
struct csv_set_columns {
  std::string name;                 ///< Of the set.
  std::optional<std::size_t> label; ///< Without it: the type's own labels.
  std::optional<std::size_t> split;
};

/// The columns of an edge list that a task has.
struct csv_task_columns {
  std::string name; ///< Of the task.
  std::optional<std::size_t> label;
  std::optional<std::size_t> split;
  std::optional<std::size_t> time;
  std::optional<std::size_t> weight;
  std::optional<std::size_t> negatives;
};

/// What the columns of one table are, by their places from 0.
struct csv_layout {
  bool header = false; ///< Whether the first row is none of the data.
  std::vector<std::string> names; ///< [columns] Empty without a header.
  std::optional<std::size_t> source;
  std::optional<std::size_t> destination;
  std::optional<std::size_t> relation;
  std::optional<std::size_t> weight;
  std::optional<std::size_t> edge_time;
  std::vector<csv_task_columns> tasks; ///< By task; empty in an empty file.
  std::optional<std::size_t> id;
  std::optional<std::size_t> label;
  std::optional<std::size_t> split;
  /// Of training, validation and test: instead of a split.
  std::array<std::optional<std::size_t>, 3> masks{};
  std::optional<std::size_t> time;
  std::optional<std::size_t> node_time;
  std::vector<csv_set_columns> label_sets;
  std::vector<std::size_t> features;
  std::vector<std::size_t> ignored;

  std::size_t count() const { return names.size(); }

  /// The columns of a task.
  csv_task_columns task(std::size_t place) const {
    return place < tasks.size() ? tasks[place] : csv_task_columns{};
  }

  /// Whether a column says in which split a node is.
  bool has_split() const { return split || masks[0] || masks[1] || masks[2]; }
};

/// The column of this name, else of one that differs in capital letters alone,
/// else of this number from 1.
std::optional<std::size_t> find_column(const csv_layout& layout,
                                       const std::string& text);

/// A column for people: its name in quotes, or its number from 1.
std::string column_text(const csv_layout& layout, std::size_t column);

/// [columns] The numbers of all columns.
std::vector<std::size_t> all_columns(const csv_layout& layout);

/// Several columns for people: all of them, or the first.
std::string columns_text(const csv_layout& layout,
                         const std::vector<std::size_t>& columns);

/// One sentence: what of a table was taken for what.
std::string layout_text(const csv_table& table, const csv_layout& layout);

/// Whether a user means this table: by its type, the middle name of that, or
/// the name of its file.
bool names_table(const std::string& name, const csv_table& table);

/// The fields of a row without the spaces around them.
std::vector<std::string> trimmed_fields(const csv_reader& rows);

} // namespace graphmill
