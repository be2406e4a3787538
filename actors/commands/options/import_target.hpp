#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/graph_changes.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace graphmill {

/// Where an import goes and how it is reported: the flags of all kinds.
struct import_target {
  std::filesystem::path folder;
  std::string name; ///< Of the dataset; if empty, that of the folder.
  bool json = false;
  bool quiet = false;
  bool replace = false; ///< A dataset that is there, once the new one is whole.
  /// All options that decide what is made, as `options_text` gives them: kept
  /// in the dataset's import.json.
  std::string options;
};

/// The name that the dataset is to have.
std::string dataset_name(const import_target& target);

/// Makes a dataset in an existing, empty folder, and tells what it took for
/// what.
using importer = std::function<result<dataset_info>(
  const std::filesystem::path&, const progress_callback&,
  const note_callback&)>;

/// Lists the files that an import reads.
using source_lister =
  std::function<result<std::vector<std::filesystem::path>>()>;

/// Prepares the folder by `import` unless it holds a dataset already that is
/// not to be replaced, and prints notes and a summary on standard output. A
/// folder with anything else in it, a dataset that was made with other options
/// or of sources that changed since, and one that cannot be read, are errors
/// and stay as they are.
/// @returns Exit code 0.
result<int> run_import(const import_target& target, const importer& import,
                       const source_lister& sources);

} // namespace graphmill
