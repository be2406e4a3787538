#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <filesystem>

namespace graphmill {

/// Whether a folder holds a dataset or a partitioned one, by the file that
/// describes it; nothing in the file is looked at.
bool is_dataset(const std::filesystem::path& folder);

/// The folder of the dataset that a definition names.
/// @param data As given to `--data`: the dataset itself, or a folder that has
/// it as `<data>/<name>`; if empty, the folder ./data. If `data` itself is a
/// dataset, it is taken, whatever its name. Fails with a sentence that names
/// the places that were looked at.
result<std::filesystem::path> find_dataset(const definition& def,
                                           const std::filesystem::path& data);

/// The same of a definition that may give a path, from the working folder,
/// which is taken if `data` is empty.
result<std::filesystem::path> find_dataset(const definition_source& source,
                                           const std::filesystem::path& data);

/// A path says which dataset is meant, whatever that is called: the definition
/// takes over its name. Without a path, or if `data` was given, nothing
/// changes.
/// @param data As given to `--data`.
void take_name_at_path(definition_source& source,
                       const std::filesystem::path& data,
                       const dataset_info& info);

/// The same for a cluster, which has the dataset where it has it: if it lies at
/// the path on this machine, too, the definition takes over its name. Fails if
/// what lies there cannot be read.
result<void> take_name_if_there(definition_source& source);

} // namespace graphmill
