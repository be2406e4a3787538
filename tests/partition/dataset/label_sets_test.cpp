#include "partition/dataset/label_sets.hpp"

#include "partition/dataset/data_records.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <array>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

using ids = std::vector<node_id>;
using label_list = std::vector<std::int64_t>;
using seed_lists = std::array<ids, 3>;

const label_list topic_labels{2, 0, 1, -1};
const seed_lists topic_splits{ids{2, 0}, ids{}, ids{1}};

dataset_info info_with_topic() {
  auto info = example_info();
  info.node_types[0].label_sets = {
    {.name = "topic", .class_count = 3, .class_names = {"x", "y", "z"}}};
  return info;
}

/// The example with a label set "topic" of its papers.
result<dataset_info> write_with_topic(const fs::path& folder,
                                      const label_list& labels,
                                      const seed_lists& splits) {
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, info_with_topic(), {}));
  GRAPHMILL_TRYV(append_example_nodes(writer));
  GRAPHMILL_TRYV(writer.set_label_set(0, 0, labels, splits));
  GRAPHMILL_TRYV(writer.append_edges(0, cites_sources, cites_destinations));
  GRAPHMILL_TRYV(writer.append_edges(1, by_sources, by_destinations));
  return writer.finish();
}

/// Labels of the papers of a graph, by their original ids.
label_list labels_by_original_id(const partitioned_graph& graph) {
  label_list out(4, -9);
  for (part_id p = 0; p < graph.part_count(); ++p) {
    const auto part = value_of(graph.open_shard(p));
    const auto& papers = part->nodes(0);
    for (auto id = papers.begin; id < papers.end; ++id)
      out[static_cast<std::size_t>(papers.original(id))] =
        papers.labels[static_cast<std::size_t>(id - papers.begin)];
  }
  return out;
}

/// Seeds as original ids, in their order.
ids original_seeds(const partitioned_graph& graph, split which) {
  ids out;
  for (auto id : graph.seeds(which)) {
    const auto part = value_of(graph.open_shard(graph.owner(0, id)));
    out.push_back(part->nodes(0).original(id));
  }
  return out;
}

void check_topic(const partitioned_graph& whole) {
  const auto graph = value_of(whole.with_labels("topic"));
  CATCH_CHECK(graph.info().node_types[0].class_count == 3);
  CATCH_CHECK(graph.info().node_types[0].class_names.back() == "z");
  CATCH_CHECK(graph.info().digest == whole.info().digest);
  CATCH_CHECK(labels_by_original_id(graph) == topic_labels);
  for (auto which : all_splits)
    CATCH_CHECK(original_seeds(graph, which)
                == topic_splits[static_cast<std::size_t>(which)]);
  // To choose it again changes nothing.
  const auto again = value_of(graph.with_labels("topic"));
  CATCH_CHECK(labels_by_original_id(again) == topic_labels);
}

void check_own(const partitioned_graph& whole) {
  CATCH_CHECK(whole.info().node_types[0].class_count == 2);
  CATCH_CHECK(labels_by_original_id(whole) == label_list{0, 1, -1, 1});
  CATCH_CHECK(original_seeds(whole, split::train) == ids{3, 0});
  const auto same = value_of(whole.with_labels(""));
  CATCH_CHECK(original_seeds(same, split::train) == ids{3, 0});
}

} // namespace

CATCH_TEST_CASE("labels of another graph can be shown, none of them known",
                "[partition][label_sets]") {
  temp_folder folder;
  fs::create_directory(folder / "plain");
  value_of(write_with_topic(folder / "plain", topic_labels, topic_splits));
  const auto plain = value_of(partitioned_graph::open(folder / "plain"));
  const auto parts = cut_in_two(folder / "plain", folder / "parts");
  const auto paper = plain.info().node_types[0].name;
  for (const auto* whole : {&plain, &parts})
    for (const auto kind : {label_kind::classes, label_kind::multi_label,
                            label_kind::regression}) {
      const auto graph = value_of(
        whole->with_unknown_labels({kind, paper, 2, {"other", "names"}}));
      const auto& type = graph.info().node_types[0];
      CATCH_CHECK(type.labels == kind);
      CATCH_CHECK(type.class_count == 2);
      CATCH_CHECK(type.class_names.back() == "names");
      CATCH_CHECK(type.count == whole->info().node_types[0].count);
      for (auto which : all_splits)
        CATCH_CHECK(graph.seeds(which).empty());
      for (part_id p = 0; p < graph.part_count(); ++p) {
        const auto part = value_of(graph.open_shard(p));
        CATCH_CHECK(part->nodes(0).labels.empty());
        CATCH_CHECK(part->nodes(0).label_rows.empty());
        CATCH_CHECK(part->info().node_types[0].class_count == 2);
      }
    }
  const auto missing =
    error_of(plain.with_unknown_labels({label_kind::classes, "nobody", 2, {}}));
  CATCH_CHECK(has(missing.message, "has no node type \"nobody\""));
}

CATCH_TEST_CASE("what labels mean is told of those that are chosen",
                "[partition][label_sets]") {
  temp_folder folder;
  value_of(write_with_topic(folder.path(), topic_labels, topic_splits));
  const auto graph = value_of(partitioned_graph::open(folder.path()));
  const auto own = value_of(meaning_of_labels(graph.info(), ""));
  CATCH_CHECK(own.kind == label_kind::classes);
  CATCH_CHECK(own.type == graph.info().node_types[0].name);
  CATCH_CHECK(own.count == 2);
  const auto topic = value_of(meaning_of_labels(graph.info(), "topic"));
  CATCH_CHECK(topic.count == 3);
  CATCH_CHECK(topic.names.back() == "z");
  CATCH_CHECK(error_of(meaning_of_labels(graph.info(), "year")).code
              == ec::invalid_argument);
}

CATCH_TEST_CASE("a label set is chosen by its name",
                "[partition][label_sets]") {
  temp_folder folder;
  fs::create_directory(folder / "plain");
  value_of(write_with_topic(folder / "plain", topic_labels, topic_splits));
  const auto plain = value_of(partitioned_graph::open(folder / "plain"));
  check_own(plain);
  check_topic(plain);
  const auto unknown = error_of(plain.with_labels("year"));
  CATCH_CHECK(unknown.code == ec::invalid_argument);
  CATCH_CHECK(has(unknown.message, "no label set \"year\""));
  CATCH_CHECK(has(unknown.message, "there are \"topic\""));
  const auto parts = cut_in_two(folder / "plain", folder / "parts");
  check_own(parts);
  check_topic(parts);
}

CATCH_TEST_CASE("label sets alone make a dataset of version 2",
                "[partition][label_sets]") {
  temp_folder folder;
  fs::create_directory(folder / "with");
  fs::create_directory(folder / "without");
  const auto with =
    value_of(write_with_topic(folder / "with", topic_labels, topic_splits));
  const auto without = value_of(write_example(folder / "without"));
  CATCH_CHECK(with.digest != without.digest);
  const auto newer = content_of(folder / "with" / "dataset.json");
  CATCH_CHECK(has(newer, "\"format_version\": 2"));
  CATCH_CHECK(has(newer, "nodes/paper/labels.topic.npy"));
  const auto older = content_of(folder / "without" / "dataset.json");
  CATCH_CHECK(has(older, "\"format_version\": 1"));
  CATCH_CHECK(!has(older, "label_sets"));
  const auto read = value_of(read_dataset_info(folder / "with"));
  const auto& set = read.node_types[0].label_sets.at(0);
  CATCH_CHECK(set.name == "topic");
  CATCH_CHECK(set.split_counts == std::array<std::int64_t, 3>{2, 0, 1});
  CATCH_CHECK(read.node_types[1].label_sets.empty());
}

CATCH_TEST_CASE("label sets are inspected and have digests",
                "[partition][label_sets]") {
  temp_folder folder;
  value_of(write_with_topic(folder.path(), topic_labels, topic_splits));
  const auto file = folder / "nodes" / "paper" / "labels.topic.npy";
  {
    const auto data = value_of(dataset::open(folder.path()));
    const auto found = value_of(inspect_dataset(data));
    CATCH_CHECK(found.broken.empty());
    const auto& set = found.node_types[0].label_sets.at(0);
    CATCH_CHECK(set.class_counts == label_list{1, 1, 1});
    CATCH_CHECK(set.unlabelled == 1);
    CATCH_CHECK(value_of(find_damaged(value_of(records_of(data)))).empty());
  }
  // Node 1 is a test seed of the set.
  value_of(write_npy<std::int64_t>(file, label_list{2, -1, 1, 7}));
  const auto data = value_of(dataset::open(folder.path()));
  const auto damaged = value_of(find_damaged(value_of(records_of(data))));
  CATCH_REQUIRE(damaged.size() == 1);
  CATCH_CHECK(has(damaged.front(), "labels.topic.npy"));
  auto all = std::string{};
  for (const auto& sentence : value_of(inspect_dataset(data)).broken)
    all += sentence + '\n';
  CATCH_CHECK(has(all, "the label of node 3 is 7; there are 3 classes"));
  CATCH_CHECK(has(all, "test.topic.npy: node 1 has no label"));
}

CATCH_TEST_CASE("a node type has 256 label sets at the most",
                "[partition][label_sets]") {
  node_type_info type;
  type.name = "paper";
  for (std::size_t i = 0; i < most_label_sets; ++i)
    type.label_sets.push_back({.name = fmt::format("s{}", i)});
  value_of(check_label_set_names(type, "here"));
  type.label_sets.push_back({.name = "one-more"});
  CATCH_CHECK(has(error_of(check_label_set_names(type, "here")).message,
                  "here: paper has 257 label sets; at most 256 expected"));
}

CATCH_TEST_CASE("a writer refuses broken label sets",
                "[partition][label_sets]") {
  const auto refused = [](const label_list& labels, const seed_lists& splits) {
    temp_folder folder;
    return error_of(write_with_topic(folder.path(), labels, splits)).message;
  };
  CATCH_CHECK(has(refused({0, 1, 2, 3}, topic_splits),
                  "label of paper (label set topic) node 3 is 3"));
  CATCH_CHECK(has(refused({0, 1}, topic_splits), "2 labels given"));
  CATCH_CHECK(has(refused(topic_labels, {ids{3}, ids{}, ids{}}),
                  "train split of paper (label set topic): seed 0 is node 3, "
                  "which has no label"));
  CATCH_CHECK(has(refused(topic_labels, {ids{}, ids{}, ids{}}),
                  "no split of paper (label set topic) has a node"));
  temp_folder folder;
  auto writer =
    value_of(dataset_writer::create(folder.path(), info_with_topic(), {}));
  value_of(append_example_nodes(writer));
  CATCH_CHECK(has(error_of(writer.finish()).message,
                  "has 3 classes, but no labels were given"));
}

CATCH_TEST_CASE("names of label sets become names of files",
                "[partition][label_sets]") {
  auto type = info_with_topic().node_types[0];
  CATCH_CHECK(check_label_set_names(type, "x"));
  for (const auto* bad : {"", "../x", "a b", "a__b", "blocks", "x.blocks"}) {
    CATCH_INFO(bad);
    type.label_sets[0].name = bad;
    CATCH_CHECK(!check_label_set_names(type, "x"));
  }
  type.label_sets = {{.name = "a", .class_count = 1},
                     {.name = "a", .class_count = 1}};
  CATCH_CHECK(has(error_of(check_label_set_names(type, "x")).message,
                  "two label sets \"a\""));
  CATCH_CHECK(labels_file("") == "labels.npy");
  CATCH_CHECK(labels_file("a") == "labels.a.npy");
  CATCH_CHECK(seeds_file(split::validation, "a") == "val.a.npy");
}
