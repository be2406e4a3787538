#pragma once

#include "partition/sampling/sampling.hpp"

namespace graphmill {

/// `sample_neighbours` for a part that is left on disk, with the same answers
/// and errors. Pages of neighbour lists are asked for before they are read, so
/// that many reads are under way at a time; faults alone would bring one page
/// after the other. Thread-safe; the calling thread waits for the disk.
result<void> sample_from_disk(const shard& part,
                              const neighbour_request& request,
                              neighbour_reply& out);

} // namespace graphmill
