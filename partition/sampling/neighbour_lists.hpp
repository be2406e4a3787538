#pragma once

#include "partition/sampling/sampling.hpp"

#include <cstddef>
#include <cstdint>

// What sampling reads of a shard for each destination, and does not believe. Of
// the files beside it alone.

namespace graphmill {

// Sampling mostly waits for memory: destinations are spread over all of a part,
// so that accesses to `indptr` and to the index array miss the caches. Loops
// therefore ask for the memory of later elements before they work on one.
constexpr std::size_t row_ahead = 16; ///< Lists between prefetch and use.

/// Where the list of a destination lies in the shard's index array.
struct list_place {
  std::int64_t begin = 0;
  std::uint32_t degree = 0;
};

/// A request, and the lists of its destinations.
struct list_task {
  const edge_shard& edges;
  const node_shard& nodes; ///< Of the destination type.
  const neighbour_request& request;
  pod_vector<list_place> places;
};

/// Whether a shard can answer a request.
result<void> check_lists(const shard& graph, const neighbour_request& request);

/// Looks up every list and counts what it gives.
/// @returns the number of sources of all lists.
///
/// The file is not believed: with a list that lies outside of the index array,
/// or is longer than the dataset says any list is, later loops would read
/// elsewhere, and the batch exceed the credit that was reserved for it. Such a
/// list counts as empty and is reported in the end. A file that was truncated
/// while it was mapped reads as zeros, which look like broken lists. That is no
/// error here, for whoever asks looks at `mapped_file::first_fault`, too, and
/// reports it by the file's name.
result<std::int64_t> find_lists(list_task& work, std::int64_t max_degree,
                                pod_vector<std::int32_t>& counts);

/// From places in this shard's index array to places in the original graph's.
/// @param edges Of the original graph: the file is not believed here, either.
result<void> to_original_edges(const list_task& work, std::int64_t edges,
                               neighbour_reply& out);

} // namespace graphmill
