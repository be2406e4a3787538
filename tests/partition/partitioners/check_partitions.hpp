#pragma once

#include "partition/partitioners/partition_dataset.hpp"

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

namespace graphmill::test {

nlohmann::json read_json(const std::filesystem::path& path);

/// Reads a partitioned dataset with nothing but `dataset::open` and the files,
/// and compares every node, edge, seed, digest and figure of the report with
/// the dataset it was made of.
void check_partitions(const dataset& source,
                      const std::filesystem::path& folder,
                      const partition_report& report);

} // namespace graphmill::test
