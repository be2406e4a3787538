#pragma once

#include "partition/sampling/sampling.hpp"

#include <cstdint>

namespace graphmill {

/// Some of the sampled sources of one node: at most `most` of them, from number
/// `skip` on. `most` is at least 1, `skip` at least 0; beyond the end of the
/// list there are none, which is no error.
struct source_slice {
  std::int64_t most = 0;
  std::int64_t skip = 0;
};

/// A slice of what `sample_neighbours` answers about a request for a single
/// destination, for lists that are longer than an answer may be. `out.counts`
/// tells how long the whole list is. A slice of all in-edges costs what it
/// copies; one of a list that is drawn costs as much as drawing all of it, and
/// 4 bytes of memory for each draw. Fails as `sample_neighbours` does, and with
/// `invalid_argument` unless there is exactly one destination.
result<void> sample_slice(const shard& graph, const neighbour_request& request,
                          const source_slice& slice, neighbour_reply& out);

} // namespace graphmill
