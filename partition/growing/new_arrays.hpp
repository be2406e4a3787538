#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/csv/csv.hpp"

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace graphmill {

/// An array with what is new of a type.
struct new_array {
  std::string type; ///< Empty: the only one of its kind.
  std::filesystem::path file;
};

/// What is new of a dataset, as arrays.
struct new_arrays {
  /// [new nodes, features] of a node type. New nodes have no labels and are in
  /// no split.
  std::vector<new_array> nodes;
  /// [2, new edges] Sources and destinations of an edge type, by ids: old ones,
  /// and behind them those of new nodes. The edges of its reverse are made.
  std::vector<new_array> edges;
  /// In which splits edges are rows of tasks. Their labels are not known.
  new_row_splits rows{};
};

/// What to do where arrays cannot say what is new of a dataset: tables can, if
/// it was imported from tables.
std::string instead_of_arrays(const std::filesystem::path& dataset);

/// Writes new nodes and edges as `import_csv_additions` does. Rows of features
/// are scaled as the import did. An array of edges holds their ends alone, so
/// this fails where edges, or rows of their tasks, also have weights or times.
/// It fails for features that were fitted to all nodes, too.
/// @param folders Existing and empty.
/// @param stop Set it to end with code `cancelled`; may be null.
result<void> import_npy_additions(const dataset& before,
                                  const new_arrays& arrays,
                                  const additions_folders& folders,
                                  const progress_callback& on_progress,
                                  const std::atomic<bool>* stop);

} // namespace graphmill
