#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/writing/edge_rules.hpp"
#include "partition/writing/edge_spool.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace graphmill {

/// What a sort has written.
struct csc_summary {
  std::int64_t edges = 0;
  std::int64_t max_in_degree = 0;
};

/// Where a sort reads and writes, and how much memory it may take.
struct csc_job {
  std::filesystem::path folder;    ///< Gets the arrays of an edge type.
  std::int64_t sources = 0;        ///< Nodes of the source type.
  std::int64_t destinations = 0;   ///< Nodes of the destination type.
  dtype index_type = dtype::int64; ///< Of indices.npy: int32 or int64.
  std::uint64_t memory_bytes = 0;  ///< For the sources of edges to be sorted.
  duplicate_edges duplicates = duplicate_edges::keep;
  /// What a node is called in the error about two weights of one pair of nodes,
  /// of `duplicate_edges::match`. Both are of one type then.
  std::function<std::string(std::int64_t)> name_of{};
  progress_callback on_progress;
};

/// Sorts edges by destination and keeps the order of equal ones (a stable
/// counting sort), since positions in a list are what sampling draws. Writes
/// indptr.npy, indices.npy, in_degrees.npy and out_degrees.npy, and of edges
/// with weights weights.npy, but not what these add up to. If the edges do not
/// fit in `memory_bytes`, they are first dealt out to files by ranges of
/// destinations, and each file is sorted on its own. Takes 20 bytes per node
/// besides (36 if not all duplicates are kept, and up to 16 more if weights are
/// compared or added up), and never less memory than for a 256th of the
/// edges, or for more of them where the process may open fewer than 1,024
/// files. Fails with
/// `invalid_data` if a node has more than 2^31 - 1 edges, or weights are as
/// `duplicates` does not want them, and when a file cannot be read or written.
/// @param edges With ids in range; a spool must be flushed. They are gone
/// through twice, and left at their end.
template <class Edge>
result<csc_summary> sort_to_csc(edge_source<Edge>& edges, const csc_job& job);

extern template result<csc_summary>
sort_to_csc(edge_source<spooled_edge<std::int32_t>>&, const csc_job&);
extern template result<csc_summary>
sort_to_csc(edge_source<spooled_edge<std::int64_t>>&, const csc_job&);
extern template result<csc_summary>
sort_to_csc(edge_source<weighted_edge<std::int32_t>>&, const csc_job&);
extern template result<csc_summary>
sort_to_csc(edge_source<weighted_edge<std::int64_t>>&, const csc_job&);

} // namespace graphmill
