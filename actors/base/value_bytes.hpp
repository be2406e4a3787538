#pragma once

#include "messages/base/ids.hpp"
#include "messages/wire/data.hpp"
#include "partition/sampling/rows/packed_rows.hpp"

#include <cstdint>

namespace graphmill {

/// Bytes of what one node has of a kind, in memory.
inline std::uint64_t value_bytes(const node_type_info& type, gather_kind kind) {
  switch (kind) {
  case gather_kind::features:
    return row_form::of(type).floats() * sizeof(float);
  case gather_kind::degrees:
  case gather_kind::out_degrees:
    return sizeof(std::int32_t);
  case gather_kind::in_weights:
    return sizeof(float);
  case gather_kind::labels:
    return type.label_bytes();
  case gather_kind::original_ids:
    return sizeof(node_id);
  case gather_kind::edge_features: // Of no node.
  case gather_kind::unset:
    break;
  }
  return 0;
}

/// The same of an edge's features.
inline std::uint64_t value_bytes(const edge_type_info& type) {
  return static_cast<std::uint64_t>(type.feature_width) * sizeof(float);
}

} // namespace graphmill
