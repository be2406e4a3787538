#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"

#include <filesystem>

namespace graphmill {

/// Whether a folder holds a dataset or a partitioned one.
bool is_dataset(const std::filesystem::path& folder);

/// The folder of the dataset that a definition names.
/// @param data As given to `--data`: the dataset itself, or a folder that has
/// it as `<data>/<name>`. Empty: ./data.
result<std::filesystem::path> find_dataset(const definition& def,
                                           const std::filesystem::path& data);

} // namespace graphmill
