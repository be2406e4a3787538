#pragma once

#include "partition/dataset/dataset.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/value_list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::fuzz {

using example_writer = result<dataset_info> (*)(const std::filesystem::path&);

/// A small dataset, whole and in parts.
struct example_folders {
  std::filesystem::path whole;
  std::filesystem::path parts;
  std::filesystem::path memory;
  std::vector<std::filesystem::path> arrays; ///< Of both, by name.

  example_folders(const std::string& name, example_writer write)
    : whole(scratch() / (name + "-whole")),
      parts(scratch() / (name + "-parts")),
      memory(scratch() / (name + "-memory")) {
    std::filesystem::create_directory(whole);
    require(write(whole).has_value(), "no example");
    auto data = dataset::open(whole);
    require(data.has_value(), "the example is broken");
    partition_options options;
    options.method = partition_method::random;
    require(prepare_partitions(data.value(), options, parts).has_value(),
            "the example cannot be cut into parts");
    for (const auto& root : {whole, parts})
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator{root})
        if (entry.path().extension() == ".npy")
          arrays.push_back(entry.path());
    std::sort(arrays.begin(), arrays.end());
  }
};

/// The example of the tests, with sparse features that are packed and a label
/// set.
inline result<dataset_info>
write_sparse_example(const std::filesystem::path& folder) {
  constexpr std::array<std::int64_t, 4> topics{2, 0, 1, -1};
  auto info = test::example_info();
  auto& papers = info.node_types[0];
  papers.feature_width = 10;
  papers.sparse_features = true;
  papers.label_sets = {
    {.name = "topic", .class_count = 3, .class_names = {"x", "y", "z"}}};
  std::array<float, 40> rows{};
  rows[1] = 1.5f;
  rows[7] = -2;
  rows[24] = 3;
  GRAPHMILL_TRY(auto writer, dataset_writer::create(folder, info, {}));
  GRAPHMILL_TRYV(writer.append_features(0, rows));
  GRAPHMILL_TRYV(writer.set_labels(0, test::example_labels));
  GRAPHMILL_TRYV(writer.set_split(0, split::train, test::example_train));
  GRAPHMILL_TRYV(writer.set_label_set(0, 0, topics, {{{2, 0}, {}, {1}}}));
  GRAPHMILL_TRYV(
    writer.append_edges(0, test::cites_sources, test::cites_destinations));
  GRAPHMILL_TRYV(
    writer.append_edges(1, test::by_sources, test::by_destinations));
  return writer.finish();
}

/// The example of the tests, with a row of labels for each of its four papers.
inline result<dataset_info>
write_labels_of_papers(const std::filesystem::path& folder, label_kind kind,
                       std::vector<std::uint8_t> rows) {
  auto info = test::example_info();
  info.node_types[0].labels = kind;
  GRAPHMILL_TRY(auto writer, dataset_writer::create(folder, info, {}));
  GRAPHMILL_TRYV(writer.append_features(0, test::example_features));
  GRAPHMILL_TRYV(writer.set_label_rows(0, std::move(rows)));
  GRAPHMILL_TRYV(writer.set_split(0, split::train, test::example_train));
  GRAPHMILL_TRYV(
    writer.append_edges(0, test::cites_sources, test::cites_destinations));
  GRAPHMILL_TRYV(
    writer.append_edges(1, test::by_sources, test::by_destinations));
  return writer.finish();
}

/// With several labels of a node.
inline result<dataset_info>
write_example_of_rows(const std::filesystem::path& folder) {
  return write_labels_of_papers(folder, label_kind::multi_label,
                                {1, 0, 0, 0, no_labels, no_labels, 0, 1});
}

/// With two numbers for each node.
inline result<dataset_info>
write_example_of_numbers(const std::filesystem::path& folder) {
  using test::no_value;
  return write_labels_of_papers(
    folder, label_kind::regression,
    test::rows_of_values({0.5f, -1, 3, 0, no_value, no_value, 0, 1e30f}));
}

/// With weights of edges of one type.
inline result<dataset_info>
write_weighted_example(const std::filesystem::path& folder) {
  constexpr std::array<float, 5> weights{1, 0.5f, 0, 3e30f, 1e-30f};
  auto info = test::example_info();
  info.edge_types[0].weighted = true;
  GRAPHMILL_TRY(auto writer, dataset_writer::create(folder, info, {}));
  GRAPHMILL_TRYV(test::append_example_nodes(writer));
  GRAPHMILL_TRYV(writer.append_edges(0, test::cites_sources,
                                     test::cites_destinations, weights));
  GRAPHMILL_TRYV(
    writer.append_edges(1, test::by_sources, test::by_destinations));
  return writer.finish();
}

/// With a task of links, and one of classes of both edge types.
inline result<dataset_info>
write_example_of_tasks(const std::filesystem::path& folder) {
  auto info = test::example_info();
  info.tasks = {{.name = "links",
                 .edge_types = {0, 1},
                 .reverse_types = {edge_type_id{0}, std::nullopt},
                 .timed = true,
                 .weighted = true},
                {.name = "kinds",
                 .kind = edge_task_kind::edge_class,
                 .edge_types = {0},
                 .reverse_types = {std::nullopt},
                 .class_count = 2}};
  const auto deal = [](std::span<const task_edge> edges) -> result<task_rows> {
    task_rows out;
    for (std::size_t i = 0; i < edges.size(); ++i)
      out[i % out.size()].push_back(i);
    return out;
  };
  GRAPHMILL_TRY(auto writer, dataset_writer::create(folder, info, {}));
  GRAPHMILL_TRYV(test::append_example_nodes(writer));
  GRAPHMILL_TRYV(
    writer.append_edges(0, test::cites_sources, test::cites_destinations));
  GRAPHMILL_TRYV(
    writer.append_edges(1, test::by_sources, test::by_destinations));
  static constexpr std::array<node_id, 2> negatives{3, 0};
  GRAPHMILL_TRYV(writer.set_task(
    0, {.choose = deal,
        .times = {{1, 2, 3, 4, 5}, {6, 7}},
        .weights = {{1, 0, 2, 1, 1}, {1, 1}},
        .negatives = [](split which, const task_edge&) {
          return which == split::test ? std::span<const node_id>{negatives}
                                      : std::span<const node_id>{};
        }}));
  std::vector<std::uint8_t> classes(5 * sizeof(std::int64_t));
  classes[sizeof(std::int64_t)] = 1; // Of the second edge.
  GRAPHMILL_TRYV(writer.set_task(1, {.choose = deal, .labels = {classes}}));
  return writer.finish();
}

/// All kinds of arrays that a dataset may have; the example of the tests comes
/// first.
inline const std::array<example_folders, 6>& examples() {
  static const std::array<example_folders, 6> made{
    example_folders{"plain", test::write_example},
    example_folders{"sparse", write_sparse_example},
    example_folders{"rows", write_example_of_rows},
    example_folders{"numbers", write_example_of_numbers},
    example_folders{"weights", write_weighted_example},
    example_folders{"tasks", write_example_of_tasks}};
  return made;
}

inline const example_folders& example() {
  return examples().front();
}

} // namespace graphmill::fuzz
