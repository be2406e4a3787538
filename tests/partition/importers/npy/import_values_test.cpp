#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/partition/importers/npy/label_import.hpp"
#include "tests/partition/importers/npy/table_import.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"
#include "tests/support/value_list.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// Bytes, since what is no number equals nothing.
std::vector<std::uint8_t> values_in(const dataset& data, std::int64_t width) {
  const auto& type = data.info().node_types[0];
  CATCH_CHECK(type.labels == label_kind::regression);
  CATCH_CHECK(type.class_count == width);
  return rows_of_values(list<float>(*data.nodes(0).labels));
}

} // namespace

CATCH_TEST_CASE("labels are numbers where that is asked for",
                "[partition][import][npy]") {
  const label_import take{.regression = true};
  const auto one = rows_of_values({0.5f, no_value, -3});
  CATCH_CHECK(
    values_in(value_of(take(std::vector<float>{0.5f, NAN, -3}, {3})), 1)
    == one);
  CATCH_CHECK(
    values_in(value_of(take(std::vector<double>{0.5, -NAN, -3}, {3, 1})), 1)
    == one);
  CATCH_CHECK(
    values_in(value_of(take(std::vector<std::int64_t>{2, -1, 7}, {3})), 1)
    == rows_of_values({2, -1, 7}));
  CATCH_CHECK(
    values_in(value_of(take(std::vector<float>{1, 2, NAN, NAN, 5, 6}, {3, 2})),
              2)
    == rows_of_values({1, 2, no_value, no_value, 5, 6}));
  label_import named{.regression = true};
  named.meta = R"({"class_names": ["height", "weight"]})";
  CATCH_CHECK(value_of(named(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}))
                .info()
                .node_types[0]
                .class_names
              == std::vector<std::string>{"height", "weight"});
}

CATCH_TEST_CASE("labels are never taken for numbers in silence",
                "[partition][import][npy]") {
  const label_import silent;
  CATCH_CHECK(
    has(error_of(silent(std::vector<float>{0, 1, 2}, {3})).message,
        "labels.npy holds float32; integers expected: save classes as such, or "
        "import with --regression if labels are numbers to be learnt"));
  CATCH_CHECK(has(
    error_of(silent(std::vector<float>{0, 1, 2.5f, 0, 1, 0}, {3, 2})).message,
    "import with --regression if labels are numbers to be learnt"));
}

CATCH_TEST_CASE("numbers that cannot be learnt are named",
                "[partition][import][npy]") {
  label_import take{.regression = true};
  CATCH_CHECK(has(error_of(take(std::vector<double>{1, 2, 1e300}, {3})).message,
                  "number 0 of node 2 is inf; finite numbers that float32"));
  CATCH_CHECK(
    has(error_of(take(std::vector<float>{1, 2, 3, NAN, 5, 6}, {3, 2})).message,
        "number 1 of node 1 is nan"));
  take.meta = R"({"num_classes": 3})";
  CATCH_CHECK(has(error_of(take(std::vector<float>{1, 2, 3}, {3})).message,
                  "has 1 numbers for each node, and meta.json speaks of 3"));
  take.meta = "{}";
  take.renumber = true;
  CATCH_CHECK(has(error_of(take(std::vector<float>{1, 2, 3}, {3})).message,
                  "--renumber-labels for classes; leave one of them out"));
  take.renumber = false;
  take.multi_label = true;
  CATCH_CHECK(has(error_of(take(std::vector<float>{1, 2, 3}, {3})).message,
                  "--multi-label for classes; leave one of them out"));
}

CATCH_TEST_CASE("nodes whose labels are numbers are split",
                "[partition][import][npy]") {
  const std::vector<float> labels{1, NAN, 2};
  label_import take{.regression = true};
  take.split = split_request{.fractions = {0.5, 0.5, 0}};
  const auto data = value_of(take(labels, {3}));
  // Of node 1 nothing is known.
  CATCH_CHECK(data.info().node_types[0].split_counts
              == std::array<std::int64_t, 3>{1, 1, 0});
  take.split->order = split_order::label;
  CATCH_CHECK(has(error_of(take(labels, {3})).message,
                  "have numbers for labels, so that there are no classes to be "
                  "split"));
}

CATCH_TEST_CASE("a column of labels is numbers where that is asked for",
                "[partition][import][csv]") {
  const table_import take{.regression = true};
  const std::string lines = "a,0.5,train\nb,,\nc,-3,val\n";
  const auto data = value_of(take("id,label,split", lines));
  CATCH_CHECK(values_in(data, 1) == rows_of_values({0.5f, no_value, -3}));
  CATCH_CHECK(data.info().node_types[0].split_counts
              == std::array<std::int64_t, 3>{1, 1, 0});
  // As of arrays, what is too small for float32 is 0: p-values may be.
  const auto tiny =
    value_of(take("id,label,split", "a,1e-120,train\nb,-1e-300,\nc,1e-40,\n"));
  CATCH_CHECK(values_in(tiny, 1) == rows_of_values({0.0f, -0.0f, 1e-40f}));
  CATCH_CHECK(
    has(error_of(take("id,label,split", "a,1e39,train\nb,,\nc,1,\n")).message,
        "the label \"1e39\" is no finite number"));
  // Otherwise they are texts that name classes.
  const auto classes = value_of(table_import{}("id,label,split", lines));
  CATCH_CHECK(classes.info().node_types[0].labels == label_kind::classes);
  CATCH_CHECK(classes.info().node_types[0].class_names
              == std::vector<std::string>{"-3", "0.5"});
  CATCH_CHECK(has(
    error_of(take("id,label,split", "a,0.5,train\nb,tall,\nc,1,\n")).message,
    "nodes.csv:3: the label \"tall\" is no finite number"));
  CATCH_CHECK(has(error_of(take("id,split", "a,\nb,\nc,\n")).message,
                  "--regression: no node table has a column of labels"));
}
