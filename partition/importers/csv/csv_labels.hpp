#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_rows.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"
#include "partition/importers/csv/text/id_map.hpp"
#include "partition/importers/incoming_labels.hpp"
#include "partition/importers/no_label_values.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// The split that a field names, if it names one. Fails on what is none.
result<std::optional<split>> parse_csv_split(const csv_reader& rows,
                                             std::string_view text);

/// Whether a field of a mask marks its node. Fails on what says neither.
result<bool> parse_csv_mask(const csv_reader& rows, std::string_view text);

/// Numbers classes: the distinct texts in order, numerically if all of them
/// are integers. Empty texts, and -1 among integers, mean no label.
/// @param texts Of nodes, with or without repetitions.
/// @returns The names of the classes; `labels` gets one number per text.
std::vector<std::string> number_classes(std::span<const std::string> texts,
                                        std::vector<std::int64_t>& labels);

/// Classes that a dataset has, by node type and label set, or by task of edges.
class known_classes {
public:
  /// Knows none.
  known_classes() = default;
  /// @param folder Of the dataset.
  static result<known_classes> of(const std::filesystem::path& folder);

  /// Null if the dataset has no such classes.
  /// @param set Empty: the type's own labels.
  const std::vector<std::string>* find(const std::string& type,
                                       const std::string& set) const;

  /// Those of a task of edges.
  const std::vector<std::string>* find_task(const std::string& task) const;

private:
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> all_;
  std::map<std::string, std::vector<std::string>> tasks_;
};

/// The label sets of a table of the dataset `options.after` that had a column
/// of this role there. Empty without such a dataset.
/// @param role `label_set` or `split_set`.
std::vector<std::string> earlier_sets(const csv_import_options& options,
                                      csv_role role, const std::string& type);

/// Appends a number to be learnt to the bytes of all of them.
void append_value(std::vector<std::uint8_t>& values, float value);

/// Labels of a table's nodes: none at all without a column. Value type.
struct csv_labels {
  /// [nodes] Classes; of numbers, 0 where one is known, else -1.
  std::vector<std::int64_t> labels;
  std::vector<std::string> names; ///< Of classes.
  /// [nodes] Bytes of float32, if labels are numbers to be learnt; else empty.
  std::vector<std::uint8_t> values;
  unlabelled_nodes unlabelled; ///< By labels that are not empty.
};

/// Collects the labels in a column, row by row.
class label_texts {
public:
  /// @param none Labels that stand for none.
  /// @param known The classes that there are; null: those that are found. They
  /// outlive this.
  /// @param of What they are of, for errors.
  label_texts(no_label_values none, const std::vector<std::string>* known,
              std::string of);

  /// Fails on a label that is none of the known classes.
  result<void> add(const csv_reader& rows, std::string_view field);

  /// Fails where `add` does, and keeps nothing.
  result<void> check(const csv_reader& rows, std::string_view field) const;

  csv_labels finish();

private:
  bool is_none(std::string_view text) const;
  std::string unknown_text(std::string_view text) const;

  no_label_values none_;
  const std::vector<std::string>* known_;
  std::string of_;
  std::map<std::string_view, std::int64_t> numbers_; ///< Of known classes.
  id_map texts_;
  std::vector<bool> unknown_;    ///< [texts_] If classes are known.
  std::vector<node_id> text_of_; ///< [nodes] In `texts_`.
};

/// Collects the labels in a column that are numbers to be learnt, row by row.
class label_numbers {
public:
  /// @param option Which says that they are numbers, for errors.
  /// @param none Labels that stand for none.
  /// @param decimal_comma Whether one stands before a fraction.
  label_numbers(std::string option, no_label_values none, bool decimal_comma)
    : option_(std::move(option)), none_(std::move(none)),
      decimal_comma_(decimal_comma) {}

  /// A number, or what says that there is none.
  struct number {
    float value = 0;                   ///< No number: none is known.
    const std::string* none = nullptr; ///< The label for none that it is.
  };

  /// Fails on what is neither a finite number nor stands for none: nothing,
  /// "nan", and what the user says.
  result<number> read(const csv_reader& rows, std::string_view field) const;

  void keep(const number& read);

  result<void> add(const csv_reader& rows, std::string_view field) {
    GRAPHMILL_TRY(const auto one, read(rows, field));
    keep(one);
    return ok();
  }

  csv_labels finish() { return std::move(read_); }

private:
  /// The label for none that a field is; null: it is none of them.
  /// @param field Without blanks around it. @param value The number in it.
  const std::string* none_in(std::string_view field,
                             std::optional<float> value) const;

  std::string option_;
  no_label_values none_;
  bool decimal_comma_;
  csv_labels read_;
};

/// Collects the columns of one label set, row by row.
class csv_set_reader {
public:
  /// @param options Say which sets have numbers to be learnt, and how these are
  /// written.
  /// @param none Labels that stand for none.
  /// @param known Outlives this.
  /// @param type Of the nodes.
  csv_set_reader(csv_set_columns columns, const csv_import_options& options,
                 no_label_values none, const known_classes& known,
                 const std::string& type)
    : columns_(std::move(columns)), none_(std::move(none)),
      labels_(none_, known.find(type, columns_.name),
              "label set \"" + columns_.name + "\" of " + type),
      may_be_empty_(!options.after.empty()),
      had_labels_(
        std::ranges::count(earlier_sets(options, csv_role::label_set, type),
                           columns_.name)
        > 0) {
    if (std::ranges::count(options.regression_sets, columns_.name) > 0)
      numbers_.emplace("--regression-set " + columns_.name, none_,
                       options.decimal_commas);
  }

  /// Rejects the row if a cell is wrong.
  /// @param node The number of the row's node.
  result<void> add(csv_rows& rows, node_id node);

  /// @param own The labels of the type, for a set that is a split alone. Fails
  /// if the set had labels of its own before, and now has a split alone.
  result<incoming_labels> finish(const csv_labels& own, const csv_reader& rows);

private:
  csv_set_columns columns_;
  no_label_values none_;
  label_texts labels_;
  std::optional<label_numbers> numbers_; ///< In the place of `labels_`.
  bool may_be_empty_;                    ///< Of rows that are added to others.
  bool had_labels_;                      ///< Of its own, in those others.
  split_ids splits_;
};

} // namespace graphmill
