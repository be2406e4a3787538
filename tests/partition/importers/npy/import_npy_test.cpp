#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/meaning/original_names.hpp"
#include "partition/dataset/meaning/type_name.hpp"
#include "partition/importers/npy/npy.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

/// 3 nodes, 4 edges, CSR features [3, 4], 2 classes.
void put_small(const fs::path& at) {
  put_array<std::int64_t>(at / "edges.npy", {0, 1, 2, 0, 1, 2, 0, 2}, {2, 4});
  put_array<std::int64_t>(at / "labels.npy", {1, 0, -1});
  put_array<std::int64_t>(at / "train_idx.npy", {0});
  put_array<std::int32_t>(at / "val_idx.npy", {1});
  put_array<std::int64_t>(at / "features_indptr.npy", {0, 2, 2, 3});
  put_array<std::int32_t>(at / "features_indices.npy", {0, 2, 3});
  put_array<float>(at / "features_values.npy", {1, 3, 2});
  put_text(at / "meta.json",
           R"({"name": "small", "num_nodes": 3, "num_edges": 4,
               "num_features": 4, "num_classes": 2, "more": [1, 2]})");
}

/// What an import says after `change` has been at the small source.
template <class Change>
std::string import_error_after(Change change) {
  temp_folder source;
  temp_folder out;
  put_small(source.path());
  change(source.path());
  return error_of(import_npy({.source = source.path()}, out.path())).message;
}

} // namespace

CATCH_TEST_CASE("sparse features become dense", "[partition][import][npy]") {
  temp_folder source;
  temp_folder out;
  put_small(source.path());
  const auto info = value_of(import_npy({.source = source.path()}, out.path()));
  CATCH_CHECK(info.name == "small");
  CATCH_CHECK(info.edge_type_name(0) == "node__to__node");
  CATCH_CHECK(info.node_types[0].class_count == 2);
  CATCH_CHECK(info.node_types[0].split_counts
              == std::array<std::int64_t, 3>{1, 1, 0});
  const auto data = value_of(dataset::open(out.path()));
  CATCH_CHECK(list<float>(*data.nodes(0).features)
              == std::vector<float>{1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 2});
  // 0->1 1->2 2->0 0->2
  CATCH_CHECK(list<std::int32_t>(data.edges(0).indices)
              == std::vector<std::int32_t>{2, 0, 1, 0});
}

CATCH_TEST_CASE("rows are normalised on request", "[partition][import][npy]") {
  temp_folder source;
  put_small(source.path());
  const auto features_with = [&](row_norm norm) {
    temp_folder out;
    value_of(
      import_npy({.source = source.path(), .normalise = norm}, out.path()));
    return list<float>(*value_of(dataset::open(out.path())).nodes(0).features);
  };
  CATCH_CHECK(features_with(row_norm::l1)
              == std::vector<float>{0.25, 0, 0.75, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  const auto l2 = features_with(row_norm::l2);
  CATCH_CHECK(std::fabs(l2[0] - 0.316228f) < 1e-6f);
  CATCH_CHECK(std::fabs(l2[2] - 0.948683f) < 1e-6f);
}

CATCH_TEST_CASE("counts are derived where meta.json is silent",
                "[partition][import][npy]") {
  temp_folder source;
  temp_folder out;
  put_small(source.path());
  fs::remove(source / "meta.json");
  const auto info = value_of(
    import_npy({.source = source.path(), .name = "other"}, out.path()));
  CATCH_CHECK(info.name == "other");
  CATCH_CHECK(info.node_types[0].count == 3);
  CATCH_CHECK(info.node_types[0].class_count == 2);
  CATCH_CHECK(info.node_types[0].feature_width == 4);

  temp_folder bare;
  temp_folder bare_out;
  put_array<std::int32_t>(bare / "edges.npy", {0, 6, 3, 1}, {2, 2});
  const auto derived =
    value_of(import_npy({.source = bare.path()}, bare_out.path()));
  CATCH_CHECK(derived.node_types[0].count == 7);
  CATCH_CHECK(derived.node_types[0].class_count == 0);
}

CATCH_TEST_CASE("labels of which most are nobody's need a word",
                "[partition][import][npy]") {
  temp_folder source;
  put_small(source.path());
  put_array<std::int64_t>(source / "labels.npy", {2'000'000, 0, 1'000'000});
  put_text(source / "meta.json", R"({"num_features": 4})");
  const auto import = [&source](bool renumber) -> result<dataset> {
    temp_folder out;
    GRAPHMILL_TRYV(import_npy(
      {.source = source.path(), .renumber_labels = renumber}, out.path()));
    return dataset::open(out.path());
  };
  const auto refused = error_of(import(false));
  CATCH_INFO(refused.message);
  CATCH_CHECK(refused.code == ec::invalid_data);
  CATCH_CHECK(has(refused.message, "labels go up to 2000000, which would make "
                                   "2000001 classes"));
  CATCH_CHECK(has(refused.message, "--renumber-labels"));

  const auto data = value_of(import(true));
  CATCH_CHECK(data.info().node_types[0].class_names
              == std::vector<std::string>{"0", "1000000", "2000000"});
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).labels)
              == std::vector<std::int64_t>{2, 0, 1});

  put_text(source / "meta.json",
           R"({"num_features": 4, "num_classes": 2000001})");
  CATCH_CHECK(value_of(import(false)).info().node_types[0].class_count
              == 2'000'001);

  put_text(source / "meta.json", R"({"num_features": 4})");
  put_array<std::int64_t>(source / "labels.npy", {INT64_MAX, 0, -1});
  CATCH_CHECK(
    has(error_of(import(false)).message, "there can be 16777216 classes"));
  CATCH_CHECK(list<std::int64_t>(*value_of(import(true)).nodes(0).labels)
              == std::vector<std::int64_t>{1, 0, -1});
}

CATCH_TEST_CASE("typed folders and reverse edges", "[partition][import][npy]") {
  temp_folder source;
  temp_folder out;
  put_array<std::int64_t>(source / "user__likes__film.edges.npy", {0, 4, 1, 1},
                          {2, 2});
  put_array<double>(source / "film.features.npy", {1, 2, 3, 4}, {2, 2});
  put_array<std::uint8_t>(source / "film.labels.npy", {0, 1});
  put_array<std::int64_t>(source / "film.train_idx.npy", {1});
  const auto info = value_of(
    import_npy({.source = source.path(), .reverse = true}, out.path()));
  CATCH_REQUIRE(info.edge_types.size() == 2);
  CATCH_CHECK(info.edge_type_name(0) == "user__likes__film");
  CATCH_CHECK(info.edge_type_name(1) == "film__rev_likes__user");
  CATCH_CHECK(info.node_types[0].name == "user");
  CATCH_CHECK(info.node_types[0].count == 5);
  CATCH_CHECK(info.node_types[info.target].name == "film");
  const auto data = value_of(dataset::open(out.path()));
  CATCH_CHECK(list<std::int32_t>(data.edges(0).indices)
              == std::vector<std::int32_t>{0, 4});
  CATCH_CHECK(list<std::int64_t>(data.edges(1).indptr)
              == std::vector<std::int64_t>{0, 1, 1, 1, 1, 2});
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
}

CATCH_TEST_CASE("names that sources have of types are kept",
                "[partition][import][npy]") {
  temp_folder source;
  temp_folder out;
  put_array<std::int64_t>(source / "a--0123456789ab__x__b.edges.npy", {0, 0},
                          {2, 1});
  put_text(source / "meta.json",
           R"({"node_types": {"a--0123456789ab": {"num_nodes": 1,
                                                  "original_name": "_a"},
                              "b": {"num_nodes": 1}},
               "edge_types": {"a--0123456789ab__x__b":
                              {"original_name": "/x"}}})");
  value_of(import_npy({.source = source.path(), .reverse = true}, out.path()));
  CATCH_CHECK(value_of(read_original_names(out.path()))
              == original_names{{"a--0123456789ab", "_a"},
                                {"a--0123456789ab__x__b", "/x"},
                                {"b__rev_x__a--0123456789ab", "rev_/x"}});
  for (const auto* wrong : {"1", R"("a\nb")"}) {
    CATCH_INFO(wrong);
    put_text(source / "meta.json", fmt::format(R"({{"node_types": {{
      "b": {{"original_name": {}}}}}}})",
                                               wrong));
    temp_folder again;
    CATCH_CHECK(
      has(error_of(import_npy({.source = source.path()}, again.path())).message,
          "meta.json: the \"original_name\" of b should be a string"));
  }
}

CATCH_TEST_CASE("a name has room for what a reverse edge type is called",
                "[partition][import][npy]") {
  temp_folder source;
  temp_folder out;
  const std::string name(80, 'x');
  put_array<std::int64_t>(source / ("a__" + name + "__a.edges.npy"), {0, 0},
                          {2, 1});
  const auto info = value_of(
    import_npy({.source = source.path(), .reverse = true}, out.path()));
  CATCH_CHECK(info.edge_types[1].name == type_name_for("rev_" + name));
  CATCH_CHECK(
    value_of(read_original_names(out.path())).at(info.edge_type_name(1))
    == "rev_" + name);
}

CATCH_TEST_CASE("ids that are no numbers of nodes need a word",
                "[partition][import][npy]") {
  temp_folder source;
  const auto import_to = [&source](const temp_folder& out) {
    return import_npy({.source = source.path()}, out.path());
  };
  put_array<std::int64_t>(source / "edges.npy", {0, 1'000'000'000, 1, 2},
                          {2, 2});
  temp_folder refused;
  CATCH_CHECK(error_of(import_to(refused)).message
              == "edges name nodes of type node 4 times, with ids up to "
                 "1000000000: there would be 1000000001 nodes, almost all "
                 "without edges. Number the nodes anew from 0, or say in "
                 "meta.json how many there are (\"num_nodes\")");
  put_array<std::int64_t>(source / "edges.npy", {0, 1'048'575, 1, 2}, {2, 2});
  temp_folder small;
  CATCH_CHECK(value_of(import_to(small)).node_types[0].count == 1'048'576);
  put_array<std::int64_t>(source / "edges.npy", {0, 1'048'576, 1, 2}, {2, 2});
  temp_folder again;
  CATCH_CHECK_FALSE(import_to(again).has_value());
  put_text(source / "meta.json", R"({"num_nodes": 1048577})");
  temp_folder said;
  CATCH_CHECK(value_of(import_to(said)).node_types[0].count == 1'048'577);
}

CATCH_TEST_CASE("wrong sources are named", "[partition][import][npy]") {
  using change = void (*)(const fs::path&);
  struct row {
    change apply;
    std::string part;
  };
  const std::vector<row> table{
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "edges.npy", {0, 1, 9, 0, 1, 2, 0, 2},
                               {2, 4});
     },
     "edge 2 of node__to__node: source 9 does not exist (3 nodes)"},
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "edges.npy", {0, 1, 1}, {3});
     },
     "edges.npy has the shape [3]; [2, any] expected"},
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "edges.npy", {0, 1}, {2, 1});
     },
     "has 1 edges; meta.json says 4"},
    {[](const fs::path& at) {
       put_array<float>(at / "edges.npy", {0, 1, 2, 0, 1, 2, 0, 2}, {2, 4});
     },
     "edges.npy holds float32; integers expected"},
    {[](const fs::path& at) { fs::resize_file(at / "edges.npy", 150); },
     "edges.npy: it is truncated"},
    {[](const fs::path& at) {
       fs::remove(at / "edges.npy");
       put_text(at / "meta.json", "{}");
     },
     "holds neither edges.npy nor"},
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "labels.npy", {1, 2, -1});
     },
     "labels.npy: the label of node 1 is 2, and meta.json tells of 2 classes"},
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "labels.npy", {1, 1});
     },
     "labels.npy has the shape [2]; [3] expected"},
    {[](const fs::path& at) {
       for (const auto* name : {"train_idx.npy", "val_idx.npy", "test_idx.npy"})
         fs::remove(at / name);
     },
     "no split of node has a node"},
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "train_idx.npy", {2});
     },
     "seed 0 is node 2, which has no label"},
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "features_indptr.npy", {0, 2, 1, 3});
     },
     "features_indptr.npy: rows 0 to 3 do not lie"},
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "features_indptr.npy", {0, 2, 2, 9});
     },
     "within the 3 entries"},
    {[](const fs::path& at) {
       put_array<std::int32_t>(at / "features_indices.npy", {0, 2, 4});
     },
     "node 2 has a value in column 4; there are 4"},
    {[](const fs::path& at) {
       put_array<float>(at / "features_values.npy", {1, NAN, 2});
     },
     "features of node: node 0, column 2 is nan"},
    {[](const fs::path& at) {
       put_array<float>(at / "features_values.npy", {1, 2});
     },
     "features_values.npy has the shape [2]; [3] expected"},
    {[](const fs::path& at) { fs::remove(at / "features_values.npy"); },
     "features_values.npy"},
    {[](const fs::path& at) { put_text(at / "meta.json", "{"); },
     "meta.json is broken"},
    {[](const fs::path& at) {
       put_text(at / "meta.json", "{\"x\":" + std::string(300'000, '[')
                                    + std::string(300'000, ']') + "}");
     },
     "meta.json is broken: its values are nested deeper than 64 levels"},
    {[](const fs::path& at) {
       put_text(at / "meta.json", R"({"num_nodes": -3})");
     },
     "\"num_nodes\" should be a count"},
    {[](const fs::path& at) {
       put_text(at / "meta.json", R"({"num_nodes": 281474976710656})");
     },
     "labels.npy has the shape [3]"},
    {[](const fs::path& at) {
       put_array<std::int64_t>(at / "a__b.edges.npy", {0, 1}, {2, 1});
       fs::remove(at / "edges.npy");
     },
     "\"a__b\" is no edge type"},
    {[](const fs::path& at) {
       put_text(at / "meta.json",
                R"({"node_types": {"a": {"num_nodes": 1}},
                      "edge_types": {"a__to__../b": {}}})");
     },
     "b.edges.npy"},
  };
  for (const auto& [apply, part] : table) {
    const auto message = import_error_after(apply);
    CATCH_INFO(message << "\nexpected: " << part);
    CATCH_CHECK(has(message, part));
  }
  temp_folder out;
  CATCH_CHECK(error_of(import_npy({.source = out / "none"}, out.path())).code
              == ec::not_found);
}

CATCH_TEST_CASE("labels with gaps are numbered anew, and names of classes stay",
                "[partition][import][npy]") {
  temp_folder source;
  put_small(source.path());
  const auto classes_with = [&](const std::string& meta) {
    temp_folder out;
    put_text(source / "meta.json", meta);
    const auto info =
      value_of(import_npy({.source = source.path()}, out.path()));
    return info.node_types[0].class_names;
  };
  using texts = std::vector<std::string>;
  put_array<std::int64_t>(source / "labels.npy", {7, 2, -1});
  CATCH_CHECK(classes_with(R"({"num_features": 4})") == texts{"2", "7"});
  CATCH_CHECK(classes_with(R"({"num_classes": 8})").empty());
  put_array<std::int64_t>(source / "labels.npy", {1, 0, -1});
  CATCH_CHECK(classes_with(R"({"class_names": ["cat", "dog"]})")
              == texts{"cat", "dog"});
}

CATCH_TEST_CASE("features are standardised by column",
                "[partition][import][npy]") {
  temp_folder source;
  temp_folder out;
  put_small(source.path());
  put_array<std::uint8_t>(source / "features.npy", {1, 5, 2, 5, 3, 5}, {3, 2});
  npy_import_options options;
  options.source = source.path();
  options.ignore = {"features_indptr", "features_indices.npy",
                    "features_values"};
  put_text(source / "meta.json", "{}");
  options.changes.normalise = {{"node", row_norm::standardise}};
  value_of(import_npy(options, out.path()));
  const auto values =
    list<float>(*value_of(dataset::open(out.path())).nodes(0).features);
  CATCH_CHECK(std::fabs(values[0] + 1.2247449f) < 1e-6f);
  CATCH_CHECK(values[2] == 0);
  CATCH_CHECK(std::fabs(values[4] - 1.2247449f) < 1e-6f);
  CATCH_CHECK((values[1] == 0 && values[3] == 0 && values[5] == 0));
}

// The sets lie beside the repository, not in it.
CATCH_TEST_CASE("public sets arrive whole", "[partition][import][npy]") {
  const auto* data_folder = std::getenv("GRAPHMILL_TEST_DATA");
  if (data_folder == nullptr || !fs::exists(fs::path{data_folder} / "cora")) {
    CATCH_WARN("GRAPHMILL_TEST_DATA names no folder with the set cora");
    return;
  }
  const auto import = [&](const char* name, bool reverse) {
    temp_folder out;
    value_of(
      import_npy({.source = fs::path{data_folder} / name, .reverse = reverse},
                 out.path()));
    const auto data = value_of(dataset::open(out.path()));
    auto found = value_of(inspect_dataset(data));
    CATCH_CHECK(found.broken.empty());
    return std::pair{data.info(), std::move(found)};
  };
  {
    const auto [info, found] = import("cora", false);
    CATCH_CHECK(info.node_types[0].count == 2708);
    CATCH_CHECK(info.edge_types[0].count == 10556);
    CATCH_CHECK(info.edge_types[0].max_in_degree == 168);
    CATCH_CHECK(
      found.node_types[0].class_counts
      == std::vector<std::int64_t>{351, 217, 418, 818, 426, 298, 180});
    CATCH_CHECK(info.node_types[0].split_counts
                == std::array<std::int64_t, 3>{140, 500, 1000});
  }
  {
    const auto [info, found] = import("citeseer", false);
    CATCH_CHECK(found.node_types[0].isolated == 48);
    CATCH_CHECK(found.node_types[0].unlabelled == 15);
    CATCH_CHECK(info.edge_types[0].max_in_degree == 99);
  }
  {
    const auto [info, found] = import("imdb", true);
    CATCH_REQUIRE(info.edge_types.size() == 4);
    CATCH_CHECK(info.node_types[0].name == "movie");
    CATCH_CHECK(info.node_types[1].name == "director");
    CATCH_CHECK(info.node_types[1].feature_width == 0);
    CATCH_CHECK(info.edge_type_name(2) == "director__rev_to__movie");
    CATCH_CHECK(info.edge_types[3].count == 12828);
    CATCH_CHECK(found.node_types[0].isolated == 0);
  }
}
