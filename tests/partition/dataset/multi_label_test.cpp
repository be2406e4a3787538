#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

using label_bytes_list = std::vector<std::uint8_t>;

const label_bytes_list paper_rows{1,   0,   1, //
                                  0,   0,   0, // None of them, which is known.
                                  255, 255, 255, 0, 1, 1};

dataset_info info_with_rows() {
  auto info = example_info();
  auto& papers = info.node_types[0];
  papers.class_count = 3;
  papers.class_names = {"x", "y", "z"};
  papers.labels = label_kind::multi_label;
  return info;
}

/// The example, but with several labels of its papers.
/// @param train Its training seeds.
result<dataset_info> write_rows(const fs::path& folder, label_bytes_list rows,
                                const std::vector<node_id>& train = {3, 0}) {
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, info_with_rows(), {}));
  GRAPHMILL_TRYV(writer.append_features(0, example_features));
  GRAPHMILL_TRYV(writer.set_label_rows(0, std::move(rows)));
  GRAPHMILL_TRYV(writer.set_split(0, split::train, train));
  GRAPHMILL_TRYV(writer.set_split(0, split::validation, example_validation));
  GRAPHMILL_TRYV(writer.append_edges(0, cites_sources, cites_destinations));
  GRAPHMILL_TRYV(writer.append_edges(1, by_sources, by_destinations));
  return writer.finish();
}

/// Rows of labels of the papers of a graph, by their original ids.
label_bytes_list rows_by_original_id(const partitioned_graph& graph) {
  label_bytes_list out(paper_rows.size(), 9);
  for (part_id p = 0; p < graph.part_count(); ++p) {
    const auto part = value_of(graph.open_shard(p));
    const auto& papers = part->nodes(0);
    CATCH_CHECK(papers.labels.empty());
    for (auto id = papers.begin; id < papers.end; ++id)
      for (std::size_t c = 0; c < 3; ++c)
        out[static_cast<std::size_t>(papers.original(id)) * 3 + c] =
          papers
            .label_rows[static_cast<std::size_t>(id - papers.begin) * 3 + c];
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("several labels of a node are kept, whole and in parts",
                "[partition][multi_label]") {
  temp_folder folder;
  fs::create_directory(folder / "plain");
  value_of(write_rows(folder / "plain", paper_rows));
  const auto text = content_of(folder / "plain" / "dataset.json");
  CATCH_CHECK(has(text, "\"format_version\": 3"));
  CATCH_CHECK(has(text, "\"labels\": \"multi_label\""));
  const auto data = value_of(dataset::open(folder / "plain"));
  CATCH_CHECK(data.info().node_types[0].labels == label_kind::multi_label);
  CATCH_CHECK_FALSE(data.info().node_types[1].labels
                    == label_kind::multi_label);
  CATCH_CHECK(
    rows_by_original_id(value_of(partitioned_graph::open(folder / "plain")))
    == paper_rows);
  partition_options options;
  options.parts = 2;
  options.method = partition_method::random;
  value_of(prepare_partitions(data, options, folder / "parts"));
  const auto parts = value_of(partitioned_graph::open(folder / "parts"));
  CATCH_CHECK(parts.info().node_types[0].labels == label_kind::multi_label);
  CATCH_CHECK(parts.proves_rows());
  CATCH_CHECK(rows_by_original_id(parts) == paper_rows);
}

CATCH_TEST_CASE("several labels are part of the digest",
                "[partition][multi_label]") {
  temp_folder folder;
  for (const auto* name : {"a", "b", "c"})
    fs::create_directory(folder / name);
  auto other = paper_rows;
  other[1] = 1;
  const auto digest = value_of(write_rows(folder / "a", paper_rows)).digest;
  CATCH_CHECK(digest == value_of(write_rows(folder / "b", paper_rows)).digest);
  CATCH_CHECK(digest != value_of(write_rows(folder / "c", other)).digest);
}

CATCH_TEST_CASE("several labels are inspected", "[partition][multi_label]") {
  temp_folder folder;
  value_of(write_rows(folder.path(), paper_rows));
  {
    const auto found =
      value_of(inspect_dataset(value_of(dataset::open(folder.path()))));
    CATCH_CHECK(found.broken.empty());
    CATCH_CHECK(found.node_types[0].class_counts
                == std::vector<std::int64_t>{1, 1, 2});
    CATCH_CHECK(found.node_types[0].unlabelled == 1);
  }
  // Node 0 is a training seed.
  const label_bytes_list broken{255, 255, 255, 0, 2, 0, 1, 0, 255, 0, 1, 1};
  value_of(write_npy_bytes(folder / "nodes" / "paper" / "labels.npy",
                           dtype::uint8, {4, 3},
                           std::as_bytes(std::span{broken})));
  std::string all;
  for (const auto& sentence :
       value_of(inspect_dataset(value_of(dataset::open(folder.path())))).broken)
    all += sentence + '\n';
  CATCH_CHECK(has(all, "label 1 of node 1 is 2; 0 or 1 expected"));
  CATCH_CHECK(has(all, "node 0 has no label"));
}

CATCH_TEST_CASE("a writer refuses broken rows of labels",
                "[partition][multi_label]") {
  const auto refused = [](label_bytes_list rows,
                          std::vector<node_id> train = {3, 0}) {
    temp_folder folder;
    return error_of(write_rows(folder.path(), std::move(rows), train)).message;
  };
  auto rows = paper_rows;
  rows[4] = 2;
  CATCH_CHECK(has(refused(rows), "label 1 of paper node 1 is 2; 0 or 1"));
  rows = paper_rows;
  rows[7] = 0;
  CATCH_CHECK(has(refused(rows), "label 1 of paper node 2 is 0; 0 or 1 "
                                 "expected, or 255 in all columns"));
  rows = paper_rows;
  rows[2] = 255;
  CATCH_CHECK(has(refused(rows), "label 2 of paper node 0 is 255"));
  rows.pop_back();
  CATCH_CHECK(
    has(refused(rows), "11 values given for 3 labels of the 4 nodes"));
  CATCH_CHECK(
    has(refused(paper_rows, {2, 0}), "seed 0 is node 2, which has no label"));
  temp_folder folder;
  auto writer =
    value_of(dataset_writer::create(folder.path(), info_with_rows(), {}));
  CATCH_CHECK(has(error_of(writer.set_labels(0, example_labels)).message,
                  "which may have several"));
  fs::create_directory(folder / "classes");
  auto classes =
    value_of(dataset_writer::create(folder / "classes", example_info(), {}));
  CATCH_CHECK(has(error_of(classes.set_label_rows(0, paper_rows)).message,
                  "rows of labels given for paper, which has classes"));
}
