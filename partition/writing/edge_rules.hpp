#pragma once

#include <cstdint>

namespace graphmill {

/// What becomes of edges of one type with the same ends.
enum class duplicate_edges : std::uint8_t {
  keep,
  drop,  ///< The first one stays.
  match, ///< Likewise; it is an error if another one has another weight.
  sum    ///< The first one stays, with the sum of all weights.
};

/// What a writer makes of the edges of one type that it is given.
struct edge_rules {
  /// Append each edge the other way round, too. Both ends must be of one type.
  bool both_ways = false;
  bool drop_self_loops = false; ///< Only where both ends are of one type.
  /// With `both_ways` and unless all are kept, a pair of nodes has one edge
  /// each way, however often it was given, either way. Edges without weights
  /// have none that could differ, and `sum` is not for them. Of edges with
  /// times of their own none may be lost: the writer fails then.
  duplicate_edges duplicates = duplicate_edges::keep;
};

/// What a writer has not taken of the edges of one type.
struct dropped_edges {
  std::int64_t self_loops = 0;
  /// With `both_ways`, counted in each direction; whether or not their weights
  /// were added to that of the first.
  std::int64_t duplicates = 0;
};

} // namespace graphmill
