#pragma once

#include "partition/dataset/shard.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/support/result.hpp"

#include <array>
#include <cstdint>
#include <filesystem>

namespace graphmill::test {

/// Types of a small typed dataset: 4 papers with features [4, 2] and labels,
/// 3 authors with nothing, papers citing papers, papers written by authors.
inline dataset_info example_info() {
  dataset_info info;
  info.name = "example";
  info.provenance = "made by hand";
  info.node_types = {{.name = "paper",
                      .count = 4,
                      .feature_width = 2,
                      .class_count = 2,
                      .class_names = {"a", "b"}},
                     {.name = "author", .count = 3}};
  info.edge_types = {{.source = 0, .name = "cites", .destination = 0},
                     {.source = 1, .name = "by", .destination = 0}};
  return info;
}

inline constexpr std::array<float, 8> example_features{0, 1, 2, 3, 4, 5, 6, 7};
inline constexpr std::array<std::int64_t, 4> example_labels{0, 1, -1, 1};
inline constexpr std::array<node_id, 2> example_train{3, 0};
inline constexpr std::array<node_id, 1> example_validation{1};
inline constexpr std::array<node_id, 5> cites_sources{0, 2, 0, 3, 1};
inline constexpr std::array<node_id, 5> cites_destinations{1, 1, 1, 0, 1};
inline constexpr std::array<node_id, 2> by_sources{2, 0};
inline constexpr std::array<node_id, 2> by_destinations{0, 3};

/// Gives a writer everything but the edges.
inline result<void> append_example_nodes(dataset_writer& writer) {
  GRAPHMILL_TRYV(writer.append_features(0, example_features));
  GRAPHMILL_TRYV(writer.set_labels(0, example_labels));
  GRAPHMILL_TRYV(writer.set_split(0, split::train, example_train));
  return writer.set_split(0, split::validation, example_validation);
}

inline result<dataset_info> write_example(const std::filesystem::path& folder) {
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, example_info(), {}));
  GRAPHMILL_TRYV(writer.append_edges(0, cites_sources, cites_destinations));
  GRAPHMILL_TRYV(append_example_nodes(writer));
  GRAPHMILL_TRYV(writer.append_edges(1, by_sources, by_destinations));
  return writer.finish();
}

/// The dataset of a folder, cut in two at random into another folder.
inline partitioned_graph cut_in_two(const std::filesystem::path& whole,
                                    const std::filesystem::path& parts) {
  partition_options options;
  options.parts = 2;
  options.method = partition_method::random;
  value_of(prepare_partitions(value_of(dataset::open(whole)), options, parts));
  return value_of(partitioned_graph::open(parts));
}

} // namespace graphmill::test
