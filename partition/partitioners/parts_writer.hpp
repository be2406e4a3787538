#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/proved_arrays.hpp"
#include "partition/partitioners/graph/graph_view.hpp"
#include "partition/partitioners/graph/monitor.hpp"
#include "partition/partitioners/renumbering.hpp"
#include "partition/partitioners/report.hpp"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// What is known of a part once it is written.
struct written_part {
  partition_report::part_row row;
  /// XXH3 with 128 bits over the bytes of the elements of all its arrays, in 32
  /// hexadecimal digits. Per node type, in dataset order: original_ids,
  /// features, labels, train, val, test; then per edge type: indptr, indices,
  /// in_degrees, out_degrees, weights, in_weights, out_weights, original_begin.
  /// Arrays that it lacks count as empty.
  std::string digest;
  block_roots blocks; ///< Of its arrays with a row for each node.
};

/// Parts that are written in one pass over the dataset: as many as a word has
/// bits, for the halo, and each has a file open and a buffer.
inline constexpr part_id parts_per_pass = 64;

/// Writes the folders part-0, part-1, ... (layout: see `partitioned_graph`)
/// below `folder`, some in one pass over the dataset, from front to back,
/// through a buffer of 256 KiB and a block of a file (`npy_writer`: at most 2
/// MiB) per part. Memory: 8 bytes per node besides. A part is a dataset folder,
/// whose `dataset.json` has one more field, "part":
/// {"number": p, "of": parts}, which says that indices are global ids.
/// @param assignment [vertices]
/// @param numbers What `renumber` made of it.
result<std::vector<written_part>>
write_parts(const graph_view& graph, std::span<const part_id> assignment,
            const renumbering& numbers, const std::filesystem::path& folder,
            monitor& watch);

/// Writes seeds/<type>/{train,val,test}.npy: global ids in the original order,
/// for the target type and for every other type with seeds.
/// @returns the digest of each file's elements, by its path within the folder.
result<std::map<std::string, std::string>>
write_seeds(const graph_view& graph, const renumbering& numbers,
            const std::filesystem::path& folder);

/// Writes order/<type>.npy and originals/<type>.npy, which lead from original
/// to global ids and back, as int32 where the ids of the type fit.
/// @returns the digest of each file's elements, by its path within the folder.
result<std::map<std::string, std::string>>
write_orders(const graph_view& graph, const renumbering& numbers,
             const std::filesystem::path& folder);

/// Writes tasks/<task>/...: the rows of tasks in their order, with global ids
/// of nodes and original ids of edges.
/// @returns as `write_seeds`.
result<std::map<std::string, std::string>>
write_tasks(const graph_view& graph, const renumbering& numbers,
            const std::filesystem::path& folder);

} // namespace graphmill
