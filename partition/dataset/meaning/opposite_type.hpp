#pragma once

#include "partition/dataset/dataset.hpp"

#include <optional>

namespace graphmill {

/// The edge type whose edges lead the other way round: of `cites` the type
/// `rev_cites`, as importers call it, and of `rev_cites` the type `cites`. Of a
/// type without either, between nodes of one type, it is the type itself. None:
/// a type of two ends has no reverse, or shares it with another one.
std::optional<edge_type_id> opposite_type(const dataset_info& info,
                                          edge_type_id of);

} // namespace graphmill
