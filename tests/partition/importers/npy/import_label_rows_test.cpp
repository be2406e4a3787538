#include "partition/files/npy/npy_header.hpp"
#include "partition/importers/npy/npy.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/partition/importers/npy/label_import.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

std::vector<std::uint8_t> rows_of(const dataset& data) {
  CATCH_CHECK(data.info().node_types[0].labels == label_kind::multi_label);
  return list<std::uint8_t>(*data.nodes(0).labels);
}

} // namespace

CATCH_TEST_CASE("rows of labels are several labels of a node",
                "[partition][import][npy]") {
  const label_import take;
  const std::vector<std::uint8_t> want{1, 1, 0, 1, 255, 255};
  CATCH_CHECK(rows_of(value_of(
                take(std::vector<std::int64_t>{1, 1, 0, 1, -1, -1}, {3, 2})))
              == want);
  CATCH_CHECK(rows_of(value_of(
                take(std::vector<std::uint8_t>{1, 1, 0, 1, 255, 255}, {3, 2})))
              == want);
  CATCH_CHECK(
    rows_of(value_of(take(std::vector<float>{1, 1, 0, 1, NAN, NAN}, {3, 2})))
    == want);
  CATCH_CHECK(value_of(take(std::vector<double>{1, 1, 0, 1, 0, 0}, {3, 2}))
                .info()
                .node_types[0]
                .class_count
              == 2);
  label_import named;
  named.meta = R"({"class_names": ["a", "b"]})";
  CATCH_CHECK(
    value_of(named(std::vector<std::int64_t>{1, 1, 0, 1, 0, 0}, {3, 2}))
      .info()
      .node_types[0]
      .class_names
    == std::vector<std::string>{"a", "b"});
}

CATCH_TEST_CASE("rows that mark one label each have to be asked for",
                "[partition][import][npy]") {
  const std::vector<std::int64_t> marks{1, 0, 0, 1, -1, -1};
  label_import take;
  CATCH_CHECK(has(error_of(take(marks, {3, 2})).message,
                  "marks one of 2 classes: save argmax(axis=1) of it, or "
                  "import with --multi-label"));
  take.multi_label = true;
  CATCH_CHECK(rows_of(value_of(take(marks, {3, 2})))
              == std::vector<std::uint8_t>{1, 0, 0, 1, 255, 255});
  // One column is a list of classes, unless it is said to be rows.
  const std::vector<std::int64_t> column{1, 0, 1};
  CATCH_CHECK(rows_of(value_of(take(column, {3, 1})))
              == std::vector<std::uint8_t>{1, 0, 1});
  CATCH_CHECK(
    has(error_of(take(column, {3})).message, "has one number for each node"));
  take.multi_label = false;
  const auto classes = value_of(take(column, {3, 1}));
  CATCH_CHECK_FALSE(classes.info().node_types[0].labels
                    == label_kind::multi_label);
  CATCH_CHECK(classes.info().node_types[0].class_count == 2);
}

CATCH_TEST_CASE("rows that are no labels are named",
                "[partition][import][npy]") {
  label_import take;
  CATCH_CHECK(has(
    error_of(take(std::vector<std::int64_t>{1, 1, 0, 5, 0, 0}, {3, 2})).message,
    "has 2 numbers for each node, and number 1 of node 1 is 5: nodes with "
    "several labels have 1 for each that they have"));
  CATCH_CHECK(
    has(error_of(take(std::vector<std::int64_t>{1, 1, -1, 1, 0, 0}, {3, 2}))
          .message,
        "number 1 of node 1 is 1"));
  CATCH_CHECK(
    has(error_of(take(std::vector<float>{1, 1, 0.5F, 1, 0, 0}, {3, 2})).message,
        "number 0 of node 1 is 0.5"));
  CATCH_CHECK(has(
    error_of(take(std::vector<std::int64_t>(3 * 65'537), {3, 65'537})).message,
    "has 65537 labels; 1 to 65536 expected"));
  take.meta = R"({"num_classes": 3})";
  CATCH_CHECK(has(
    error_of(take(std::vector<std::int64_t>{1, 1, 0, 1, 0, 0}, {3, 2})).message,
    "has 2 labels for each node, and meta.json speaks of 3 classes"));
  take.meta = "{}";
  take.renumber = true;
  CATCH_CHECK(has(
    error_of(take(std::vector<std::int64_t>{1, 1, 0, 1, 0, 0}, {3, 2})).message,
    "--renumber-labels is for one label for each node"));
}

CATCH_TEST_CASE("nodes with several labels are split",
                "[partition][import][npy]") {
  const std::vector<std::int64_t> labels{1, 1, -1, -1, 0, 0};
  label_import take;
  take.split = split_request{.fractions = {0.5, 0.5, 0}};
  const auto data = value_of(take(labels, {3, 2}));
  // Node 1 has no labels.
  CATCH_CHECK(data.info().node_types[0].split_counts
              == std::array<std::int64_t, 3>{1, 1, 0});
  take.split->order = split_order::label;
  CATCH_CHECK(has(error_of(take(labels, {3, 2})).message,
                  "may have several labels, so that there are no classes"));
}

CATCH_TEST_CASE("rows of labels that memory cannot hold are not read",
                "[partition][import][npy]") {
  // Of holes, which take no room on disk: 2^40 bytes.
  constexpr std::array<std::int64_t, 2> shape{std::int64_t{1} << 39, 2};
  temp_folder source;
  put_array<std::int64_t>(source / "edges.npy", {0, 1, 1, 2}, {2, 2});
  const auto path = source / "labels.npy";
  const auto header = format_npy_header(dtype::uint8, shape);
  std::ofstream{path, std::ios::binary} << header;
  fs::resize_file(path, header.size() + (std::uintmax_t{1} << 40));
  for (const auto regression : {false, true}) {
    temp_folder out;
    const auto told = error_of(import_npy(
      {.source = source.path(), .regression = regression}, out.path()));
    CATCH_CHECK(told.code == ec::out_of_memory);
    CATCH_CHECK(has(told.message, "labels.npy needs about "));
  }
}
