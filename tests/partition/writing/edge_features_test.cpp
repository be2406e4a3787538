#include "partition/dataset/data_records.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/npy/npy.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/dataset/kept_example.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <cmath>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

// Features of edges: written, imported, cut into parts, verified, inspected.

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

using edge_floats = std::vector<float>;

/// Of the citations 0->1 2->1 0->1 3->0 1->1: which one it is, and its
/// negative.
const edge_floats cites_features{1, -1, 2, -2, 3, -3, 4, -4, 5, -5};

/// The example, whose citations have two features.
result<dataset_info>
write_with_features(const fs::path& folder, edge_rules rules = {},
                    const edge_floats& features = cites_features,
                    dtype type = dtype::float32) {
  auto info = example_info();
  info.edge_types[0].feature_width = 2;
  info.edge_types[0].feature_type = type;
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, info, {.edges = {rules}}));
  GRAPHMILL_TRYV(writer.append_edge_features(0, features));
  GRAPHMILL_TRYV(writer.append_edges(0, cites_sources, cites_destinations));
  GRAPHMILL_TRYV(append_example_nodes(writer));
  GRAPHMILL_TRYV(writer.append_edges(1, by_sources, by_destinations));
  return writer.finish();
}

/// The first feature of each edge, in list order.
edge_floats features_with(edge_rules rules) {
  temp_folder folder;
  value_of(write_with_features(folder.path(), rules));
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
  const auto all = list<float>(*data.edges(0).features);
  edge_floats out;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    CATCH_CHECK(all[i + 1] == -all[i]);
    out.push_back(all[i]);
  }
  return out;
}

result<dataset> imported_csv(const std::string& text,
                             csv_import_options options = {},
                             const std::string& type = {}) {
  temp_folder source;
  temp_folder out;
  std::ofstream{source / "e.csv"} << text;
  options.edges = {{type, source / "e.csv"}};
  GRAPHMILL_TRYV(import_csv(options, out.path()));
  GRAPHMILL_TRY(auto data, dataset::open(out.path()));
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
  return data;
}

} // namespace

CATCH_TEST_CASE("features of edges lie in the order of lists",
                "[partition][edge_features]") {
  temp_folder folder;
  const auto info = value_of(write_with_features(folder.path()));
  CATCH_CHECK(format_version_of(info) == 7);
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(data.info().edge_types[0].feature_width == 2);
  CATCH_CHECK(data.info().edge_types[1].feature_width == 0);
  CATCH_CHECK_FALSE(data.edges(1).features.has_value());
  // 1 has in order 0 2 0 1, behind 0, which has 3.
  CATCH_CHECK(list<float>(*data.edges(0).features)
              == edge_floats{4, -4, 1, -1, 2, -2, 3, -3, 5, -5});
  CATCH_CHECK(unused_arrays(data).empty());
  CATCH_CHECK_FALSE(fs::exists(folder / "edges" / "paper__cites__paper"
                               / "features.waiting.npy"));
  const auto graph = value_of(partitioned_graph::open(folder.path()));
  const auto part = value_of(graph.open_shard(0));
  CATCH_CHECK(reinterpret_cast<const float*>(part->edges(0).features)[2] == 1);
  CATCH_CHECK(part->edges(1).features == nullptr);

  temp_folder plain;
  CATCH_CHECK(value_of(write_example(plain.path())).digest != info.digest);
  temp_folder others;
  auto changed = cites_features;
  changed.back() = -6;
  CATCH_CHECK(value_of(write_with_features(others.path(), {}, changed)).digest
              != info.digest);
}

CATCH_TEST_CASE("a graph is not reopened with other features of edges",
                "[partition][edge_features]") {
  temp_folder wide;
  temp_folder narrow;
  const auto info = value_of(write_with_features(wide.path()));
  value_of(
    write_with_features(narrow.path(), {}, cites_features, dtype::float16));
  change(narrow / "dataset.json",
         [&](auto& about) { about["digest"] = info.digest; });
  const auto before = value_of(partitioned_graph::open(wide.path()));
  CATCH_CHECK_THAT(error_of(reopen(narrow.path(), before)).message,
                   contains("what is said of its edge types differs"));
}

CATCH_TEST_CASE("features follow edges that are dropped or go both ways",
                "[partition][edge_features]") {
  using enum duplicate_edges;
  CATCH_CHECK(features_with({.drop_self_loops = true})
              == edge_floats{4, 1, 2, 3});
  CATCH_CHECK(features_with({.duplicates = drop}) == edge_floats{4, 1, 2, 5});
  // 0: 1 1 3; 1: 0 2 0 1; 2: 1; 3: 0.
  CATCH_CHECK(features_with({.both_ways = true, .duplicates = keep})
              == edge_floats{1, 3, 4, 1, 2, 3, 5, 2, 4});
  CATCH_CHECK(features_with({.both_ways = true, .duplicates = drop})
              == edge_floats{1, 4, 1, 2, 5, 2, 4});
  temp_folder folder;
  CATCH_CHECK(
    has(error_of(write_with_features(folder.path(),
                                     {.both_ways = true, .duplicates = match}))
          .message,
        "say --duplicates drop to keep those of the first"));
  temp_folder summed;
  CATCH_CHECK(has(
    error_of(write_with_features(summed.path(), {.duplicates = sum})).message,
    "no weights"));
}

CATCH_TEST_CASE("features of edges that cannot be stored are refused",
                "[partition][edge_features]") {
  auto bad = cites_features;
  bad[3] = NAN;
  temp_folder folder;
  CATCH_CHECK(error_of(write_with_features(folder.path(), {}, bad)).message
              == "features of paper__cites__paper: edge 1, column 1 is nan, "
                 "which is not a finite number");
  bad[3] = 70000;
  temp_folder half;
  CATCH_CHECK(
    error_of(write_with_features(half.path(), {}, bad, dtype::float16)).message
    == "features of paper__cites__paper: edge 1, column 1 is 70000, which "
       "float16 cannot hold");
  bad.pop_back();
  temp_folder fewer;
  CATCH_CHECK(has(error_of(write_with_features(fewer.path(), {}, bad)).message,
                  "9 values given; 5 edges of 2 columns have 10"));
}

CATCH_TEST_CASE("damage to features of edges is found",
                "[partition][edge_features]") {
  temp_folder folder;
  value_of(write_with_features(folder.path()));
  const auto at = folder / "edges" / "paper__cites__paper" / "features.npy";
  auto values = list<float>(value_of(npy_array::open(at)));
  values[5] = NAN;
  put_array<float>(at, values, {5, 2});
  const auto broken =
    value_of(inspect_dataset(value_of(dataset::open(folder.path())))).broken;
  CATCH_REQUIRE(broken.size() == 2); // And its digest.
  CATCH_CHECK(has(broken.front(), "features.npy: edge 2, column 1 is nan"));
  put_array<float>(at, {1, 2, 3}, {1, 3});
  CATCH_CHECK_FALSE(dataset::open(folder.path()).has_value());
}

CATCH_TEST_CASE("parts have the features of their edges",
                "[partition][parts][edge_features]") {
  temp_folder folder;
  fs::create_directory(folder / "data");
  value_of(write_with_features(folder / "data"));
  const auto data = value_of(dataset::open(folder / "data"));
  const auto whole = list<float>(*data.edges(0).features);
  for (part_id parts : {1, 2, 4}) {
    CATCH_INFO(parts << " parts");
    const auto at = folder / fmt::format("{}", parts);
    value_of(prepare_partitions(
      data, {.parts = parts, .method = partition_method::random}, at));
    const auto graph = value_of(partitioned_graph::open(at));
    std::size_t edges = 0;
    for (part_id p = 0; p < parts; ++p) {
      const auto part = value_of(graph.open_shard(p));
      const auto& mine = part->edges(0);
      const auto* features = reinterpret_cast<const float*>(mine.features);
      for (std::size_t row = 0; row + 1 < mine.indptr.size(); ++row)
        for (auto e = mine.indptr[row]; e < mine.indptr[row + 1]; ++e, ++edges)
          CATCH_CHECK(
            features[2 * e]
            == whole[static_cast<std::size_t>(
              2 * (mine.original_begin[row] + e - mine.indptr[row]))]);
    }
    CATCH_CHECK(edges == 5);
    std::vector<part_id> all(static_cast<std::size_t>(parts));
    std::iota(all.begin(), all.end(), 0);
    for (const auto& record : value_of(records_in(at, all)))
      value_of(verify(record, {}));
  }
}

CATCH_TEST_CASE("columns of edges become features as those of nodes do",
                "[partition][import][csv][edge_features]") {
  const auto* text = "source,target,amount,kind\na,b,2,x\nb,c,4,y\na,b,6,x\n";
  CATCH_CHECK(has(error_of(imported_csv(text)).message,
                  "take columns as features of edges with --feature"));
  csv_import_options options;
  options.choices = {{csv_role::feature, "amount"}};
  options.ignore = {"kind"};
  const auto numbers = value_of(imported_csv(text, options));
  CATCH_CHECK(list<float>(*numbers.edges(0).features) == edge_floats{2, 6, 4});
  options.changes.normalise = {{"to", row_norm::standardise}};
  const auto scaled = value_of(imported_csv(text, options));
  const auto unit = static_cast<float>(std::sqrt(1.5));
  const auto got = list<float>(*scaled.edges(0).features);
  CATCH_CHECK(std::abs(got[0] + unit) < 1e-6F);
  CATCH_CHECK(got[2] == 0);

  csv_import_options both;
  both.choices = {{csv_role::feature, "e.csv=amount"},
                  {csv_role::feature, "e.csv=kind"}};
  both.features = {
    {"e.csv",
     {{.where = "x",
       .column = "amount",
       .kind = "number",
       .options = {{"scale", {"min-max"}}}},
      {.where = "y", .column = "kind", .kind = "category", .options = {}}}}};
  both.reverse = true;
  const auto made = value_of(imported_csv(text, both));
  CATCH_CHECK(made.info().edge_types[0].feature_width == 4);
  CATCH_CHECK(list<float>(*made.edges(0).features)
              == edge_floats{0, 1, 0, 0, 1, 1, 0, 0, 0.5, 0, 1, 0});
  // a: b b; b: c.
  CATCH_CHECK(list<float>(*made.edges(1).features)
              == edge_floats{0, 1, 0, 0, 1, 1, 0, 0, 0.5, 0, 1, 0});
  CATCH_CHECK(
    has(error_of(imported_csv("source,target,f\na,b,no\n",
                              {.choices = {{csv_role::feature, "f"}}}))
          .message,
        "e.csv:2"));
}

CATCH_TEST_CASE("features are fitted on rows that become edges",
                "[partition][import][csv][edge_features]") {
  temp_folder tables;
  std::ofstream{tables / "n.csv"} << "id\na\nb\nc\n";
  csv_import_options options;
  options.nodes = {{"", tables / "n.csv"}};
  options.choices = {{csv_role::feature, "amount"}};
  options.changes.normalise = {{"to", row_norm::standardise}};
  options.changes.drop_self_loops = true;
  options.changes.duplicates = duplicate_edges::drop;
  options.unknown = unknown_nodes::drop;
  const std::string text = "source,target,amount\nb,b,100\na,b,2\na,z,90\n"
                           "b,c,4\na,b,70\n";
  const auto data = value_of(imported_csv(text, options));
  CATCH_CHECK(list<float>(*data.edges(0).features) == edge_floats{-1, 1});
  options.changes.all_undirected = true;
  const auto both = value_of(imported_csv(text + "c,b,800\n", options));
  CATCH_CHECK(list<float>(*both.edges(0).features)
              == edge_floats{-1, -1, 1, 1});
}

CATCH_TEST_CASE("rows that are left out for their errors are not fitted on",
                "[partition][import][csv][edge_features]") {
  temp_folder source;
  temp_folder out;
  std::ofstream{source / "n.csv"} << "id\na\nb\nc\n";
  std::ofstream{source / "e.csv"}
    << "source,target,amount,weight\na,b,no,1\nz,b,50,1\na,b,2,1\n"
       "c,a,60,-1\nb,c,4,1\n";
  csv_import_options options;
  options.nodes = {{"", source / "n.csv"}};
  options.edges = {{"", source / "e.csv"}};
  options.choices = {{csv_role::feature, "amount"},
                     {csv_role::weight, "weight"}};
  options.changes.normalise = {{"to", row_norm::standardise}};
  CATCH_CHECK(has(error_of(import_csv(options, out.path())).message,
                  "3 errors in 3 rows"));
  options.skip_bad_rows = 3;
  temp_folder skipped;
  value_of(import_csv(options, skipped.path()));
  const auto data = value_of(dataset::open(skipped.path()));
  CATCH_CHECK(list<float>(*data.edges(0).features) == edge_floats{-1, 1});
}

CATCH_TEST_CASE(
  "features are fitted on training edges where a column says them",
  "[partition][import][csv][edge_features]") {
  const auto* text = "source,target,amount,part\na,b,2,train\nb,c,4,train\n"
                     "c,a,100,test\n";
  csv_import_options options;
  options.choices = {{csv_role::feature, "amount"},
                     {csv_role::task_split, "part"}};
  options.changes.normalise = {{"to", row_norm::standardise}};
  options.fit_on_training = true;
  std::string notes;
  options.on_note = [&notes](const std::string& note) { notes += note; };
  // a: c; b: a; c: b.
  const auto data = value_of(imported_csv(text, options));
  CATCH_CHECK(list<float>(*data.edges(0).features) == edge_floats{97, -1, 1});
  CATCH_CHECK_FALSE(has(notes, "fitted on all edges"));

  options.choices.pop_back();
  options.ignore = {"part"};
  const auto all = value_of(imported_csv(text, options));
  CATCH_CHECK(list<float>(*all.edges(0).features)[0] < 2);
  CATCH_CHECK(has(notes, "there are no training edges"));
  options.changes.tasks.emplace_back().split.emplace();
  CATCH_CHECK(has(error_of(imported_csv(text, options)).message,
                  "before --split-edges chooses which edges train"));
  // What needs no fit is no leak.
  options.changes.normalise.clear();
  options.changes.tasks[0].split->fractions = {0.5, 0.25, 0.25};
  CATCH_CHECK(imported_csv(text, options).has_value());
}

CATCH_TEST_CASE("a scale is of a node type or of a whole edge list",
                "[partition][import][csv][edge_features]") {
  const auto* text = "source,target,amount,kind\na,b,2,likes\nb,c,4,hates\n";
  csv_import_options options;
  options.choices = {{csv_role::feature, "amount"},
                     {csv_role::relation, "kind"}};
  for (const auto* name : {"likes", "node__hates__node"}) {
    options.changes.normalise = {{name, row_norm::standardise}};
    CATCH_CHECK(has(error_of(imported_csv(text, options)).message,
                    "say node__to__node to scale the whole list"));
  }
  for (const auto* name : {"to", "node__to__node"}) {
    options.changes.normalise = {{name, row_norm::standardise}};
    const auto data = value_of(imported_csv(text, options));
    CATCH_CHECK(list<float>(*data.edges(0).features) == edge_floats{-1});
    CATCH_CHECK(list<float>(*data.edges(1).features) == edge_floats{1});
  }

  temp_folder tables;
  std::ofstream{tables / "n.csv"} << "id,size\na,2\nb,-3\nc,4\n";
  csv_import_options both;
  both.nodes = {{"node", tables / "n.csv"}};
  both.choices = {{csv_role::feature, "amount"}};
  both.ignore = {"kind"};
  both.changes.normalise = {{"node", row_norm::l2}};
  const auto data = value_of(imported_csv(text, both, "node__node__node"));
  CATCH_CHECK(list<float>(*data.nodes(0).features) == edge_floats{1, -1, 1});
  CATCH_CHECK(list<float>(*data.edges(0).features) == edge_floats{2, 4});
}

CATCH_TEST_CASE("arrays beside edges become their features",
                "[partition][import][npy][edge_features]") {
  temp_folder source;
  put_array<std::int64_t>(source / "edges.npy", {0, 1, 2, 0, 1, 2, 0, 2},
                          {2, 4});
  put_array<double>(source / "edge_attr.npy", {1, 10, 2, 20, 3, 30, 4, 40},
                    {4, 2});
  temp_folder out;
  value_of(import_npy({.source = source.path(), .reverse = true}, out.path()));
  const auto data = value_of(dataset::open(out.path()));
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
  // 0 has 2, 1 has 0, 2 has 1 0.
  CATCH_CHECK(list<float>(*data.edges(0).features)
              == edge_floats{3, 30, 1, 10, 2, 20, 4, 40});
  CATCH_CHECK(list<float>(*data.edges(1).features)
              == edge_floats{1, 10, 4, 40, 2, 20, 3, 30});
  put_array<float>(source / "edge_features.npy", {1, 2, 3, 4});
  temp_folder twice;
  CATCH_CHECK(
    has(error_of(import_npy({.source = source.path()}, twice.path())).message,
        "are both features of the same edges"));
  fs::remove(source / "edge_features.npy");
  put_array<float>(source / "edge_attr.npy", {1, 2, 3});
  temp_folder fewer;
  CATCH_CHECK_FALSE(
    import_npy({.source = source.path()}, fewer.path()).has_value());
}
