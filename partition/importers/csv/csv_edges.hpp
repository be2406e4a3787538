#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace graphmill {

/// Is given the line, the source and the destination of an edge. The texts are
/// valid during the call.
using edge_visitor = std::function<result<void>(
  std::int64_t line, std::string_view source, std::string_view destination)>;

/// Reads the edges of a file in order, without its header if it has one. Stops
/// at the first error of `visit`.
result<void> for_each_csv_edge(const csv_table& table,
                               const csv_import_options& options,
                               const edge_visitor& visit);

} // namespace graphmill
