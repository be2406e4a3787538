#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"

#include <filesystem>
#include <functional>

namespace graphmill {

/// Where an import goes and how it is reported: the flags of all kinds.
struct import_target {
  std::filesystem::path folder;
  bool json = false;
  bool quiet = false;
};

/// Makes a dataset in an existing, empty folder.
using importer = std::function<result<dataset_info>(
  const std::filesystem::path&, const progress_callback&)>;

/// Prepares the folder by `import` unless it holds a dataset already, and
/// prints a summary on standard output. A folder with anything else in it, and
/// a dataset that cannot be read, are errors and stay as they are.
/// @returns Exit code 0.
result<int> run_import(const import_target& target, const importer& import);

} // namespace graphmill
