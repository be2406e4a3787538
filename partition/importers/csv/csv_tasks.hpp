#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_edges.hpp"
#include "partition/importers/csv/csv_graph.hpp"
#include "partition/importers/csv/csv_labels.hpp"
#include "partition/importers/csv/csv_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Whether a task has edges of a list, as far as names tell.
bool is_of_task(const edge_task_request& task, const csv_graph& graph,
                const csv_edge_file& file);

/// Whether a list says the split of its edges for a task, by a column or by its
/// files.
/// @param task Its place.
bool says_task_split(const csv_edge_file& file, std::size_t task);

/// The split that a list says of an edge for a task, if it says one. Fails on
/// what is none.
result<std::optional<split>> task_split_in(const csv_edge_file& file,
                                           std::size_t task,
                                           const csv_rows& rows);

/// Collects what edge lists say of the rows of a task, edge by edge in the
/// order in which edges are given to the writer. Keeps it in memory: up to 30
/// bytes for each edge, and negatives. Refers to what it is made with.
class csv_task_reader {
public:
  /// @param info With all tasks of the options, in their order.
  /// @param place That of the task.
  /// @param none Labels that stand for none.
  /// @param known Outlives this.
  csv_task_reader(const csv_import_options& options, const csv_graph& graph,
                  const dataset_info& info, std::size_t place,
                  const no_label_values& none, const known_classes& known);

  /// Fails if columns that the task needs are missing, or there are some that
  /// nothing uses.
  result<void> check_columns() const;

  /// Reads the cells of an edge; what is wrong rejects the row.
  /// @param type The edge type. It may be none of the task.
  /// @returns whether the row is sound.
  result<bool> read(edge_type_id type, const csv_edge_file& file,
                    csv_rows& rows);

  /// Keeps what was read last. Call it if all tasks found the row sound.
  result<void> keep(const csv_reader& rows);

  /// Gives the task to the writer, and notes which labels stand for none.
  /// @returns these.
  result<unlabelled_nodes> finish(dataset_writer& writer);

private:
  /// Of the edges of one type.
  struct type_rows {
    std::vector<std::uint8_t> splits; ///< 3: in none.
    std::vector<std::size_t> labels;  ///< Places in `texts_` or `numbers_`.
    std::vector<double> times;
    std::vector<float> weights;
    std::map<edge_id, std::vector<node_id>> negatives;
  };

  /// What an edge has for the task.
  struct cells {
    type_rows* to = nullptr; ///< Null: it is none of the task's types.
    std::uint8_t split = 3;
    std::string_view label; ///< Of a class.
    label_numbers::number value;
    double time = 0;
    float weight = 1;
    std::vector<node_id> negatives;
  };

  const edge_task_request& request() const {
    return options_.changes.tasks[place_];
  }
  result<void> check_split(bool split_told, bool timed) const;
  result<void> check_new_split(const csv_edge_file& file) const;
  result<bool> read_cells(const csv_edge_file& file, csv_rows& rows);
  result<std::vector<node_id>> negatives_in(const csv_edge_file& file,
                                            std::string_view text,
                                            const csv_rows& rows) const;

  const csv_import_options& options_;
  const csv_graph& graph_;
  std::size_t place_;
  const edge_task_info& task_;
  const dataset_info& info_;
  std::optional<split> new_split_; ///< Of appended edges.
  std::vector<type_rows> types_;   ///< By place in the task.
  cells last_;
  std::size_t labelled_ = 0;              ///< Edges in `texts_` or `numbers_`.
  const std::vector<std::string>* known_; ///< Classes; null: those found.
  label_texts texts_;
  label_numbers numbers_;
};

} // namespace graphmill
