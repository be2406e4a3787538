#include "partition/dataset/data_records.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"
#include "tests/support/value_list.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

using byte_rows = std::vector<std::uint8_t>;
using split_lists = std::array<std::vector<node_id>, 3>;

/// Labels of the papers of the example, of which nothing is known of one.
const byte_rows tag_rows{1,   0,   1,   //
                         0,   1,   1,   //
                         255, 255, 255, //
                         1,   1,   1};
const std::vector<float> heights{0.5f, no_value, -1.5f, 4};
const split_lists tag_splits{{{3, 0}, {}, {1}}};
const split_lists height_splits{{{2, 0}, {3}, {}}};

dataset_info info_with_kinds() {
  auto info = example_info();
  info.node_types[0].label_sets = {
    {.name = "tags",
     .class_count = 3,
     .class_names = {"x", "y", "z"},
     .labels = label_kind::multi_label},
    {.name = "height", .class_count = 1, .labels = label_kind::regression}};
  return info;
}

/// The example, whose papers have one class, with several labels as the label
/// set "tags" and a number as "height".
result<dataset_info> write_kinds(const fs::path& folder,
                                 const byte_rows& tags = tag_rows,
                                 const std::vector<float>& values = heights,
                                 const split_lists& splits = height_splits) {
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, info_with_kinds(), {}));
  GRAPHMILL_TRYV(append_example_nodes(writer));
  GRAPHMILL_TRYV(writer.set_label_set_rows(0, 0, tags, tag_splits));
  GRAPHMILL_TRYV(
    writer.set_label_set_rows(0, 1, rows_of_values(values), splits));
  GRAPHMILL_TRYV(writer.append_edges(0, cites_sources, cites_destinations));
  GRAPHMILL_TRYV(writer.append_edges(1, by_sources, by_destinations));
  return writer.finish();
}

/// Rows of labels of the papers of a graph, by their original ids.
byte_rows shown_rows(const partitioned_graph& graph) {
  const auto width =
    static_cast<std::size_t>(graph.info().node_types[0].label_bytes());
  byte_rows out(4 * width, 77);
  for (part_id p = 0; p < graph.part_count(); ++p) {
    const auto part = value_of(graph.open_shard(p));
    const auto& papers = part->nodes(0);
    CATCH_CHECK(papers.labels.empty());
    CATCH_REQUIRE(papers.label_rows.size()
                  == static_cast<std::size_t>(papers.end - papers.begin)
                       * width);
    for (auto id = papers.begin; id < papers.end; ++id)
      for (std::size_t byte = 0; byte < width; ++byte)
        out[static_cast<std::size_t>(papers.original(id)) * width + byte] =
          papers.label_rows[static_cast<std::size_t>(id - papers.begin) * width
                            + byte];
  }
  return out;
}

void check_splits(const partitioned_graph& graph, const split_lists& want) {
  for (auto which : all_splits) {
    std::vector<node_id> original;
    for (auto id : graph.seeds(which)) {
      const auto part = value_of(graph.open_shard(graph.owner(0, id)));
      original.push_back(part->nodes(0).original(id));
    }
    CATCH_CHECK(original == want[static_cast<std::size_t>(which)]);
  }
}

void check_kinds(const partitioned_graph& whole) {
  CATCH_CHECK(whole.info().node_types[0].labels == label_kind::classes);
  CATCH_CHECK(std::ssize(value_of(whole.open_shard(0))->nodes(0).labels)
              == whole.offsets(0)[1]);
  const auto tags = value_of(whole.with_labels("tags"));
  CATCH_CHECK(tags.info().node_types[0].labels == label_kind::multi_label);
  CATCH_CHECK(tags.info().node_types[0].class_count == 3);
  CATCH_CHECK(shown_rows(tags) == tag_rows);
  check_splits(tags, tag_splits);
  const auto height = value_of(whole.with_labels("height"));
  CATCH_CHECK(height.info().node_types[0].labels == label_kind::regression);
  CATCH_CHECK(height.info().node_types[0].class_count == 1);
  CATCH_CHECK(height.info().node_types[0].class_names.empty());
  CATCH_CHECK(shown_rows(height) == rows_of_values(heights));
  check_splits(height, height_splits);
}

} // namespace

CATCH_TEST_CASE("a label set is of any kind, whole and in parts",
                "[partition][label_sets]") {
  temp_folder folder;
  fs::create_directory(folder / "plain");
  value_of(write_kinds(folder / "plain"));
  check_kinds(value_of(partitioned_graph::open(folder / "plain")));
  const auto parts = cut_in_two(folder / "plain", folder / "parts");
  // Of the type's own labels, whichever set is shown.
  CATCH_CHECK(parts.proves_rows());
  check_kinds(parts);
}

CATCH_TEST_CASE("kinds of label sets are kept in dataset.json of version 4",
                "[partition][label_sets]") {
  temp_folder folder;
  for (const auto* name : {"a", "b", "c"})
    fs::create_directory(folder / name);
  const auto written = value_of(write_kinds(folder / "a"));
  CATCH_CHECK(written.digest == value_of(write_kinds(folder / "b")).digest);
  auto other = heights;
  other[3] = 4.5f;
  CATCH_CHECK(written.digest
              != value_of(write_kinds(folder / "c", tag_rows, other)).digest);
  const auto text = content_of(folder / "a" / "dataset.json");
  CATCH_CHECK(has(text, "\"format_version\": 4"));
  const auto read = value_of(read_dataset_info(folder / "a"));
  const auto& sets = read.node_types[0].label_sets;
  CATCH_REQUIRE(sets.size() == 2);
  CATCH_CHECK(sets[0].labels == label_kind::multi_label);
  CATCH_CHECK(sets[0].split_counts == std::array<std::int64_t, 3>{2, 0, 1});
  CATCH_CHECK(sets[1].labels == label_kind::regression);
  // A kind that this build does not know is no kind.
  auto changed = text;
  const auto at = changed.find("\"regression\"");
  CATCH_REQUIRE(at != std::string::npos);
  changed.replace(at, 12, "\"ranks\"");
  CATCH_CHECK(has(error_of(parse_dataset_info(changed, "here")).message,
                  "label_sets[1]: \"labels\" should be \"multi_label\" or "
                  "\"regression\""));
}

CATCH_TEST_CASE("label sets of each kind are inspected and have digests",
                "[partition][label_sets]") {
  temp_folder folder;
  value_of(write_kinds(folder.path()));
  {
    const auto data = value_of(dataset::open(folder.path()));
    const auto found = value_of(inspect_dataset(data));
    CATCH_CHECK(found.broken.empty());
    const auto& sets = found.node_types[0].label_sets;
    CATCH_REQUIRE(sets.size() == 2);
    CATCH_CHECK(sets[0].class_counts == std::vector<std::int64_t>{2, 2, 3});
    CATCH_CHECK(sets[0].unlabelled == 1);
    CATCH_CHECK(sets[1].class_counts.empty());
    CATCH_CHECK(sets[1].unlabelled == 1);
    CATCH_REQUIRE(sets[1].values.size() == 1);
    CATCH_CHECK(sets[1].values[0].least == -1.5);
    CATCH_CHECK(sets[1].values[0].most == 4);
    CATCH_CHECK(sets[1].values[0].mean == Approx(1));
    CATCH_CHECK(value_of(find_damaged(value_of(records_of(data)))).empty());
  }
  auto broken = tag_rows;
  broken[4] = 2;
  value_of(write_npy_bytes(folder / "nodes" / "paper" / "labels.tags.npy",
                           dtype::uint8, {4, 3},
                           std::as_bytes(std::span{broken})));
  const auto data = value_of(dataset::open(folder.path()));
  const auto damaged = value_of(find_damaged(value_of(records_of(data))));
  CATCH_REQUIRE(damaged.size() == 1);
  CATCH_CHECK(has(damaged.front(), "labels.tags.npy"));
  std::string all;
  for (const auto& sentence : value_of(inspect_dataset(data)).broken)
    all += sentence + '\n';
  CATCH_CHECK(has(all, "label 1 of node 1 is 2; 0 or 1 expected"));
}

CATCH_TEST_CASE("a writer refuses broken rows of a label set",
                "[partition][label_sets]") {
  const auto refused = [](const byte_rows& tags,
                          const std::vector<float>& values,
                          const split_lists& splits) {
    temp_folder folder;
    return error_of(write_kinds(folder.path(), tags, values, splits)).message;
  };
  auto tags = tag_rows;
  tags[7] = 1;
  CATCH_CHECK(has(refused(tags, heights, height_splits),
                  "label 1 of paper (label set tags) node 2 is 1"));
  CATCH_CHECK(has(refused(tag_rows, {1, 2}, height_splits),
                  "2 values given for 1 labels of the 4 nodes of paper (label "
                  "set height)"));
  CATCH_CHECK(has(refused(tag_rows, heights, {{{1}, {}, {}}}),
                  "train split of paper (label set height): seed 0 is node 1, "
                  "which has no label"));
  temp_folder folder;
  auto writer =
    value_of(dataset_writer::create(folder.path(), info_with_kinds(), {}));
  CATCH_CHECK(
    has(error_of(writer.set_label_set(0, 1, example_labels, {})).message,
        "nodes of paper (label set height), which have numbers"));
  auto info = info_with_kinds();
  info.node_types[0].label_sets[1].class_count = 1025;
  CATCH_CHECK(has(
    error_of(dataset_writer::create(folder.path(), info, {})).message,
    "label set height: nodes of paper have 1025 numbers for labels; 1 to 1024 "
    "expected"));
}
