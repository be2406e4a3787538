#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/writing/kept_edges.hpp"
#include "partition/writing/task_lists.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Rows of training, validation and test, as places in the list of edges that
/// may be rows, in the order of rows.
using task_rows = std::array<std::vector<std::size_t>, 3>;

/// Chooses rows. Is given the edges that were not dropped, type by type in the
/// order in which they were appended. An edge that it leaves out carries
/// messages in all phases.
using task_splitter =
  std::function<result<task_rows>(std::span<const task_edge>)>;

/// A task on its way to a writer: what edges have besides their ends, by the
/// place of their type in the task and by their number in it. Value type.
struct incoming_task {
  task_splitter choose;
  /// Whether the source says splits. Then `choose` is given edges without a
  /// label, too. Those of its test split become rows, for predictions; those of
  /// other splits do not.
  bool says_splits = false;
  /// [types][edges, bytes of a label] As `label_kind` describes. Empty for
  /// links.
  std::vector<std::vector<std::uint8_t>> labels{};
  std::vector<std::vector<double>> times{};  ///< [types][edges] If timed.
  std::vector<std::vector<float>> weights{}; ///< [types][edges] If weighted.
  /// Given negatives of a row, as many for each of a split, or none. Null:
  /// there are none.
  std::function<std::span<const node_id>(split, const task_edge&)> negatives{};
  /// Whether it is an error that no split has a row.
  bool needs_rows = true;
  /// Where only reading edges has told them; else the task has them already.
  std::int64_t class_count = 0;
  std::vector<std::string> class_names{};
};

/// Edges of a task that have no label and are no rows.
struct unlabelled_edges {
  std::array<std::int64_t, 3> of_splits{}; ///< Of splits that a source says.
  std::int64_t others = 0;                 ///< That were not to be chosen.
};

/// Chooses the rows of tasks, decides the levels of edges, and writes the files
/// of tasks. Memory: about 40 bytes for each edge of a leveled type, and 16 for
/// each row. One after the other: `choose`, `levels`, `write`, all for every
/// task. Borrows what it is made with.
class task_writer {
public:
  /// @param placed By edge type; only of leveled types.
  task_writer(const std::filesystem::path& folder, dataset_info& info,
              std::vector<placed_edges>& placed)
    : folder_(folder), info_(info), placed_(placed), rows_(info.tasks.size()) {}

  /// Sets the numbers of rows in `info`. Fails if no split of a task has a row,
  /// unless it needs none, a row is there twice, or there are not as many
  /// labels, times, weights or negatives as edges.
  /// @returns what it left out.
  result<unlabelled_edges> choose(std::size_t task, const incoming_task& from);

  /// The levels of the edges of a type, in the order of lists: the highest of
  /// the splits in which a task has an edge, or an edge of which it is the
  /// reverse; 0 of all others.
  /// @param times [edges] In the order of lists: an edge is the reverse of
  /// those of its time alone. Empty: of all between its nodes.
  result<std::vector<std::uint8_t>>
  levels(edge_type_id type, std::span<const std::int64_t> times) const;

  /// Writes the arrays of a task. @pre lists are arranged, and `placed` says
  /// where edges lie since then.
  result<void> write(std::size_t task, const incoming_task& from) const;

private:
  const edge_task_info& about(std::size_t task) const {
    return info_.tasks[task];
  }
  result<void> write_split(std::size_t task, split which,
                           const incoming_task& from) const;

  const std::filesystem::path& folder_;
  dataset_info& info_;
  std::vector<placed_edges>& placed_;
  std::vector<std::array<std::vector<task_edge>, 3>> rows_; ///< By task.
};

} // namespace graphmill
