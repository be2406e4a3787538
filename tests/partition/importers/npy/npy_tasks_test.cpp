#include "partition/dataset/task_checks.hpp"
#include "partition/importers/npy/npy.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace graphmill::test::npy_tasks {

namespace {

using integers = std::vector<std::int64_t>;

/// Four edges between five nodes, and what they bring for a task.
struct task_import {
  temp_folder source;
  temp_folder out;
  std::vector<edge_task_request> tasks{};

  task_import() {
    put_array<std::int64_t>(source / "edges.npy", {0, 1, 2, 3, 1, 2, 3, 4},
                            {2, 4});
    put_array<float>(source / "features.npy", {1, 2, 3, 4, 5});
  }

  task_import& splits(const integers& values) {
    put_array<std::int64_t>(source / "edge_split.npy", values);
    return *this;
  }

  task_import& kind(edge_task_kind which) {
    tasks = {{.kind = which}};
    return *this;
  }

  result<dataset_info> operator()() const {
    npy_import_options options{.source = source.path(), .name = "d"};
    options.changes.tasks = tasks;
    temp_folder into;
    return import_npy(options, into.path());
  }

  /// The rows of a split of a task.
  task_split_arrays rows(split which, std::size_t place = 0) const {
    npy_import_options options{.source = source.path(), .name = "d"};
    options.changes.tasks = tasks;
    value_of(import_npy(options, out.path()));
    const auto data = value_of(dataset::open(out.path()));
    const auto& info = data.info();
    auto opened =
      value_of(open_task(out.path(), info, info.tasks.at(place).name));
    return *std::move(opened.splits[static_cast<std::size_t>(which)]);
  }

  std::string refused() const { return error_of((*this)()).message; }
};

} // namespace

CATCH_TEST_CASE("splits of edges in an array make a task of links",
                "[partition][import][npy][tasks]") {
  task_import take;
  take.splits({0, 2, -1, 0});
  put_array<float>(take.source / "edge_time.npy", {4, 3, 2, 1});
  put_array<double>(take.source / "edge_row_weight.npy", {1, 2, 3, 0.5},
                    {4, 1});
  put_array<std::int32_t>(take.source / "edge_negatives.npy",
                          {2, 3, -1, -1, -1, -1, 0, 1}, {4, 2});
  const auto info = value_of(take());
  CATCH_REQUIRE(info.tasks.size() == 1);
  const auto& task = info.tasks[0];
  CATCH_CHECK(task.name == "link");
  CATCH_CHECK(task.kind == edge_task_kind::link);
  CATCH_CHECK(task.timed);
  CATCH_CHECK(task.weighted);
  CATCH_CHECK(task.split_counts == std::array<std::int64_t, 3>{2, 0, 1});
  CATCH_CHECK(task.negative_counts == std::array<std::int64_t, 3>{2, 0, 0});
  const auto rows = take.rows(split::train);
  CATCH_CHECK(list<std::int64_t>(rows.edges) == integers{0, 1, 3, 4});
  CATCH_CHECK(list<double>(*rows.times) == std::vector<double>{4, 1});
  CATCH_CHECK(list<float>(*rows.weights) == std::vector<float>{1, 0.5f});
  CATCH_CHECK(list<std::int64_t>(*rows.negatives) == integers{2, 3, 0, 1});
}

CATCH_TEST_CASE("labels of edges are classes, rows of labels or numbers",
                "[partition][import][npy][tasks]") {
  {
    task_import take;
    take.splits({0, 1, 2, 0}).kind(edge_task_kind::edge_class);
    put_array<std::int64_t>(take.source / "edge_label.npy", {2, 0, 1, -1});
    const auto info = value_of(take());
    CATCH_CHECK(info.tasks[0].class_count == 3);
    // An edge without a label is no row.
    CATCH_CHECK(info.tasks[0].split_counts
                == std::array<std::int64_t, 3>{1, 1, 1});
    CATCH_CHECK(list<std::int64_t>(*take.rows(split::train).labels)
                == integers{2});
  }
  {
    task_import take;
    take.splits({0, 1, 2, 0}).kind(edge_task_kind::edge_labels);
    put_array<std::int8_t>(take.source / "edge_label.npy",
                           {1, 0, 0, 0, 1, 1, -1, -1}, {4, 2});
    CATCH_CHECK(list<std::uint8_t>(*take.rows(split::train).labels)
                == std::vector<std::uint8_t>{1, 0});
  }
  {
    // One of the test split is a row that is predicted.
    task_import take;
    take.splits({0, 2, 2, 0}).kind(edge_task_kind::edge_labels);
    put_array<std::int8_t>(take.source / "edge_label.npy",
                           {1, 0, -1, -1, 1, 1, 0, 0}, {4, 2});
    CATCH_CHECK(list<std::uint8_t>(*take.rows(split::test).labels)
                == std::vector<std::uint8_t>{255, 255, 1, 1});
    CATCH_CHECK(value_of(take()).tasks.at(0).unlabelled == 1);
  }
  task_import take;
  take.splits({0, 1, 2, 0}).kind(edge_task_kind::edge_value);
  put_array<double>(take.source / "edge_label.npy",
                    {0.5, 1, 2, 3, 4, 5, NAN, NAN}, {4, 2});
  const auto info = value_of(take());
  CATCH_CHECK(info.tasks[0].class_count == 2);
  CATCH_CHECK(list<float>(*take.rows(split::validation).labels)
              == std::vector<float>{2, 3});
}

CATCH_TEST_CASE("edges of arrays are split by shares",
                "[partition][import][npy][tasks]") {
  task_import take;
  take.kind(edge_task_kind::link).tasks[0].split = edge_split_request{
    .fractions = {0.5, 0.25, 0.25}, .order = edge_order::time};
  CATCH_CHECK_THAT(take.refused(), contains("there is no edge_time.npy"));
  put_array<std::int64_t>(take.source / "edge_time.npy", {40, 30, 20, 10});
  CATCH_CHECK(value_of(take()).tasks[0].split_counts
              == std::array<std::int64_t, 3>{2, 1, 1});
  CATCH_CHECK(list<std::int64_t>(take.rows(split::test).edges)
              == integers{0, 1});
  take.splits({0, 0, 1, 2});
  CATCH_CHECK_THAT(take.refused(),
                   contains("edge_split.npy says the splits of edges already"));
}

CATCH_TEST_CASE("arrays that make no task are refused",
                "[partition][import][npy][tasks]") {
  {
    task_import take;
    put_array<double>(take.source / "edge_time.npy", {1, 2, 3, 4});
    CATCH_CHECK_THAT(take.refused(), contains("is for a task of edges; say"));
    take.kind(edge_task_kind::link);
    CATCH_CHECK_THAT(take.refused(),
                     contains("nothing says which edges train"));
    take.splits({0, 1, 2, 3});
    CATCH_CHECK_THAT(take.refused(), contains("edge 3 has the split 3"));
    take.splits({0, 1, 2});
    CATCH_CHECK_THAT(take.refused(), contains("edge_split.npy"));
  }
  task_import take;
  take.splits({0, 1, 2, 0});
  put_array<std::int64_t>(take.source / "edge_label.npy", {0, 1, 5000, 1});
  CATCH_CHECK_THAT(take.refused(),
                   contains("a task of kind link has no labels"));
  take.kind(edge_task_kind::edge_class);
  CATCH_CHECK_THAT(take.refused(), contains("edge 2 has the class 5000"));
  put_array<double>(take.source / "edge_label.npy", {0, 0.5, 1, 1});
  CATCH_CHECK_THAT(take.refused(), contains("integers expected"));
  take.kind(edge_task_kind::edge_labels);
  CATCH_CHECK_THAT(take.refused(),
                   contains("edge 1 has 0.5; 0 and 1 expected"));
  put_array<double>(take.source / "edge_label.npy", {0, 1, -1, 1, 1, 1, 0, 0},
                    {4, 2});
  CATCH_CHECK_THAT(take.refused(),
                   contains("edge 1 has some labels unknown and others not"));
  task_import other;
  other.splits({0, 1, 2, 0});
  put_array<std::int64_t>(other.source / "edge_negatives.npy",
                          {1, -1, 2, 3, 2, 3, 2, 3}, {4, 2});
  CATCH_CHECK_THAT(other.refused(),
                   contains("edge 0 has -1 beside other negatives"));
}

CATCH_TEST_CASE("several tasks have arrays of their own, and share others",
                "[partition][import][npy][tasks]") {
  task_import take;
  take.tasks = {{.kind = edge_task_kind::link},
                {.name = "sign", .kind = edge_task_kind::edge_class},
                {.name = "sum", .kind = edge_task_kind::edge_value}};
  take.splits({0, 1, 2, 0});
  put_array<std::int64_t>(take.source / "edge_label.sign.npy", {0, 1, 1, 1});
  put_array<double>(take.source / "edge_label.npy", {4, 3, 2, NAN});
  put_array<std::int64_t>(take.source / "edge_split.sign.npy", {2, 0, 0, -1});
  put_array<float>(take.source / "edge_row_weight.sum.npy", {1, 2, 3, 4});
  const auto info = value_of(take());
  CATCH_REQUIRE(info.tasks.size() == 3);
  CATCH_CHECK(info.tasks[0].name == "link");
  CATCH_CHECK(info.tasks[0].split_counts
              == std::array<std::int64_t, 3>{2, 1, 1});
  CATCH_CHECK(info.tasks[1].split_counts
              == std::array<std::int64_t, 3>{2, 0, 1});
  CATCH_CHECK_FALSE(info.tasks[1].weighted);
  CATCH_CHECK(info.tasks[2].split_counts
              == std::array<std::int64_t, 3>{1, 1, 1});
  CATCH_CHECK(info.tasks[2].weighted);
  CATCH_CHECK(list<std::int64_t>(take.rows(split::train, 0).edges)
              == integers{0, 1, 3, 4});
  CATCH_CHECK(list<std::int64_t>(*take.rows(split::train, 1).labels)
              == integers{1, 1});
  CATCH_CHECK(list<float>(*take.rows(split::test, 2).labels)
              == std::vector<float>{2});
  CATCH_CHECK(list<float>(*take.rows(split::test, 2).weights)
              == std::vector<float>{3});
}

CATCH_TEST_CASE("arrays that none of several tasks takes are refused",
                "[partition][import][npy][tasks]") {
  task_import take;
  take.tasks = {{.kind = edge_task_kind::link},
                {.name = "sign", .kind = edge_task_kind::edge_class}};
  take.splits({0, 1, 2, 0});
  CATCH_CHECK_THAT(take.refused(),
                   contains("there is no edge_label.npy, nor "
                            "TYPE.edge_label.npy, nor edge_label.sign.npy"));
  put_array<std::int64_t>(take.source / "edge_label.sign.npy", {0, 1, 1, 1});
  value_of(take());
  put_array<std::int64_t>(take.source / "edge_label.npy", {0, 1, 1, 1});
  CATCH_CHECK_THAT(take.refused(),
                   contains("none of the tasks link, sign takes it"));
  put_array<std::int64_t>(take.source / "edge_label.link.npy", {0, 1, 1, 1});
  CATCH_CHECK_THAT(take.refused(),
                   contains("a task of kind link has no labels"));
  task_import stray;
  stray.splits({0, 1, 2, 0});
  put_array<std::int64_t>(stray.source / "edge_split.sgn.npy", {0, 1, 2, 0});
  CATCH_CHECK_THAT(stray.refused(),
                   contains("edge_split.sgn.npy (of a task that --task-kind "
                            "NAME=KIND names)"));
  task_import twice;
  twice.tasks = {{.kind = edge_task_kind::link},
                 {.kind = edge_task_kind::link}};
  twice.splits({0, 1, 2, 0});
  CATCH_CHECK_THAT(twice.refused(),
                   contains("--task-kind: two tasks are called link"));
}

CATCH_TEST_CASE("labels of edges stand for none as those of nodes",
                "[partition][import][npy][tasks]") {
  task_import take;
  take.splits({0, 2, 2, 0}).kind(edge_task_kind::edge_class);
  put_array<std::int64_t>(take.source / "edge_label.npy", {0, -100, 1, 1});
  CATCH_CHECK_THAT(take.refused(), contains("import with --no-label -100"));
  std::vector<std::string> notes;
  const auto import = [&](edge_task_kind kind, const std::string& none) {
    npy_import_options options{.source = take.source.path(), .name = "d"};
    options.changes.tasks = {{.kind = kind}};
    options.no_label = {none};
    options.on_note = [&notes](std::string note) {
      notes.push_back(std::move(note));
    };
    notes.clear();
    temp_folder into;
    const auto info = value_of(import_npy(options, into.path()));
    const auto data = value_of(dataset::open(into.path()));
    CATCH_CHECK(info.tasks[0].unlabelled == 1);
    const auto& labels = *data.task(0).splits[2]->labels;
    const auto bytes = labels.bytes();
    return std::vector<std::byte>{bytes.begin(), bytes.end()};
  };
  const auto noted = [&notes](const std::string& text) {
    return std::ranges::any_of(notes, [&text](const std::string& note) {
      return note.find(text) != std::string::npos;
    });
  };
  const auto is_none = [](const std::vector<std::byte>& labels) {
    return std::all_of(labels.begin(), labels.begin() + std::ssize(labels) / 2,
                       [](std::byte one) { return one == std::byte{0xff}; });
  };
  CATCH_CHECK(is_none(import(edge_task_kind::edge_class, "-100")));
  CATCH_CHECK(noted("task edge_class: label -100 of 1 edge says that no"));
  CATCH_CHECK_FALSE(noted("no label is written so"));
  put_array<std::int64_t>(take.source / "edge_label.npy",
                          {0, 1, -100, -100, 1, 1, 1, 0}, {4, 2});
  CATCH_CHECK(is_none(import(edge_task_kind::edge_labels, "-100")));
  put_array<double>(take.source / "edge_label.npy", {0.5, -9.5, 1, 1});
  const auto numbers = import(edge_task_kind::edge_value, "-9.5");
  float first = 0;
  std::memcpy(&first, numbers.data(), sizeof first);
  CATCH_CHECK(std::isnan(first));
  // Not among the labels.
  CATCH_CHECK_FALSE(noted("no label is written so"));
}

} // namespace graphmill::test::npy_tasks
