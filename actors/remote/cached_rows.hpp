#pragma once

#include "actors/interfaces.hpp"
#include "partition/row_cache.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace graphmill {

/// The job that fills the rows of a cache that `part` owns: to be asked of its
/// FEATURE SERVICE, or of the proxy of that, whose rounding the rows then have.
/// Without items if there are none.
gather_job fill_job(const std::shared_ptr<row_cache>& cache,
                    const partitioned_graph& graph, part_id part);

/// What a cache leaves of a job.
struct cache_misses {
  /// The job's items, but without the rows that were found. Their spans point
  /// into the job and into `ids` and `rows`.
  std::vector<gather_item> items;
  std::vector<std::vector<node_id>> ids;
  std::vector<std::vector<local_id>> rows;
  std::uint64_t hits = 0;  ///< Rows found.
  std::uint64_t bytes = 0; ///< Written.
};

/// Writes the rows that the cache has to where the job wants them.
cache_misses take_from(const row_cache& cache, const gather_job& job);

} // namespace graphmill
