#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/growing/grown_tasks.hpp"

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace graphmill {

/// What is kept beside a dataset of each time it grew.
struct growth {
  std::string before; ///< The digest that it had.
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  /// Whether the import left edges from a node to itself out: what is appended
  /// later is to do so, too.
  bool drops_self_loops = false;
};

/// What appending has done.
struct growth_report {
  dataset_info before;
  dataset_info now;
  /// Rows that became training rows, by the names of tasks and node types.
  /// Empty unless that was asked for.
  std::map<std::string, rolled_rows> rolled_tasks{};
  std::map<std::string, rolled_rows> rolled_nodes{};
  std::vector<std::string> notes{}; ///< Sentences for the user.
};

/// Each time that the dataset of a folder grew, the first one first. Empty: it
/// never did. Fails with `invalid_data` if the record is damaged.
result<std::vector<growth>> read_growth(const std::filesystem::path& folder);

/// Whether the import of a dataset left edges from a node to itself out, as
/// far as its records say.
result<bool> drops_self_loops(const std::filesystem::path& folder);

/// Fails if a dataset has something that would be lost, or could not be
/// continued: edges that the import joined, and files that nothing here knows.
result<void> expect_growable(const dataset& data);

/// Writes a dataset with new nodes and edges behind those that it has, and its
/// other files as they are, but for import.json: no import makes this dataset.
/// Unchanged arrays are the same files. Its digest is that of an import of all
/// in this order, unless a row of one side has raised the level of an edge of
/// the other: see `grown_tasks`.
/// @param rolls Whether old rows and seeds of validation and test become those
/// of training.
/// @param before As `expect_growable` demands.
/// @param nodes, edges As `import_csv_additions` writes them.
/// @param folder Existing; gets the new dataset.
/// @param stop Set it to end with code `cancelled`; may be null.
result<growth_report>
write_grown_dataset(const dataset& before, const dataset& nodes,
                    const dataset& edges, const std::filesystem::path& folder,
                    const progress_callback& on_progress,
                    const std::atomic<bool>* stop, bool rolls = false);

} // namespace graphmill
