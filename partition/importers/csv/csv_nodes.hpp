#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_features.hpp"
#include "partition/importers/csv/csv_labels.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/row_errors.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"
#include "partition/importers/csv/text/id_map.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// One node type of an import: what its table says, but for the features.
struct csv_node_type {
  std::string name;
  std::optional<csv_table> table;
  id_map ids;
  id_map before; ///< Of nodes of an earlier dataset; `ids` are numbered on.
  bool tabled_before = false;  ///< It has a table there.
  node_id table_rows = 0;      ///< Ids behind them were added by edge lists.
  bool has_known_ends = false; ///< An edge that was read names one of them.
  /// How much the ids took when memory was looked at last.
  std::uint64_t checked_bytes = 0;
  std::vector<std::int64_t> labels; ///< [nodes]; empty without such a column.
  /// [nodes] Bytes of float32, if labels are numbers to be learnt; `labels` say
  /// of which nodes one is known then: 0, else -1.
  std::vector<std::uint8_t> values;
  std::vector<std::string> class_names;
  unlabelled_nodes unlabelled; ///< By labels that are not empty.
  std::array<std::vector<node_id>, 3> splits;
  std::vector<incoming_labels> label_sets;
  /// [nodes] By these a split by time goes: a column of its own, else
  /// `node_times`. Empty without either.
  std::vector<double> times;
  std::vector<std::int64_t> node_times; ///< [nodes] In ticks; may be empty.
  time_form form_of_times = time_form::none; ///< Of `node_times`.
  csv_layout layout;                         ///< Of the table.
  csv_features features;

  /// Whether only a table adds nodes, and edge lists do not.
  bool has_table() const { return table || tabled_before; }
  /// The number of an id, of old or new nodes.
  std::optional<node_id> find(const hashed_id& id) const {
    if (const auto old = before.size() > 0 ? before.find(id) : std::nullopt)
      return old;
    const auto found = ids.find(id);
    return found ? std::optional{before.size() + *found} : std::nullopt;
  }
};

/// Reads the ids that a type has in `options.after`, if there is such a
/// dataset.
result<void> read_earlier_ids(csv_node_type& type,
                              const csv_import_options& options);

/// Reads a table's ids, labels, splits, label sets and times. After rows that
/// are wrong, the ids alone, which is enough to look for further errors; where
/// such rows may be left out, all of the others.
/// @param features Of the table; checked first if rows may be left out.
/// @param known Classes that labels are numbered by, where it has them.
/// @param options Say what separates fields, and which labels are numbers.
result<csv_node_type> read_node_table(const csv_table& table, csv_layout layout,
                                      csv_features features,
                                      const known_classes& known,
                                      const csv_import_options& options,
                                      row_errors& errors);

/// Gives nodes that edge lists have added to a type with a table labels and
/// times that say nothing, and notes how many they are.
void complete_added_nodes(csv_node_type& type, const note_callback& on_note);

/// Whether a text can be an id: it is not empty, and on one line.
bool is_csv_id(std::string_view id);

/// Numbers an id of a type. Fails when the ids have grown until the memory that
/// is left could not hold as much again, and names the place in the table.
/// @param rows Where the id stands.
/// @returns the number of the id among old and new ones, and whether it is new.
result<std::pair<node_id, bool>>
add_csv_id(csv_node_type& type, const hashed_id& id, const csv_reader& rows);

} // namespace graphmill
