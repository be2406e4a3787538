#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"

#include <filesystem>

namespace graphmill {

/// Reads a columns file, in YAML, and adds what it says to the options of an
/// import: the roles of columns, and the features that become of them. Fails
/// with all mistakes that can be seen without the tables, each with its line.
/// @param options With all tables.
result<void> read_columns_file(const std::filesystem::path& path,
                               csv_import_options& options);

} // namespace graphmill
