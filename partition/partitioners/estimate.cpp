#include "partition/partitioners/partition_dataset.hpp"

#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/proved_arrays.hpp"
#include "partition/partitioners/parts_writer.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Bytes and operations of a dataset, as far as `dataset.json` tells them.
struct totals {
  double nodes = 0;
  double edges = 0;
  double feature_bytes = 0;
  double label_bytes = 0;
  double edge_rows = 0; ///< Destinations, and sources, over edge types.
  double weights = 0;   ///< Of edges, and sums of them.
};

totals totals_of(const dataset_info& info) {
  totals sum;
  for (const auto& type : info.node_types) {
    const auto count = static_cast<double>(type.count);
    sum.nodes += count;
    sum.feature_bytes += static_cast<double>(type.feature_bytes());
    sum.label_bytes += count * static_cast<double>(type.label_bytes());
    for (const auto& set : type.label_sets)
      sum.label_bytes +=
        count * static_cast<double>(with_labels_of(type, set).label_bytes());
  }
  for (const auto& type : info.edge_types) {
    sum.edges += static_cast<double>(type.count);
    const auto rows =
      static_cast<double>(info.node_types[type.destination].count)
      + static_cast<double>(info.node_types[type.source].count);
    sum.edge_rows += rows;
    if (type.weighted)
      sum.weights += static_cast<double>(type.count) + rows;
    sum.feature_bytes += static_cast<double>(type.count)
                         * (static_cast<double>(type.feature_row_bytes())
                            + (type.timed ? double{sizeof(std::int64_t)} : 0));
  }
  return sum;
}

/// Files that a process maps which opens all parts: per node type what
/// `dataset::open` and `open_shard` map, with a tree over each proved array;
/// per edge type its four arrays and original_begin.npy, three of weights, and
/// features.
/// A part without seeds has no array of a split that is mapped, so that these
/// are at the most.
std::int64_t files_mapped(const dataset_info& info, part_id parts) {
  auto sum = std::int64_t{parts} * 5 * std::ssize(info.edge_types);
  for (const auto& type : info.edge_types)
    sum += ((type.weighted ? 3 : 0) + (type.feature_width > 0 ? 1 : 0)
            + (type.timed ? 1 : 0))
           * std::int64_t{parts};
  for (const auto& type : info.node_types) {
    for (auto which : all_proved_arrays)
      sum += has_array(type, which) ? 2 * std::int64_t{parts} : 0;
    sum += type.sparse_features ? 3 * std::int64_t{parts} : 0;
    sum += parts; // The original ids of all nodes.
    for (auto seeds : type.split_counts)
      sum += std::min<std::int64_t>(parts, seeds);
    for (const auto& set : type.label_sets) {
      sum += parts; // Its labels, which have no tree.
      for (auto seeds : set.split_counts)
        sum += std::min<std::int64_t>(parts, seeds);
    }
  }
  return sum;
}

} // namespace

partition_estimate estimate_partition(const dataset_info& info,
                                      const partition_options& options) {
  const auto sum = totals_of(info);
  // The process itself; loads, assignment, new numbers both ways, halo marks.
  auto memory = sum.nodes * (9 + 4 + 16 + 8) + 64e6;
  auto disk = sum.feature_bytes + sum.label_bytes + sum.edges * 4
              + sum.edge_rows * 12 + sum.weights * 4 + sum.nodes * 8;
  // Blocks of the files that are written side by side (`npy_writer`).
  memory += std::min(std::min(options.parts, parts_per_pass) * 2.2e6, disk);
  // Checking and copying.
  auto seconds = 0.1 + sum.edges * 30e-9 + disk / 400e6;
  // Files are written and fsynced one by one, some 3 ms each on a disk.
  const auto files = files_mapped(info, options.parts);
  seconds += static_cast<double>(files) * 3e-3;
  const auto parts = static_cast<double>(options.parts);
  const auto constraints = static_cast<double>(info.node_types.size() + 2);
  const auto by_metis =
    options.parts > 1 && options.method == partition_method::metis;
  if (by_metis
      && is_coarsened(options.coarsen, static_cast<std::int64_t>(sum.edges))) {
    // Clusters, and the graphs between them, of 8 entries per node.
    memory += sum.nodes * (128 + 16 * constraints);
    seconds += sum.edges * 0.8e-6 + sum.nodes * constraints * 1e-6;
    // Out-edges, and what they are sorted from; gone before parts are written.
    disk = std::max(disk, sum.edges * 12);
  } else if (by_metis) {
    // The symmetric graph; METIS's coarser copies of it.
    memory += sum.edges * 16 + sum.nodes * (8 + 4 * constraints);
    memory += sum.edges * 100 + sum.nodes * (80 + 12 * constraints);
    seconds += sum.edges * 1.4e-6 + sum.nodes * constraints * 1e-6;
  } else if (options.parts > 1) {
    seconds += sum.edges * 20e-9 + sum.nodes * (100e-9 + 15e-9 * parts);
  }
  return {.memory_bytes = static_cast<std::uint64_t>(memory),
          .disk_bytes = static_cast<std::uint64_t>(disk),
          .seconds = seconds,
          .mapped_files = files};
}

} // namespace graphmill
