#pragma once

#include "messages/error.hpp"
#include "messages/progress.hpp"
#include "partition/dataset.hpp"
#include "partition/importers/row_norm.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// One file and what it holds. Files that end in ".gz" or begin like gzip are
/// unpacked on the way.
struct csv_table {
  std::string type; ///< Node type, or "source__name__destination".
  std::filesystem::path file;
};

struct csv_import_options {
  std::string name; ///< Of the dataset.
  /// Node tables, with a header: `id`, and optionally `label`, `split` (train,
  /// val, test or empty); all other columns are features and must be numbers.
  /// Types without a table have the nodes that edges name, in the order in
  /// which they come, and neither features nor labels.
  std::vector<csv_table> nodes;
  /// Edge lists: source, destination, further columns ignored.
  std::vector<csv_table> edges;
  std::string target;              ///< Empty: the first type with labels.
  std::optional<bool> edge_header; ///< Not set: seen from the first row.
  char separator = '\0';           ///< '\0': comma, tab, ';' or space, as seen.
  bool reverse = false;            ///< Also add the reverse of each edge type.
  row_norm normalise = row_norm::none;
};

/// Imports text tables (RFC 4180: quotes, and line breaks within them). Ids are
/// any text; a node's row is its position in its table. Labels may be any text,
/// too: if all are integers from 0 they are the classes, otherwise classes are
/// numbered in sorted order and keep the text as their name. An empty label
/// means none. Errors say file:line. An edge to an id that its table lacks is
/// an error. Empty `type`s mean the node type "node" and the edge type
/// "node__to__node".
/// @param folder Where to write: usually given by `prepare_folder`.
result<dataset_info> import_csv(const csv_import_options& options,
                                const std::filesystem::path& folder,
                                const progress_callback& on_progress = {});

} // namespace graphmill
