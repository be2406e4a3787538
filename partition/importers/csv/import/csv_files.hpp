#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"

#include <filesystem>
#include <vector>

namespace graphmill {

/// The files that `import_csv` reads: tables, and what datasets say that the
/// new one is to be like. Fails where `join_tables` does.
result<std::vector<std::filesystem::path>>
csv_files(const csv_import_options& options);

} // namespace graphmill
