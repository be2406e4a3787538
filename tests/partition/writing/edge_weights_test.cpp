#include "messages/base/random.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/shard.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

using floats = std::vector<float>;

constexpr std::array<float, 5> cites_weights{1, 2, 3, 4, 5};

/// The example, whose citations have weights and whose other edges have none.
result<dataset_info>
write_weighted(const fs::path& folder, edge_rules rules = {},
               std::span<const float> weights = cites_weights) {
  auto info = example_info();
  info.edge_types[0].weighted = true;
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, info, {.edges = {rules}}));
  GRAPHMILL_TRYV(
    writer.append_edges(0, cites_sources, cites_destinations, weights));
  GRAPHMILL_TRYV(append_example_nodes(writer));
  GRAPHMILL_TRYV(writer.append_edges(1, by_sources, by_destinations));
  return writer.finish();
}

/// The weights that these rules leave, in list order.
floats weights_with(edge_rules rules,
                    std::span<const float> weights = cites_weights) {
  temp_folder folder;
  value_of(write_weighted(folder.path(), rules, weights));
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
  return list<float>(data.edges(0).weighted->weights);
}

/// What is wrong with the weighted example after `change` was at its folder.
template <class Change>
std::vector<std::string> weights_broken_after(Change change) {
  temp_folder folder;
  value_of(write_weighted(folder.path()));
  change(folder / "edges" / "paper__cites__paper");
  const auto data = value_of(dataset::open(folder.path()));
  return value_of(inspect_dataset(data)).broken;
}

} // namespace

CATCH_TEST_CASE("weights lie in the order of edges, and are added up",
                "[partition][weights]") {
  temp_folder folder;
  const auto info = value_of(write_weighted(folder.path()));
  CATCH_CHECK(format_version_of(info) == 5);
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(data.info().format_version == 5);
  CATCH_CHECK(data.info().edge_types[0].weighted);
  CATCH_CHECK_FALSE(data.info().edge_types[1].weighted);
  CATCH_CHECK_FALSE(data.edges(1).weighted.has_value());
  // cites: 0->1 2->1 0->1 3->0 1->1, so 1 has in order 0 2 0 1.
  const auto& cites = *data.edges(0).weighted;
  CATCH_CHECK(list<float>(cites.weights) == floats{4, 1, 2, 3, 5});
  CATCH_CHECK(list<float>(cites.in_weights) == floats{4, 11, 0, 0});
  CATCH_CHECK(list<float>(cites.out_weights) == floats{4, 5, 2, 4});
  CATCH_CHECK(unused_arrays(data).empty());

  const auto graph = value_of(partitioned_graph::open(folder.path()));
  const auto part = value_of(graph.open_shard(0));
  const auto& edges = part->edges(0);
  CATCH_CHECK(floats(edges.weights.begin(), edges.weights.end())
              == floats{4, 1, 2, 3, 5});
  CATCH_CHECK(edges.in_weights[1] == 11);
  CATCH_CHECK(edges.out_weights[3] == 4);
  CATCH_CHECK(part->edges(1).weights.empty());
  CATCH_CHECK(part->edges(1).in_weights.empty());
  CATCH_CHECK(part->edges(1).out_weights.empty());
}

CATCH_TEST_CASE("a dataset without weights is as it was",
                "[partition][weights]") {
  temp_folder folder;
  CATCH_CHECK(format_version_of(value_of(write_example(folder.path()))) == 1);
  const auto text = content_of(folder / "dataset.json");
  CATCH_CHECK(has(text, "\"format_version\": 1"));
  CATCH_CHECK_FALSE(has(text, "weights"));
  temp_folder weighted;
  const auto info = value_of(write_weighted(weighted.path()));
  CATCH_CHECK(info.digest
              != value_of(dataset::open(folder.path())).info().digest);
  temp_folder others;
  constexpr std::array<float, 5> other{1, 2, 3, 4, 6};
  CATCH_CHECK(value_of(write_weighted(others.path(), {}, other)).digest
              != info.digest);
}

CATCH_TEST_CASE("sums of weights are rounded once", "[partition][weights]") {
  temp_folder folder;
  // In float32, 2^24 + 1 is 2^24 again.
  constexpr std::array<float, 5> weights{16777216, 1, 0, 0, 1};
  value_of(write_weighted(folder.path(), {}, weights));
  const auto data = value_of(dataset::open(folder.path()));
  CATCH_CHECK(list<float>(data.edges(0).weighted->in_weights)
              == floats{0, 16777218, 0, 0});
}

CATCH_TEST_CASE("weights of edges with the same ends", "[partition][weights]") {
  using enum duplicate_edges;
  CATCH_CHECK(weights_with({.duplicates = keep}) == floats{4, 1, 2, 3, 5});
  CATCH_CHECK(weights_with({.duplicates = drop}) == floats{4, 1, 2, 5});
  CATCH_CHECK(weights_with({.duplicates = sum}) == floats{4, 4, 2, 5});
  constexpr std::array<float, 5> same{3, 2, 3, 4, 5};
  CATCH_CHECK(weights_with({.duplicates = match}, same) == floats{4, 3, 2, 5});
  CATCH_CHECK(weights_with({.drop_self_loops = true}) == floats{4, 1, 2, 3});
  temp_folder folder;
  const auto refused =
    error_of(write_weighted(folder.path(), {.duplicates = match}));
  CATCH_CHECK(refused.message
              == "the edges between node 0 and node 1 have different weights, "
                 "1 and 3: say --duplicates sum to add them up, or "
                 "--duplicates drop to keep the first");
}

CATCH_TEST_CASE("both directions of a pair weigh the same",
                "[partition][weights]") {
  using enum duplicate_edges;
  // 0-1 twice, 2-1, 3-0, and a self-loop of 1.
  constexpr std::array<float, 5> same{3, 2, 3, 4, 5};
  // 0: 1 3; 1: 0 2 1; 2: 1; 3: 0.
  CATCH_CHECK(weights_with({.both_ways = true, .duplicates = match}, same)
              == floats{3, 4, 3, 2, 5, 2, 4});
  CATCH_CHECK(weights_with({.both_ways = true, .duplicates = sum})
              == floats{4, 4, 4, 2, 5, 2, 4});
  CATCH_CHECK(weights_with({.both_ways = true, .duplicates = drop})
              == floats{1, 4, 1, 2, 5, 2, 4});
}

CATCH_TEST_CASE("what is no weight is refused", "[partition][weights]") {
  for (float wrong : {-1.0F, -1e-30F, std::numeric_limits<float>::quiet_NaN(),
                      std::numeric_limits<float>::infinity()}) {
    CATCH_INFO(wrong);
    temp_folder folder;
    const std::array<float, 5> weights{1, 2, wrong, 4, 5};
    const auto refused =
      error_of(write_weighted(folder.path(), {}, weights)).message;
    CATCH_CHECK(has(refused, "edge 2 of paper__cites__paper: the weight of an "
                             "edge is "));
    CATCH_CHECK(
      has(refused, "; a finite number that is not negative expected"));
  }
  constexpr std::array<float, 5> huge{3e38F, 3e38F, 1, 1, 1};
  temp_folder folder;
  CATCH_CHECK(has(error_of(write_weighted(folder.path(), {}, huge)).message,
                  "paper__cites__paper: the weights add up to 6"));
  temp_folder summed;
  CATCH_CHECK(has(
    error_of(write_weighted(summed.path(), {.duplicates = duplicate_edges::sum},
                            std::array<float, 5>{3e38F, 0, 3e38F, 1, 1}))
      .message,
    "weights.npy: the weights add up to 6"));
  // -0 is 0, in every bit.
  const auto zeros = weights_with({}, std::array<float, 5>{-0.0F, 0, 0, 0, 0});
  CATCH_CHECK_FALSE(std::signbit(zeros[1]));

  temp_folder without;
  CATCH_CHECK(error_of(dataset_writer::create(
                         without.path(), example_info(),
                         {.edges = {{.duplicates = duplicate_edges::sum}}}))
                .message
              == "--duplicates sum: the edges of paper__cites__paper have no "
                 "weights that could be added up; keep or drop them");
}

CATCH_TEST_CASE("all three arrays of weights must be there",
                "[partition][weights]") {
  for (const auto* name :
       {"weights.npy", "in_weights.npy", "out_weights.npy"}) {
    CATCH_INFO(name);
    temp_folder folder;
    value_of(write_weighted(folder.path()));
    const auto path = folder / "edges" / "paper__cites__paper" / name;
    value_of(write_npy<float>(path, floats{1, 2}));
    CATCH_CHECK(has(error_of(dataset::open(folder.path())).message, name));
    value_of(write_npy<double>(path, std::vector<double>(5)));
    CATCH_CHECK(has(error_of(dataset::open(folder.path())).message, name));
    fs::remove(path);
    CATCH_CHECK(has(error_of(dataset::open(folder.path())).message, name));
  }
  temp_folder folder;
  value_of(write_example(folder.path()));
  value_of(write_npy<float>(
    folder / "edges" / "paper__cites__paper" / "weights.npy", floats{1}));
  CATCH_CHECK(
    unused_arrays(value_of(dataset::open(folder.path())))
    == std::vector<std::string>{"edges/paper__cites__paper/weights.npy"});
}

CATCH_TEST_CASE("dataset.json says true or false of weights",
                "[partition][weights]") {
  const auto text = [](const char* weights) {
    return fmt::format(
      R"({{"format_version": 5, "target": "n",
           "node_types": [{{"name": "n", "count": 1}}],
           "edge_types": [{{"source": "n", "name": "e", "destination": "n",
                            "count": 0, "max_in_degree": 0, "weights": {}}}]}})",
      weights);
  };
  CATCH_CHECK(
    value_of(parse_dataset_info(text("true"), "x")).edge_types[0].weighted);
  CATCH_CHECK_FALSE(
    value_of(parse_dataset_info(text("false"), "x")).edge_types[0].weighted);
  for (const auto* wrong : {"1", "\"yes\"", "null", "[]"})
    CATCH_CHECK(has(error_of(parse_dataset_info(text(wrong), "x")).message,
                    "\"weights\" should be true or false"));
}

CATCH_TEST_CASE("an inspection sums up weights and finds broken ones",
                "[partition][weights][inspect]") {
  temp_folder folder;
  value_of(
    write_weighted(folder.path(), {}, std::array<float, 5>{0, 2, 6, 0, 2}));
  const auto found =
    value_of(inspect_dataset(value_of(dataset::open(folder.path()))));
  CATCH_CHECK(found.broken.empty());
  CATCH_REQUIRE(found.edge_types[0].weights.has_value());
  CATCH_CHECK(found.edge_types[0].weights->least == 0);
  CATCH_CHECK(found.edge_types[0].weights->most == 6);
  CATCH_CHECK(found.edge_types[0].weights->mean == 2);
  CATCH_CHECK(found.edge_types[0].weights->zeros == 2);
  CATCH_CHECK_FALSE(found.edge_types[1].weights.has_value());

  const auto first_after = [](const char* name, const floats& values) {
    const auto broken = weights_broken_after([&](const fs::path& edges) {
      value_of(write_npy<float>(edges / name, values));
    });
    CATCH_CHECK(broken.size() > 1); // The digest is wrong, too.
    return broken.front();
  };
  CATCH_CHECK(has(first_after("weights.npy", {4, 1, -2, 3, 5}),
                  "weights.npy: the weight of edge 2 is -2; a finite number "
                  "that is not negative expected"));
  CATCH_CHECK(has(first_after("weights.npy", {4, NAN, NAN, 3, 5}),
                  "weights.npy: the weight of edge 1 is nan; a finite number "
                  "that is not negative expected (and 1 more)"));
  CATCH_CHECK(has(first_after("in_weights.npy", {4, 12, 0, 0}),
                  "in_weights.npy: the weights of the edges of node 1 are said "
                  "to add up to 12, but add up to 11"));
  CATCH_CHECK(has(first_after("out_weights.npy", {4, 5, INFINITY, 4}),
                  "out_weights.npy: the weights of the edges of node 2 are "
                  "said to add up to inf"));
}

CATCH_TEST_CASE("weights count as what a graph is", "[partition][weights]") {
  temp_folder folder;
  value_of(write_weighted(folder.path()));
  const auto whole = value_of(partitioned_graph::open(folder.path()));
  CATCH_CHECK(value_of(reopen(folder.path(), whole))->info().digest
              == whole.info().digest);
  auto about = value_of(read_dataset_info(folder.path()));
  about.edge_types[0].weighted = false;
  value_of(write_dataset_info(folder.path(), about));
  CATCH_CHECK(has(error_of(reopen(folder.path(), whole)).message,
                  "what is said of its edge types differs"));
}

// Edges are sorted in memory if it holds them; else they are dealt out to files
// first, and lists that are too long are copied.
CATCH_TEST_CASE("any memory gives the same weights", "[partition][weights]") {
  using enum duplicate_edges;
  constexpr std::uint64_t seed = 11;
  CATCH_INFO("seed " << seed);
  constexpr std::int64_t nodes = 40;
  random_stream draws{seed, 0};
  std::vector<node_id> sources;
  std::vector<node_id> destinations;
  floats weights;
  for (int i = 0; i < 2000; ++i) {
    sources.push_back(draws.below(nodes));
    // Every third edge ends at a hub, and some nodes have none.
    destinations.push_back(draws.below(3) == 0 ? 17 : draws.below(30));
    weights.push_back(static_cast<float>(draws.below(1000)) / 7);
  }
  for (auto rule : {keep, drop, sum}) {
    // By destination, then in the order of first occurrence.
    std::vector<std::vector<std::pair<node_id, double>>> lists(nodes);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      auto& in = lists[destinations[i]];
      const auto at =
        std::ranges::find(in, sources[i], &std::pair<node_id, double>::first);
      if (rule == keep || at == in.end())
        in.emplace_back(sources[i], weights[i]);
      else if (rule == sum)
        at->second += weights[i];
    }
    floats expected;
    for (const auto& in : lists)
      for (const auto& [from, weight] : in)
        expected.push_back(static_cast<float>(weight));
    for (std::uint64_t memory : {1ull << 30, 4096ull, 400ull, 4ull, 0ull}) {
      CATCH_INFO("rule " << static_cast<int>(rule) << ", " << memory
                         << " bytes");
      dataset_info info;
      info.node_types = {{.name = "n", .count = nodes}};
      info.edge_types = {{.name = "e"}};
      info.edge_types[0].weighted = true;
      temp_folder folder;
      auto writer = value_of(dataset_writer::create(
        folder.path(), info,
        {.memory_bytes = memory, .edges = {{.duplicates = rule}}}));
      value_of(writer.append_edges(0, sources, destinations, weights));
      value_of(writer.finish());
      const auto data = value_of(dataset::open(folder.path()));
      CATCH_CHECK(list<float>(data.edges(0).weighted->weights) == expected);
      CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
    }
  }
}
