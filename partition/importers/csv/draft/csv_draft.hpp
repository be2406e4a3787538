#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"

#include <string>

namespace graphmill {

/// Reads tables and drafts a columns file for them: what each column looks
/// like, in YAML, with the reason behind it. The draft is a proposal that
/// somebody reads before it is used.
/// @param options Tables, and what separates fields.
result<std::string> draft_columns_file(const csv_import_options& options);

} // namespace graphmill
