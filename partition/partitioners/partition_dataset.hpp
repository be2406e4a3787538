#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/partitioners/methods/assign.hpp"
#include "partition/partitioners/report.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace graphmill {

struct partition_options {
  part_id parts = 2;
  partition_method method = partition_method::metis;
  coarsening coarsen = coarsening::automatic; ///< For METIS.
  std::uint64_t seed = 0; ///< Of METIS, clusters and `random`.
  /// METIS may allocate so much; 0 = no limit.
  std::uint64_t metis_memory_bytes = 0;
  progress_callback on_progress;
  /// Set it to end the work with code `cancelled`; may be null.
  const std::atomic<bool>* stop = nullptr;
};

/// The resources of partitioning, from the counts alone. The figures are upper
/// ones, measured on R-MAT graphs, the hardest for METIS, on one core of a
/// server of the 2020s: 100 bytes and 1.4 microseconds per edge for METIS on
/// the whole graph.
struct partition_estimate {
  std::uint64_t memory_bytes = 0; ///< Without mapped files, with METIS.
  std::uint64_t disk_bytes = 0;
  double seconds = 0;
  std::int64_t mapped_files = 0; ///< Files that a run with all parts maps.
};
partition_estimate estimate_partition(const dataset_info& info,
                                      const partition_options& options);

/// Fails if a dataset cannot have so many parts: 1 to `most_parts`, and at most
/// as many as it has nodes.
result<void> check_parts(const dataset_info& info, part_id parts);

/// Divides a dataset into parts and writes them below `folder`, which must
/// exist and be empty. Checks the dataset's edges and seeds first. A pure
/// function of the dataset and the options: the same input gives the same
/// bytes.
result<partition_report> partition_dataset(const dataset& data,
                                           const partition_options& options,
                                           const std::filesystem::path& folder);

/// What parts are worth before and after they grew.
struct grown_partitions {
  partition_report before;
  partition_report report;
};

/// Replaces parts by those of the dataset that theirs has grown to
/// (`append_to_dataset`). Nodes keep their parts. New ones are placed beside
/// their neighbours, in either direction, by `place_by_ldg`. The parts are
/// replaced at once when the new ones are complete. Fails if they are of
/// another dataset.
/// @param parts Their folder.
result<grown_partitions>
grow_partitions(const dataset& data, const std::filesystem::path& parts,
                const progress_callback& on_progress = {},
                const std::atomic<bool>* stop = nullptr);

struct prepared_partitions {
  bool built = false; ///< false: they existed before.
  partition_report report;
};

/// Makes sure that `folder` holds the partitioning of `options`: writes it with
/// `prepare_folder` if nothing is there. Fails if `folder` holds anything else,
/// such as partitions of another dataset.
result<prepared_partitions>
prepare_partitions(const dataset& data, const partition_options& options,
                   const std::filesystem::path& folder);

} // namespace graphmill
