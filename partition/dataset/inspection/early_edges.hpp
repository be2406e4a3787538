#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// Edges of a type that are before the time of one of their nodes, so that
/// sampling by time finds nodes that do not exist yet. If edges have the times
/// of their sources, the count is 0.
result<std::int64_t> count_early_edges(const dataset& data, edge_type_id type);

/// A sentence for each edge type that has some.
result<std::vector<std::string>> notes_on_early_edges(const dataset& data);

} // namespace graphmill
