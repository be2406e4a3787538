#pragma once

#include "actors/commands/options/task_flags.hpp"
#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"

#include <filesystem>

namespace graphmill {

/// Reads a columns file, in YAML, and adds what it says to the options of an
/// import: the roles of columns, the features that become of them, and tasks of
/// edges. Fails with all mistakes that can be seen without the tables, each
/// with its line.
/// @param options With all tables.
/// @param tasks Gets what the file says of tasks, as if flags said it.
result<void> read_columns_file(const std::filesystem::path& path,
                               csv_import_options& options, task_flags& tasks);

} // namespace graphmill
