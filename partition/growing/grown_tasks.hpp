#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/growing/grown_arrays.hpp"
#include "partition/writing/task_lists.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace graphmill {

/// Rows that were held out and became training rows.
struct rolled_rows {
  std::int64_t moved = 0;
  std::int64_t left_out = 0; ///< They have no label, and are rows no more.
};

/// The tasks of edges of a dataset that grows: the rows that were there, behind
/// them those of new edges, and where their edges lie. No old row changes its
/// split, unless all of them become training rows. Refers to what it is made
/// of.
///
/// `order_of` is called once for each leveled type, and then `write`. Memory:
/// 24 bytes for each edge of a leveled type, 56 for each row, and as many again
/// for each new row while `repeated_rows` counts.
class grown_tasks {
public:
  /// @param edges The new edges alone. Its tasks are those of `before`, by
  /// name, with its own edge types.
  /// @param info Of the new dataset, with its nodes; outlives this. Gets the
  /// numbers of rows.
  /// @param rolls Whether the old rows of validation and test become training
  /// rows. Those without a label are rows no more, as edges in no split.
  /// Fails if a row of `before` names what is not there, or new rows cannot
  /// stand beside the old ones of their split, or those that become training
  /// rows beside the old training rows.
  static result<grown_tasks> open(const dataset& before, const dataset& edges,
                                  dataset_info& info, bool rolls = false);

  /// How many rows of a task became training rows.
  rolled_rows rolled(std::size_t task) const { return tasks_[task].rolled; }

  /// How many new rows of a task have the edge type, source and destination of
  /// an old one, in any split.
  std::int64_t repeated_rows(std::size_t task) const;

  /// Whether all rows and edges of leveled types stay as they are.
  bool stay() const { return stay_; }

  /// The order of old and new edges of a leveled type. An edge has the level
  /// that it had, or a higher one: it may be the reverse of a row of the other
  /// side. It stands before those that had the level, and of one time.
  result<grown_order> order_of(edge_type_id type);

  /// Writes all files of all tasks.
  /// @param folder Has the new lists of all edge types.
  result<void> write(const std::filesystem::path& folder) const;

private:
  /// A row, and the array that has it.
  struct grown_row {
    task_edge edge; ///< `given` is its place among the old or new edges.
    bool newer = false;
    std::size_t from = 0;     ///< In its array.
    split was = split::train; ///< Of an old row: the split of its array.
  };
  struct grown_task {
    task_arrays before;
    const task_arrays* more = nullptr; ///< Null: nothing is new.
    std::array<std::vector<grown_row>, 3> rows;
    rolled_rows rolled{};
  };
  /// New places of edges.
  struct moved_edges {
    std::vector<edge_id> before;
    std::vector<edge_id> more;
  };

  grown_tasks(const dataset& before, const dataset& edges, dataset_info& info,
              bool rolls)
    : before_(before), edges_(edges), info_(info), rolls_(rolls) {}

  result<void> add_task(std::size_t task);
  result<void> add_split(std::size_t task, split which,
                         const edge_task_info* more);
  result<std::vector<grown_row>> older_rows(std::size_t task, split which);
  result<std::vector<grown_row>> rolled_forward(std::size_t task);
  result<void> settle_negatives(std::size_t task);
  result<std::vector<grown_row>>
  rows_of(const task_split_arrays& arrays, bool newer,
          const std::vector<std::int32_t>& places) const;
  result<bool> has_source_times(edge_type_id type) const;
  result<bool> reverses_by_time(edge_type_id type) const;
  result<void> write_split(const std::filesystem::path& folder,
                           std::size_t task, split which) const;
  result<void> take_files(const std::filesystem::path& folder) const;

  const dataset& before_;
  const dataset& edges_;
  dataset_info& info_;
  bool rolls_;
  bool stay_ = true;
  std::vector<grown_task> tasks_;
  std::map<edge_type_id, moved_edges> moved_;
};

} // namespace graphmill
