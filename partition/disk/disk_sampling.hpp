#pragma once

#include "partition/sampling/sampling.hpp"

namespace graphmill {

/// `sample_neighbours` of a part that is left on disk: the same answer. Pages
/// are asked for before they are read, so that many reads are under way at a
/// time.
result<void> sample_from_disk(const shard& part,
                              const neighbour_request& request,
                              neighbour_reply& out);

} // namespace graphmill
