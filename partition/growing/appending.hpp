#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/growing/grown_dataset.hpp"
#include "partition/growing/new_arrays.hpp"
#include "partition/importers/csv/csv.hpp"

#include <atomic>
#include <filesystem>
#include <variant>

namespace graphmill {

/// What is appended to a dataset: text tables, whose `after` is set here, or
/// arrays.
using additions = std::variant<csv_import_options, new_arrays>;

/// Adds nodes and edges to the dataset in a folder, behind those that it has.
/// It is replaced at once when the new one is complete, so that a crash at any
/// moment leaves one or the other. Readers of the old one keep it. Without a
/// new node or edge, and if no row moves, it stays as it is.
/// @param rolls Whether rows that were held out so far become training rows.
/// @param stop Set it to end with code `cancelled`; may be null.
result<growth_report> append_to_dataset(const std::filesystem::path& folder,
                                        const additions& what,
                                        const progress_callback& on_progress,
                                        const std::atomic<bool>* stop,
                                        bool rolls = false);

} // namespace graphmill
