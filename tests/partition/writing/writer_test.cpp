#include "partition/files/half.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

/// Changes the declaration, or what is given to the writer, in one point.
struct variant {
  dataset_info info = example_info();
  std::vector<float> features{example_features.begin(), example_features.end()};
  std::vector<std::int64_t> labels{example_labels.begin(),
                                   example_labels.end()};
  std::array<std::vector<node_id>, 3> splits{
    std::vector<node_id>{3, 0}, {1}, {}};
  std::vector<node_id> sources{cites_sources.begin(), cites_sources.end()};
  std::vector<node_id> destinations{cites_destinations.begin(),
                                    cites_destinations.end()};

  result<dataset_info> write(const fs::path& folder) const {
    GRAPHMILL_TRY(auto writer, dataset_writer::create(folder, info, {}));
    GRAPHMILL_TRYV(writer.append_features(0, features));
    if (!labels.empty()) {
      GRAPHMILL_TRYV(writer.set_labels(0, labels));
    }
    for (auto which : all_splits) {
      GRAPHMILL_TRYV(
        writer.set_split(0, which, splits[static_cast<std::size_t>(which)]));
    }
    GRAPHMILL_TRYV(writer.append_edges(0, sources, destinations));
    return writer.finish();
  }
};

template <class Change>
std::string writing_error_after(Change change) {
  temp_folder folder;
  variant changed;
  change(changed);
  const auto written = changed.write(folder.path());
  CATCH_CHECK_FALSE(fs::exists(folder / "dataset.json"));
  return error_of(written).message;
}

} // namespace

CATCH_TEST_CASE("the unchanged example is written", "[partition][writer]") {
  temp_folder folder;
  value_of(variant{}.write(folder.path()));
}

CATCH_TEST_CASE("wrong input is named", "[partition][writer]") {
  using change = void (*)(variant&);
  struct row {
    change apply;
    std::string expected;
  };
  const std::vector<row> table{
    {[](variant& v) { v.sources[2] = 99999; },
     "edge 2 of paper__cites__paper: source 99999 does not exist (4 nodes)"},
    {[](variant& v) { v.destinations[4] = -1; },
     "edge 4 of paper__cites__paper: destination -1 does not exist (4 "
     "nodes)"},
    {[](variant& v) { v.features[5] = NAN; },
     "features of paper: node 2, column 1 is nan, which is not a finite "
     "number"},
    {[](variant& v) { v.features[7] = -INFINITY; },
     "features of paper: node 3, column 1 is -inf, which is not a finite "
     "number"},
    {[](variant& v) {
       v.info.node_types[0].feature_type = dtype::float16;
       v.features[0] = 70000;
     },
     "features of paper: node 0, column 0 is 70000, which float16 cannot "
     "hold"},
    {[](variant& v) { v.features.pop_back(); },
     "features of paper: 7 values given; 4 nodes of 2 columns have 8"},
    {[](variant& v) { v.features.push_back(1); },
     "features of paper: more values given than 4 nodes of 2 columns have"},
    {[](variant& v) { v.info.node_types[0].feature_width = 0; },
     "features given for paper, whose feature width is 0"},
    {[](variant& v) { v.labels[1] = 2; },
     "label of paper node 1 is 2; 0 to 1 expected, or -1 for none"},
    {[](variant& v) { v.labels[1] = -2; },
     "label of paper node 1 is -2; 0 to 1 expected, or -1 for none"},
    {[](variant& v) { v.labels.pop_back(); },
     "3 labels given for the 4 nodes of paper"},
    {[](variant& v) { v.labels.clear(); },
     "paper has 2 classes, but no labels were given"},
    {[](variant& v) { v.splits = {}; },
     "no split of paper has a node; there would be nothing to train on: say "
     "shares such as --split 0.8,0.1,0.1, or give the training nodes"},
    {[](variant& v) { v.splits[2] = {4}; },
     "test split of paper: seed 0 is node 4, which does not exist (4 "
     "nodes)"},
    {[](variant& v) {
       v.splits[1] = {1, 2};
     },
     "val split of paper: seed 1 is node 2, which has no label"},
    {[](variant& v) {
       v.splits[0] = {3, 0, 3};
     },
     "train split of paper: seed 2 is node 3, which is in the train split "
     "already"},
    {[](variant& v) { v.splits[2] = {0}; },
     "test split of paper: seed 0 is node 0, which is in the train split "
     "already"},
  };
  for (const auto& [apply, expected] : table)
    CATCH_CHECK(writing_error_after(apply) == expected);
}

CATCH_TEST_CASE("wrong declarations are refused", "[partition][writer]") {
  using change = void (*)(variant&);
  struct row {
    change apply;
    std::string part;
  };
  const std::vector<row> table{
    {[](variant& v) { v.info.node_types[1].name = "../evil"; },
     "\"../evil\" cannot name a type"},
    {[](variant& v) { v.info.node_types[1].name = ".."; }, "cannot name"},
    {[](variant& v) { v.info.node_types[1].name = "a__b"; }, "cannot name"},
    {[](variant& v) { v.info.node_types[1].name = "a_"; }, "cannot name"},
    {[](variant& v) { v.info.node_types[1].name = ""; }, "cannot name"},
    {[](variant& v) { v.info.edge_types[1].name = "a/b"; }, "cannot name"},
    {[](variant& v) { v.info.edge_types[1].name = std::string(200, 'x'); },
     "cannot name"},
    {[](variant& v) { v.info.node_types[1].name = "paper"; }, "twice"},
    {[](variant& v) { v.info.edge_types[1] = v.info.edge_types[0]; }, "twice"},
    {[](variant& v) { v.info.edge_types[1].source = 2; }, "node type 2"},
    {[](variant& v) { v.info.edge_types[1].destination = -1; }, "node type -1"},
    {[](variant& v) { v.info.target = 7; }, "target"},
    {[](variant& v) { v.info.node_types[1].count = -1; },
     "author has -1 nodes"},
    {[](variant& v) { v.info.node_types[0].class_names.push_back("c"); },
     "2 classes, but 3 names"},
    {[](variant& v) {
       v.info.node_types[0].class_names = {"b", "b"};
     },
     "two classes of paper are called \"b\""},
    {[](variant& v) { v.info.node_types[0].feature_type = dtype::int64; },
     "features of paper are int64"},
    {[](variant& v) { v.info.node_types.clear(); }, "0 node types"},
  };
  for (const auto& [apply, part] : table) {
    const auto message = writing_error_after(apply);
    CATCH_INFO(message << "\nexpected: " << part);
    CATCH_CHECK(message.find(part) != std::string::npos);
  }
}

CATCH_TEST_CASE("the digest tells contents apart", "[partition][writer]") {
  const auto digest_after = [](auto change) {
    temp_folder folder;
    variant changed;
    change(changed);
    return value_of(changed.write(folder.path())).digest;
  };
  const auto plain = digest_after([](variant&) {});
  CATCH_CHECK(
    plain == digest_after([](variant& v) { v.info.provenance = "elsewhere"; }));
  CATCH_CHECK(plain != digest_after([](variant& v) { v.features[7] = 8; }));
  CATCH_CHECK(plain != digest_after([](variant& v) { v.labels[2] = 0; }));
  CATCH_CHECK(plain != digest_after([](variant& v) { v.splits[0] = {0, 3}; }));
  CATCH_CHECK(plain != digest_after([](variant& v) {
                std::swap(v.sources[0], v.sources[1]);
              }));
  CATCH_CHECK(plain != digest_after([](variant& v) {
                v.info.node_types[1].name = "person";
              }));
  CATCH_CHECK(plain != digest_after([](variant& v) { v.info.target = 1; }));
}

CATCH_TEST_CASE("float16 features are rounded", "[partition][writer]") {
  temp_folder folder;
  variant half;
  half.info.node_types[0].feature_type = dtype::float16;
  half.features[3] = 0.1f;
  value_of(half.write(folder.path()));
  const auto data = value_of(dataset::open(folder.path()));
  const auto& features = *data.nodes(0).features;
  CATCH_CHECK(features.type() == dtype::float16);
  const auto* bits = reinterpret_cast<const std::uint16_t*>(features.data());
  for (std::size_t i = 0; i < half.features.size(); ++i)
    CATCH_CHECK(from_half(bits[i]) == from_half(to_half(half.features[i])));
}

CATCH_TEST_CASE("a type may lack nodes, edges and everything else",
                "[partition][writer]") {
  temp_folder folder;
  dataset_info info;
  info.node_types = {{.name = "nothing", .feature_width = 3}};
  info.edge_types = {{.name = "none"}};
  auto writer = value_of(dataset_writer::create(folder.path(), info, {}));
  value_of(writer.finish());
  CATCH_CHECK_FALSE(writer.finish().has_value());
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(data.edges(0).indptr.size() == 1);
  CATCH_CHECK(data.edges(0).indices.size() == 0);
}

// A stable sort by destination is the definition; memory only for few edges
// deals them out to files first.
CATCH_TEST_CASE("any memory gives the same order of edges",
                "[partition][writer]") {
  constexpr std::uint32_t seed = 7;
  CATCH_INFO("seed " << seed);
  std::mt19937 random{seed};
  for (std::uint64_t memory : {1ull << 30, 4096ull, 400ull, 4ull, 0ull}) {
    constexpr std::int64_t nodes = 50;
    std::vector<std::vector<node_id>> lists(nodes);
    dataset_info info;
    info.node_types = {{.name = "n", .count = nodes}};
    info.edge_types = {{.name = "e"}};
    temp_folder folder;
    auto writer = value_of(
      dataset_writer::create(folder.path(), info, {.memory_bytes = memory}));
    for (int block = 0; block < 20; ++block) {
      std::vector<node_id> sources;
      std::vector<node_id> destinations;
      for (int i = 0; i < 100; ++i) {
        sources.push_back(random() % nodes);
        // Every third edge ends at a hub, and some nodes have none.
        destinations.push_back(random() % 3 == 0 ? 17 : random() % 40);
        lists[destinations.back()].push_back(sources.back());
      }
      value_of(writer.append_edges(0, sources, destinations));
    }
    value_of(writer.finish());
    const auto data = value_of(dataset::open(folder.path()));
    const auto indptr = value_of(data.edges(0).indptr.as<std::int64_t>());
    const auto indices = value_of(data.edges(0).indices.as<std::int32_t>());
    std::vector<std::int64_t> out(nodes);
    for (std::size_t d = 0; d < nodes; ++d) {
      const std::vector<node_id> got(indices.begin() + indptr[d],
                                     indices.begin() + indptr[d + 1]);
      CATCH_CHECK(got == lists[d]);
    }
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator{folder.path()})
      files += entry.is_regular_file() ? 1 : 0;
    CATCH_CHECK(files == 5); // four arrays and dataset.json, no spools
  }
}
