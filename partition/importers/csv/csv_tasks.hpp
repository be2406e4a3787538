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
#include <vector>

namespace graphmill {

/// Whether a list says the split of its edges, by a column or by its files.
bool says_task_split(const csv_import_options& options,
                     const csv_edge_file& file);

/// The split that a list says of an edge, if it says one. Fails on what is none.
result<std::optional<split>> task_split_in(const csv_import_options& options,
                                           const csv_edge_file& file,
                                           const csv_edge& edge,
                                           const csv_rows& rows);

/// Collects what edge lists say of the rows of a task, edge by edge in the
/// order in which edges are given to the writer. Keeps it in memory: up to 30
/// bytes for each edge, and negatives. Refers to what it is made with.
class csv_task_reader {
public:
  /// @param info With the task as its first one.
  csv_task_reader(const csv_import_options& options, const csv_graph& graph,
                  const dataset_info& info);

  /// Fails if columns that the task needs are missing, or there are some that
  /// nothing uses.
  result<void> check_columns() const;

  /// Reads the cells of an edge; what is wrong rejects the row.
  /// @param type The edge type. It may be none of the task.
  /// @returns whether the row is sound.
  result<bool> add(edge_type_id type, const csv_edge_file& file,
                   const csv_edge& edge, csv_rows& rows);

  /// Gives the task to the writer.
  result<void> finish(dataset_writer& writer);

private:
  /// Of the edges of one type.
  struct type_rows {
    std::vector<std::uint8_t> splits; ///< 3: in none.
    std::vector<std::size_t> labels;  ///< Places in `texts_`.
    std::vector<float> values;
    std::vector<double> times;
    std::vector<float> weights;
    std::map<edge_id, std::vector<node_id>> negatives;
  };

  const edge_task_request& request() const { return *options_.changes.task; }
  result<bool> add_cells(const csv_edge_file& file, const csv_edge& edge,
                         csv_rows& rows, type_rows& to);
  result<std::vector<node_id>> negatives_in(const csv_edge_file& file,
                                            const csv_edge& edge,
                                            const csv_rows& rows) const;

  const csv_import_options& options_;
  const csv_graph& graph_;
  const edge_task_info& task_;
  const dataset_info& info_;
  std::vector<type_rows> types_; ///< By place in the task.
  std::size_t labelled_ = 0;     ///< Edges in `texts_`.
  label_texts texts_;
};

} // namespace graphmill
