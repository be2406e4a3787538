#pragma once

#include "partition/sampling/sampling.hpp"

#include <cstdint>

namespace graphmill {

/// Some of the sampled sources of one node: `most` of them, from number `skip`
/// on.
struct source_slice {
  std::int64_t most = 0;
  std::int64_t skip = 0;
};

/// A slice of what `sample_neighbours` answers about a request for a single
/// destination, for lists that are longer than an answer may be. `out.counts`
/// tells how long the whole list is. A slice of all in-edges costs what it
/// copies; one of a list that is drawn costs as much as drawing all of it, and
/// 4 bytes of memory for each draw.
result<void> sample_slice(const shard& graph, const neighbour_request& request,
                          const source_slice& slice, neighbour_reply& out);

} // namespace graphmill
