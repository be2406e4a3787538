#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"
#include "tests/support/value_list.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

const std::vector<float> paper_values{1,        -0.5f, //
                                      3,        0,     //
                                      no_value, no_value, 5, 1.5f};

dataset_info info_with_values(std::int64_t width = 2) {
  auto info = example_info();
  auto& papers = info.node_types[0];
  papers.class_count = width;
  papers.class_names.clear();
  papers.labels = label_kind::regression;
  return info;
}

/// The example, but with two numbers for labels of its papers.
/// @param train Its training seeds.
result<dataset_info> write_values(const fs::path& folder,
                                  const std::vector<float>& values,
                                  const std::vector<node_id>& train = {3, 0}) {
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, info_with_values(), {}));
  GRAPHMILL_TRYV(writer.append_features(0, example_features));
  GRAPHMILL_TRYV(writer.set_label_rows(0, rows_of_values(values)));
  GRAPHMILL_TRYV(writer.set_split(0, split::train, train));
  GRAPHMILL_TRYV(writer.set_split(0, split::validation, example_validation));
  GRAPHMILL_TRYV(writer.append_edges(0, cites_sources, cites_destinations));
  GRAPHMILL_TRYV(writer.append_edges(1, by_sources, by_destinations));
  return writer.finish();
}

/// Bytes of the values of the papers of a graph, by their original ids.
std::vector<std::uint8_t>
values_by_original_id(const partitioned_graph& graph) {
  std::vector<std::uint8_t> out(paper_values.size() * sizeof(float));
  for (part_id p = 0; p < graph.part_count(); ++p) {
    const auto part = value_of(graph.open_shard(p));
    const auto& papers = part->nodes(0);
    CATCH_CHECK(papers.labels.empty());
    for (auto id = papers.begin; id < papers.end; ++id)
      for (std::size_t byte = 0; byte < 8; ++byte)
        out[static_cast<std::size_t>(papers.original(id)) * 8 + byte] =
          papers
            .label_rows[static_cast<std::size_t>(id - papers.begin) * 8 + byte];
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("labels that are numbers are kept, whole and in parts",
                "[partition][regression]") {
  temp_folder folder;
  fs::create_directory(folder / "plain");
  value_of(write_values(folder / "plain", paper_values));
  const auto text = content_of(folder / "plain" / "dataset.json");
  CATCH_CHECK(has(text, "\"format_version\": 3"));
  CATCH_CHECK(has(text, "\"labels\": \"regression\""));
  const auto data = value_of(dataset::open(folder / "plain"));
  CATCH_CHECK(data.info().node_types[0].labels == label_kind::regression);
  CATCH_CHECK_FALSE(data.info().node_types[0].labels
                    == label_kind::multi_label);
  CATCH_CHECK(data.info().node_types[0].label_bytes() == 8);
  CATCH_CHECK_FALSE(data.info().node_types[1].labels == label_kind::regression);
  const auto want = rows_of_values(paper_values);
  CATCH_CHECK(
    values_by_original_id(value_of(partitioned_graph::open(folder / "plain")))
    == want);
  partition_options options;
  options.parts = 2;
  options.method = partition_method::random;
  value_of(prepare_partitions(data, options, folder / "parts"));
  const auto parts = value_of(partitioned_graph::open(folder / "parts"));
  CATCH_CHECK(parts.info().node_types[0].labels == label_kind::regression);
  CATCH_CHECK(parts.proves_rows());
  CATCH_CHECK(values_by_original_id(parts) == want);
}

CATCH_TEST_CASE("labels that are numbers are part of the digest",
                "[partition][regression]") {
  temp_folder folder;
  for (const auto* name : {"a", "b", "c"})
    fs::create_directory(folder / name);
  auto other = paper_values;
  other[1] = -0.25f;
  const auto digest = value_of(write_values(folder / "a", paper_values)).digest;
  CATCH_CHECK(digest
              == value_of(write_values(folder / "b", paper_values)).digest);
  CATCH_CHECK(digest != value_of(write_values(folder / "c", other)).digest);
}

CATCH_TEST_CASE("labels that are numbers are inspected",
                "[partition][regression]") {
  temp_folder folder;
  value_of(write_values(folder.path(), paper_values));
  {
    const auto found =
      value_of(inspect_dataset(value_of(dataset::open(folder.path()))));
    CATCH_CHECK(found.broken.empty());
    CATCH_CHECK(found.node_types[0].class_counts.empty());
    CATCH_CHECK(found.node_types[0].unlabelled == 1);
    const auto& told = found.node_types[0].values;
    CATCH_REQUIRE(told.size() == 2);
    CATCH_CHECK(told[0].least == 1);
    CATCH_CHECK(told[0].most == 5);
    CATCH_CHECK(told[0].mean == 3);
    // The squares around the mean are 4, 0 and 4.
    CATCH_CHECK(told[0].deviation == Approx(std::sqrt(8. / 3)));
    CATCH_CHECK(told[1].least == -0.5);
    CATCH_CHECK(told[1].mean == Approx(1. / 3));
  }
  // Node 0 is a training seed.
  const std::vector<float> broken{no_value, no_value, 1, no_value, 1, 2, 3, 4};
  value_of(write_npy_bytes(folder / "nodes" / "paper" / "labels.npy",
                           dtype::float32, {4, 2},
                           std::as_bytes(std::span{broken})));
  std::string all;
  for (const auto& sentence :
       value_of(inspect_dataset(value_of(dataset::open(folder.path())))).broken)
    all += sentence + '\n';
  CATCH_CHECK(has(all, "number 1 of node 1 is nan; finite numbers expected"));
  CATCH_CHECK(has(all, "node 0 has no label"));
}

CATCH_TEST_CASE("a writer refuses broken rows of numbers",
                "[partition][regression]") {
  const auto refused = [](const std::vector<float>& values,
                          const std::vector<node_id>& train = {3, 0}) {
    temp_folder folder;
    return error_of(write_values(folder.path(), values, train)).message;
  };
  auto values = paper_values;
  values[3] = std::numeric_limits<float>::infinity();
  CATCH_CHECK(
    has(refused(values), "number 1 of paper node 1 is inf; finite numbers"));
  values = paper_values;
  values[4] = 0;
  CATCH_CHECK(has(refused(values), "number 1 of paper node 2 is nan"));
  values = paper_values;
  values.pop_back();
  CATCH_CHECK(
    has(refused(values), "7 values given for 2 labels of the 4 nodes"));
  CATCH_CHECK(
    has(refused(paper_values, {2, 0}), "seed 0 is node 2, which has no label"));
  temp_folder folder;
  auto writer =
    value_of(dataset_writer::create(folder.path(), info_with_values(), {}));
  CATCH_CHECK(has(error_of(writer.set_labels(0, example_labels)).message,
                  "which have numbers"));
  for (const auto width : {0, 1025})
    CATCH_CHECK(
      has(error_of(
            dataset_writer::create(folder.path(), info_with_values(width), {}))
            .message,
          fmt::format("nodes of paper have {} numbers for labels; 1 to 1024 "
                      "expected",
                      width)));
}

CATCH_TEST_CASE("the first value that cannot stand in a row is found",
                "[partition][regression]") {
  const auto bad = [](const std::vector<float>& values, std::size_t width) {
    return find_bad_label(label_kind::regression, rows_of_values(values),
                          width);
  };
  CATCH_CHECK_FALSE(bad({}, 3));
  CATCH_CHECK_FALSE(bad({1, 2, no_value, no_value}, 2));
  CATCH_CHECK(bad({1, 2, no_value, 3}, 2) == 3u);
  CATCH_CHECK(bad({1, no_value, 2, 3}, 2) == 1u);
  CATCH_CHECK(bad({1, 2, 3, -INFINITY}, 2) == 3u);
}
