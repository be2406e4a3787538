#include "partition/dataset/inspection/inspect.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

/// What is found after `change` has been at the files of the example.
template <class Change>
std::vector<std::string> broken_after(Change change) {
  temp_folder folder;
  value_of(write_example(folder.path()));
  change(folder.path());
  const auto data = value_of(dataset::open(folder.path()));
  return value_of(inspect_dataset(data)).broken;
}

bool any_has(const std::vector<std::string>& sentences,
             const std::string& part) {
  for (const auto& sentence : sentences)
    if (sentence.find(part) != std::string::npos)
      return true;
  return false;
}

template <class T>
void put_npy(const fs::path& path, const std::vector<T>& values) {
  value_of(write_npy<T>(path, values));
}

} // namespace

CATCH_TEST_CASE("an inspection counts", "[partition][inspect]") {
  temp_folder folder;
  value_of(write_example(folder.path()));
  const auto data = value_of(dataset::open(folder.path()));
  const auto found = value_of(inspect_dataset(data));
  CATCH_CHECK(found.broken.empty());
  const auto& papers = found.node_types[0];
  CATCH_CHECK(papers.class_counts == std::vector<std::int64_t>{1, 2});
  CATCH_CHECK(papers.unlabelled == 1);
  CATCH_CHECK(papers.isolated == 0);
  CATCH_CHECK(found.node_types[1].isolated == 1); // author 1
  // cites: in-degrees 1 4 0 0, out-degrees 2 1 1 1.
  const auto& cites = found.edge_types[0];
  CATCH_CHECK(cites.in.least == 0);
  CATCH_CHECK(cites.in.most == 4);
  CATCH_CHECK(cites.in.mean == 1.25);
  CATCH_CHECK(cites.in.without == 2);
  CATCH_CHECK(cites.out.least == 1);
  CATCH_CHECK(cites.out.most == 2);
  CATCH_CHECK(cites.out.without == 0);
}

CATCH_TEST_CASE("percentiles are of nearest rank", "[partition][inspect]") {
  std::vector<std::int32_t> degrees;
  for (std::int32_t i = 1; i <= 200; ++i)
    degrees.push_back(i);
  const auto summary = summarise_degrees(degrees);
  CATCH_CHECK(summary.percentiles
              == std::array<std::int64_t, 5>{2, 20, 100, 180, 198});
  CATCH_CHECK(summary.mean == 100.5);
  CATCH_CHECK(summarise_degrees({7}).percentiles
              == std::array<std::int64_t, 5>{7, 7, 7, 7, 7});
  CATCH_CHECK(summarise_degrees({}).most == 0);
}

CATCH_TEST_CASE("damage is found and named", "[partition][inspect]") {
  using change = void (*)(const fs::path&);
  struct row {
    change apply;
    std::string part;
  };
  const std::vector<row> table{
    {[](const fs::path& at) {
       put_npy<std::int32_t>(at / "edges/paper__cites__paper/indices.npy",
                             {3, 0, 4, -1, 1});
     },
     "indices.npy: edge 2: source 4 does not exist (4 nodes) (and 1 more)"},
    {[](const fs::path& at) {
       put_npy<std::int64_t>(at / "edges/paper__cites__paper/indptr.npy",
                             {0, 4, 3, 5, 5});
     },
     "indptr.npy: the list of node 1 goes from 4 to 3 of 5 edges"},
    {[](const fs::path& at) {
       put_npy<std::int64_t>(at / "edges/paper__cites__paper/indptr.npy",
                             {0, 9, 9, 9, 5});
     },
     "indptr.npy: the list of node 0 goes from 0 to 9 of 5 edges"},
    {[](const fs::path& at) {
       put_npy<std::int64_t>(at / "edges/paper__cites__paper/indptr.npy",
                             {0, 2, 5, 5, 5});
     },
     "in_degrees.npy: node 0 is said to have 1 edges, but has 2"},
    {[](const fs::path& at) {
       put_npy<std::int32_t>(at / "edges/paper__cites__paper/out_degrees.npy",
                             {2, 1, 1, 0});
     },
     "out_degrees.npy: node 3 is said to have 0 edges, but has 1"},
    {[](const fs::path& at) {
       const std::vector<float> values{0, 1, 2, NAN, 4, INFINITY, 6, 7};
       value_of(write_npy_bytes(at / "nodes/paper/features.npy", dtype::float32,
                                {4, 2}, std::as_bytes(std::span{values})));
     },
     "features.npy: node 1, column 1 is nan (and 1 more)"},
    {[](const fs::path& at) {
       put_npy<std::int64_t>(at / "nodes/paper/labels.npy", {0, 1, 7, -5});
     },
     "labels.npy: the label of node 2 is 7; there are 2 classes (and 1 "
     "more)"},
    {[](const fs::path& at) {
       put_npy<std::int64_t>(at / "nodes/paper/train.npy", {3, 4});
     },
     "train.npy: node 4 does not exist (4 nodes)"},
    {[](const fs::path& at) {
       put_npy<std::int64_t>(at / "nodes/paper/train.npy", {3, 2});
     },
     "train.npy: node 2 has no label"},
    {[](const fs::path& at) {
       put_npy<std::int64_t>(at / "nodes/paper/val.npy", {3});
     },
     "val.npy: node 3 is in the train split already"},
    {[](const fs::path& at) {
       put_npy<std::int64_t>(at / "nodes/paper/labels.npy", {0, 1, -1, 0});
     },
     "labels.npy is damaged"},
  };
  for (const auto& [apply, part] : table) {
    const auto broken = broken_after(apply);
    CATCH_INFO("expected: " << part);
    for (const auto& sentence : broken)
      CATCH_UNSCOPED_INFO(sentence);
    CATCH_CHECK(any_has(broken, part));
  }
}

CATCH_TEST_CASE("a part has sources of the whole", "[partition][inspect]") {
  temp_folder folder;
  value_of(write_example(folder.path()));
  put_npy<std::int32_t>(
    folder / "edges" / "paper__cites__paper" / "indices.npy", {3, 0, 9, 0, 1});
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(value_of(inspect_dataset(data, {.whole_counts = {10, 3}})).broken
              == std::vector<std::string>{});
  CATCH_CHECK(
    value_of(inspect_dataset(data, {.whole_counts = {9, 3}})).broken.size()
    == 1);
}

CATCH_TEST_CASE("an array truncated meanwhile is an error",
                "[partition][inspect]") {
  temp_folder folder;
  const auto code = code_of_child([&] {
    dataset_info info;
    info.node_types = {{.name = "n", .count = 10000, .feature_width = 4}};
    auto writer = value_of(dataset_writer::create(folder.path(), info, {}));
    value_of(writer.append_features(0, std::vector<float>(40000)));
    value_of(writer.finish());
    const auto data = value_of(dataset::open(folder.path()));
    const auto features = folder / "nodes" / "n" / "features.npy";
    fs::resize_file(features, 5000);
    const auto found = inspect_dataset(data);
    if (found || found.error().code != ec::io)
      return 1;
    return found.error().message.find(features.string()) == std::string::npos
             ? 2
             : 0;
  });
  CATCH_CHECK(code == 0);
}
