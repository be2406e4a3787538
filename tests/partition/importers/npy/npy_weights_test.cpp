#include "partition/dataset/inspection/inspect.hpp"
#include "partition/importers/npy/npy.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

/// Four edges, 0->1 1->2 2->0 0->2, and what `put` adds.
template <class Put>
result<dataset> import_with(Put put, npy_import_options options = {}) {
  temp_folder source;
  temp_folder out;
  put_array<std::int64_t>(source / "edges.npy", {0, 1, 2, 0, 1, 2, 0, 2},
                          {2, 4});
  put(source.path());
  options.source = source.path();
  GRAPHMILL_TRYV(import_npy(options, out.path()));
  GRAPHMILL_TRY(auto data, dataset::open(out.path()));
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
  return data;
}

/// The weights that are stored of an array of one type, by destination.
template <class T>
std::vector<float> weights_from(const std::vector<T>& values,
                                const char* file = "edge_weight.npy",
                                std::vector<std::int64_t> shape = {}) {
  const auto data = value_of(import_with(
    [&](const fs::path& at) { put_array<T>(at / file, values, shape); }));
  return list<float>(data.edges(0).weighted->weights);
}

template <class T>
std::string array_refused(const std::vector<T>& values,
                          std::vector<std::int64_t> shape = {}) {
  const auto message = error_of(import_with([&](const fs::path& at) {
                         put_array<T>(at / "edge_weight.npy", values, shape);
                       }))
                         .message;
  return message.substr(message.find("edge_weight.npy"));
}

using floats = std::vector<float>;

} // namespace

CATCH_TEST_CASE("weights of edges beside them",
                "[partition][import][npy][weights]") {
  // 0 has 2; 1 has 0; 2 has 1 and 0.
  const floats expected{3, 1, 2, 4};
  CATCH_CHECK(weights_from<float>({1, 2, 3, 4}) == expected);
  CATCH_CHECK(weights_from<double>({1, 2, 3, 4}) == expected);
  CATCH_CHECK(weights_from<std::int64_t>({1, 2, 3, 4}) == expected);
  CATCH_CHECK(weights_from<std::uint8_t>({1, 2, 3, 4}) == expected);
  CATCH_CHECK(weights_from<float>({1, 2, 3, 4}, "edge_weight.npy", {4, 1})
              == expected);
  for (const auto* name : {"edge_weights.npy", "weight.npy", "weights.npy"})
    CATCH_CHECK(weights_from<float>({1, 2, 3, 4}, name) == expected);
  CATCH_CHECK(weights_from<double>({0.1, 0, 0, 0})[1] == 0.1F);
}

CATCH_TEST_CASE("weights of one edge type among several",
                "[partition][import][npy][weights]") {
  temp_folder source;
  temp_folder out;
  put_array<std::int64_t>(source / "a__x__b.edges.npy", {0, 1, 1, 0}, {2, 2});
  put_array<std::int64_t>(source / "a__y__a.edges.npy", {0, 1, 1, 0}, {2, 2});
  put_array<float>(source / "a__x__b.edge_weight.npy", {5, 6});
  value_of(import_npy({.source = source.path(), .reverse = true}, out.path()));
  const auto data = value_of(dataset::open(out.path()));
  const auto& types = data.info().edge_types;
  CATCH_REQUIRE(types.size() == 4);
  CATCH_CHECK(types[0].weighted);
  CATCH_CHECK_FALSE(types[1].weighted);
  CATCH_CHECK(types[2].weighted);
  CATCH_CHECK_FALSE(types[3].weighted);
  CATCH_CHECK(list<float>(data.edges(0).weighted->weights) == floats{6, 5});
  CATCH_CHECK(list<float>(data.edges(2).weighted->weights) == floats{5, 6});

  put_array<float>(source / "edge_weight.npy", {1});
  temp_folder again;
  CATCH_CHECK(
    has(error_of(import_npy({.source = source.path()}, again.path())).message,
        "nothing reads edge_weight.npy (weights of edges, "
        "TYPE.edge_weight.npy, stand beside TYPE.edges.npy)"));
}

CATCH_TEST_CASE("arrays that hold no weights are refused",
                "[partition][import][npy][weights]") {
  CATCH_CHECK(array_refused<float>({1, 2, -1, 4})
              == "edge_weight.npy: element 2: the weight of an edge is -1; a "
                 "finite number that is not negative expected");
  CATCH_CHECK(array_refused<std::int32_t>({1, -2, 1, 4})
              == "edge_weight.npy: element 1: the weight of an edge is -2; a "
                 "finite number that is not negative expected");
  CATCH_CHECK(has(array_refused<double>({1, 2, 3, NAN}),
                  "edge_weight.npy: element 3: the weight of an edge is nan"));
  CATCH_CHECK(array_refused<double>({1e300, 2, 3, 4})
              == "edge_weight.npy: element 0: the weight of an edge is 1e+300, "
                 "which float32 cannot hold; scale the weights");
  CATCH_CHECK(has(array_refused<std::int64_t>({1, 2, 3, (1 << 24) + 1}),
                  "16777217, which float32 would round to 16777216"));
  CATCH_CHECK(has(array_refused<float>({1, 2, 3}), "shape"));
  CATCH_CHECK(
    has(array_refused<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}), "shape"));
  const auto twice = error_of(import_with([](const fs::path& at) {
    put_array<float>(at / "edge_weight.npy", {1, 2, 3, 4});
    put_array<float>(at / "weights.npy", {1, 2, 3, 4});
  }));
  CATCH_CHECK(has(twice.message, "are both weights of the same edges; leave "
                                 "one of them out by name (--ignore "
                                 "weights.npy)"));
  const auto left_out = value_of(import_with(
    [](const fs::path& at) { put_array<float>(at / "edge_weight.npy", {-1}); },
    {.ignore = {"edge_weight"}}));
  CATCH_CHECK_FALSE(left_out.info().edge_types[0].weighted);
}

CATCH_TEST_CASE("weights of pairs in arrays",
                "[partition][import][npy][weights]") {
  npy_import_options both;
  both.changes.all_undirected = true;
  const auto put = [](const floats& weights) {
    return [weights](const fs::path& at) {
      put_array<float>(at / "edge_weight.npy", weights);
    };
  };
  // 0: 1 2; 1: 0 2; 2: 1 0.
  CATCH_CHECK(
    list<float>(
      value_of(import_with(put({1, 2, 3, 3}), both)).edges(0).weighted->weights)
    == floats{1, 3, 1, 2, 2, 3});
  CATCH_CHECK(has(error_of(import_with(put({1, 2, 3, 4}), both)).message,
                  "the edges between node 2 and node 0 have different "
                  "weights, 3 and 4"));
}
