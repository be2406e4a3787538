#pragma once

#include "messages/base/ids.hpp"

#include <cstdint>

namespace graphmill {

/// The edges by source, so that backward sums the row of a source by one
/// thread, too. Borrows the arrays.
struct transposed_edges {
  const std::int64_t* indptr = nullptr; ///< [sources + 1]
  const local_id* columns = nullptr;    ///< [edges] Destinations.
  /// [edges] Where the edge stands among the columns by destination.
  const std::int64_t* positions = nullptr;
};

} // namespace graphmill
