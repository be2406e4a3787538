#pragma once

#include "actors/base/interfaces.hpp"
#include "partition/sampling/rows/row_cache.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace graphmill {

/// A job that brings rows of a cache, and what is to be called once it is done.
struct fill_job {
  gather_job job;
  std::function<void()> put;
};

/// The jobs that bring the rows of a cache that `part` owns, for its FEATURE
/// SERVICE or the proxy of that, which rounds the rows or not. To be done one
/// after another, for they share the memory that rows come to.
/// @param most Bytes of rows of one job, as float32, or one row.
std::vector<fill_job> fill_jobs(const std::shared_ptr<row_cache>& cache,
                                const partitioned_graph& graph, part_id part,
                                std::uint64_t most);

/// Out-degrees of some nodes, which their owner is asked for.
struct asked_degrees {
  node_type_id type = 0;
  std::vector<node_id> ids;
  std::vector<std::int32_t> degrees;

  void add_to(node_scores& scores) const;
};

/// The jobs that bring the out-degrees of the nodes that `part` owns, of types
/// with features, a bounded number at a time.
std::vector<std::pair<gather_job, std::shared_ptr<asked_degrees>>>
degree_jobs(const partitioned_graph& graph, part_id part);

/// What a cache leaves of a job.
struct cache_misses {
  /// The job's items, but without the rows that were found. Their spans point
  /// into the job and into `ids` and `rows`.
  std::vector<gather_item> items;
  std::vector<std::vector<node_id>> ids;
  std::vector<std::vector<local_id>> rows;
  std::uint64_t hits = 0;   ///< Rows found.
  std::uint64_t bytes = 0;  ///< Written.
  std::uint64_t spared = 0; ///< The same rows in messages.
};

/// Writes the rows that the cache has to where the job wants them.
/// @param half Rows travel as float16.
cache_misses take_from(const row_cache& cache, const dataset_info& info,
                       const gather_job& job, bool half);

} // namespace graphmill
