#pragma once

#include "partition/dataset/shard.hpp"
#include "partition/disk/covering_reads.hpp"
#include "partition/disk/direct_file.hpp"
#include "partition/disk/sieve_cache.hpp"
#include "partition/sampling/rows/gather.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace graphmill {

struct row_job;

/// Where a row goes when a ROW READER has read it. Borrows both.
struct row_target {
  row_job* of = nullptr; ///< The request that wants it.
  float* out = nullptr;
};

/// The feature file of a node type, the cache of its rows, and who waits for
/// which of them. Rows are numbered from 0 within the part. The thread of a ROW
/// READER alone uses it.
struct row_file {
  direct_file file;
  row_layout layout;
  feature_row_copy copy;
  sieve_cache cache;
  /// Who waits for each row that is being read or will be. A row is in here or
  /// in the cache, or in neither, but never in both.
  std::unordered_map<std::int64_t, std::vector<row_target>> awaited;
  std::vector<std::int64_t> fresh; ///< Rows to read, not yet planned.
};

/// Opens the feature files of a part, by node type; there is none for a type
/// without features. Throws std::bad_alloc for the caches.
/// @param cache_bytes Dealt out to the types in proportion to the bytes that
/// their features take in the whole dataset.
/// @param rounded Whether values are rounded to float16.
result<std::vector<std::optional<row_file>>>
open_row_files(const shard& part, std::uint64_t cache_bytes, bool rounded);

} // namespace graphmill
