#pragma once

#include "partition/dataset/shard.hpp"
#include "partition/disk/covering_reads.hpp"
#include "partition/disk/direct_file.hpp"
#include "partition/disk/sieve_cache.hpp"
#include "partition/sampling/gather.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace graphmill {

struct row_job;

/// Where a row goes when a ROW READER has read it.
struct row_target {
  row_job* of = nullptr; ///< The request that wants it.
  float* out = nullptr;
};

/// The feature file of a node type, what is kept of it, and who waits for which
/// of its rows.
struct row_file {
  direct_file file;
  row_layout layout;
  feature_row_copy copy;
  sieve_cache cache;
  /// Of rows that are being read, or will be.
  std::unordered_map<std::int64_t, std::vector<row_target>> awaited;
  std::vector<std::int64_t> fresh; ///< Rows to read, not yet planned.
};

/// Opens the feature files of a part, by node type; nothing for a type without
/// features.
/// @param cache_bytes Dealt out by the bytes of the whole dataset.
result<std::vector<std::optional<row_file>>>
open_row_files(const shard& part, std::uint64_t cache_bytes, bool rounded);

} // namespace graphmill
