#include "partition/importers/npy/npy.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/partition/importers/npy/table_import.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"
#include "tests/support/value_list.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using set_names = std::vector<std::string>;
using notes_told = std::vector<std::string>;

/// A graph of three nodes with a class each and a label set "s", imported.
struct set_import {
  set_names multi_label{};
  set_names regression{};
  bool renumber = false;
  std::optional<split_request> split{};
  std::string meta = "{}";

  template <class T>
  result<dataset> operator()(const std::vector<T>& labels,
                             const std::vector<std::int64_t>& shape,
                             notes_told* notes = nullptr) const {
    temp_folder source;
    temp_folder out;
    put_array<std::int64_t>(source / "edges.npy", {0, 1, 1, 2}, {2, 2});
    put_array<std::int64_t>(source / "labels.npy", {0, 1, 0});
    put_array<T>(source / "labels.s.npy", labels, shape);
    if (!split)
      put_array<std::int64_t>(source / "train_idx.npy", {0, 2});
    std::ofstream{source / "meta.json"} << meta;
    npy_import_options options{.source = source.path(),
                               .renumber_labels = renumber,
                               .multi_label_sets = multi_label,
                               .regression_sets = regression};
    options.changes.split = split;
    if (notes != nullptr)
      options.on_note = [notes](std::string text) {
        notes->push_back(std::move(text));
      };
    GRAPHMILL_TRYV(import_npy(options, out.path()));
    return dataset::open(out.path());
  }
};

/// Bytes of the labels of the set, which are of this kind and width.
std::vector<std::uint8_t> set_rows(const dataset& data, label_kind kind,
                                   std::int64_t width) {
  const auto& type = data.info().node_types[0];
  CATCH_CHECK(type.labels == label_kind::classes);
  CATCH_REQUIRE(type.label_sets.size() == 1);
  CATCH_CHECK(type.label_sets[0].labels == kind);
  CATCH_CHECK(type.label_sets[0].class_count == width);
  const auto& labels = *data.nodes(0).label_sets[0].labels;
  return kind == label_kind::regression ? rows_of_values(list<float>(labels))
                                        : list<std::uint8_t>(labels);
}

const std::vector<std::int64_t> marks_several{1, 1, 0, 1, -1, -1};
const std::vector<std::int64_t> marks_one{1, 0, 0, 1, -1, -1};

} // namespace

CATCH_TEST_CASE("rows of a label set are several labels of a node",
                "[partition][import][npy]") {
  notes_told notes;
  const auto data = value_of(set_import{}(marks_several, {3, 2}, &notes));
  CATCH_CHECK(set_rows(data, label_kind::multi_label, 2)
              == std::vector<std::uint8_t>{1, 1, 0, 1, 255, 255});
  // Of the type's seeds 0 and 2, the set has labels of node 0.
  CATCH_CHECK(data.info().node_types[0].label_sets[0].split_counts
              == std::array<std::int64_t, 3>{1, 0, 0});
  CATCH_CHECK(std::ranges::any_of(notes, [](const std::string& note) {
    return has(note, "label set s of node: any of 2 labels for each node, and "
                     "no split of its own");
  }));
  CATCH_CHECK(has(error_of(set_import{}(marks_one, {3, 2})).message,
                  "labels.s.npy marks one of 2 classes: save argmax(axis=1) of "
                  "it, or import with --multi-label-set s if"));
  CATCH_CHECK(
    set_rows(value_of(set_import{.multi_label = {"s"}}(marks_one, {3, 2})),
             label_kind::multi_label, 2)
    == std::vector<std::uint8_t>{1, 0, 0, 1, 255, 255});
  CATCH_CHECK(has(error_of(set_import{.multi_label = {"s"}}(
                             std::vector<std::int64_t>{0, 1, 1}, {3}))
                    .message,
                  "--multi-label-set s: "));
  // Numbering anew is for the type's classes.
  CATCH_CHECK(
    set_rows(value_of(set_import{.renumber = true}(marks_several, {3, 2})),
             label_kind::multi_label, 2)
    == std::vector<std::uint8_t>{1, 1, 0, 1, 255, 255});
}

CATCH_TEST_CASE("labels of a set are numbers where that is asked for",
                "[partition][import][npy]") {
  const set_import take{.regression = {"s"}};
  CATCH_CHECK(set_rows(value_of(take(std::vector<float>{0.5f, NAN, -3}, {3})),
                       label_kind::regression, 1)
              == rows_of_values({0.5f, no_value, -3}));
  auto named = take;
  named.meta = R"({"label_sets": {"s": {"class_names": ["h", "w"]}}})";
  const auto two =
    value_of(named(std::vector<double>{1, 2, 3, 4, NAN, NAN}, {3, 2}));
  CATCH_CHECK(set_rows(two, label_kind::regression, 2)
              == rows_of_values({1, 2, 3, 4, no_value, no_value}));
  CATCH_CHECK(two.info().node_types[0].label_sets[0].class_names
              == set_names{"h", "w"});
  CATCH_CHECK(
    has(error_of(set_import{}(std::vector<float>{0.5f, 1, 2}, {3})).message,
        "labels.s.npy holds float32; integers expected: save classes as such, "
        "or import with --regression-set s if"));
  CATCH_CHECK(
    has(error_of(set_import{}(std::vector<float>{0.5f, 1, 2, 3, 4, 5}, {3, 2}))
          .message,
        "import with --regression-set s if labels are numbers"));
}

CATCH_TEST_CASE("options name label sets that are there",
                "[partition][import][npy]") {
  const std::vector<std::int64_t> classes{0, 1, 1};
  CATCH_CHECK(
    has(error_of(set_import{.regression = {"t"}}(classes, {3})).message,
        "--regression-set t: there is no labels.t.npy"));
  CATCH_CHECK(
    has(error_of(set_import{.multi_label = {"t"}}(classes, {3})).message,
        "--multi-label-set t: there is no labels.t.npy"));
  CATCH_CHECK(has(error_of(set_import{.multi_label = {"s"},
                                      .regression = {"s"}}(classes, {3}))
                    .message,
                  "--regression-set s and --multi-label-set s exclude"));
}

CATCH_TEST_CASE("a label set of numbers is split", "[partition][import][npy]") {
  set_import take{.regression = {"s"}};
  take.split = split_request{.fractions = {0.5, 0.5, 0}};
  const std::vector<float> values{1, NAN, 2};
  const auto data = value_of(take(values, {3}));
  // Node 1 has no number.
  CATCH_CHECK(data.info().node_types[0].label_sets[0].split_counts
              == std::array<std::int64_t, 3>{1, 1, 0});
  take.split->order = split_order::label;
  CATCH_CHECK(has(error_of(take(values, {3})).message,
                  "nodes of type node (label set s) have numbers for labels, "
                  "so that there are no classes to be split"));
}

CATCH_TEST_CASE("a column of a label set may be numbers",
                "[partition][import][csv]") {
  const table_import take{.regression_sets = {"s"}};
  const auto data = value_of(take("id,label,split,label.s", "a,x,train,0.5\n"
                                                            "b,y,val,\n"
                                                            "c,x,train,-3\n"));
  CATCH_CHECK(set_rows(data, label_kind::regression, 1)
              == rows_of_values({0.5f, no_value, -3}));
  CATCH_CHECK(data.info().node_types[0].label_sets[0].split_counts
              == std::array<std::int64_t, 3>{2, 0, 0});
  CATCH_CHECK(has(error_of(take("id,label,split,label.s",
                                "a,x,train,0.5\nb,y,,tall\nc,x,,\n"))
                    .message,
                  "nodes.csv:3: the label \"tall\" is no finite number, and "
                  "--regression-set s says"));
  CATCH_CHECK(has(
    error_of(take("id,label,split,label.s", "a,x,train,\nb,y,,nan\nc,x,,\n"))
      .message,
    "label set \"s\" has no label in any row"));
  CATCH_CHECK(
    has(error_of(take("id,label,split", "a,x,train\nb,y,\nc,x,\n")).message,
        "--regression-set s: no node table has a column"));
}

CATCH_TEST_CASE("another split of numbers is a label set of numbers",
                "[partition][import][csv]") {
  const auto data = value_of(table_import{.regression = true}(
    "id,label,split,split.s", "a,1,train,\nb,2.5,,train\nc,,,\n"));
  const auto& type = data.info().node_types[0];
  CATCH_CHECK(type.labels == label_kind::regression);
  CATCH_REQUIRE(type.label_sets.size() == 1);
  CATCH_CHECK(type.label_sets[0].labels == label_kind::regression);
  CATCH_CHECK(type.label_sets[0].class_count == 1);
  CATCH_CHECK(rows_of_values(list<float>(*data.nodes(0).label_sets[0].labels))
              == rows_of_values({1, 2.5f, no_value}));
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).label_sets[0].splits[0])
              == std::vector<std::int64_t>{1});
}
