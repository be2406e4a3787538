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
  /// METIS may allocate that much; 0 = no limit.
  std::uint64_t metis_memory_bytes = 0;
  progress_callback on_progress;
  /// Set it to end the work with code `cancelled`; may be null.
  const std::atomic<bool>* stop = nullptr;
};

/// What partitioning will take, from the counts alone. The figures are upper
/// ones, measured on R-MAT graphs, where METIS has most to do, on one core of a
/// server of the 2020s: 100 bytes and 1.4 microseconds per edge for METIS on
/// the whole graph.
struct partition_estimate {
  std::uint64_t memory_bytes = 0; ///< Mapped files apart, METIS included.
  std::uint64_t disk_bytes = 0;
  double seconds = 0;
  std::int64_t mapped_files = 0; ///< That a run which has all parts maps.
};
partition_estimate estimate_partition(const dataset_info& info,
                                      const partition_options& options);

/// Fails if so many parts cannot be made of a dataset: 1 to `most_parts`, and
/// not more than it has nodes.
result<void> check_parts(const dataset_info& info, part_id parts);

/// Cuts a dataset into parts and writes them below `folder`, which must be
/// there and empty. Checks the dataset's edges and seeds first. A pure function
/// of the dataset and the options: the same input gives the same bytes.
result<partition_report> partition_dataset(const dataset& data,
                                           const partition_options& options,
                                           const std::filesystem::path& folder);

struct prepared_partitions {
  bool built = false; ///< false: they were there already.
  partition_report report;
};

/// Makes sure that `folder` holds the partitioning that `options` describe:
/// writes it with `prepare_folder` if nothing is there. An error if `folder`
/// holds anything else, such as partitions of another dataset.
result<prepared_partitions>
prepare_partitions(const dataset& data, const partition_options& options,
                   const std::filesystem::path& folder);

} // namespace graphmill
