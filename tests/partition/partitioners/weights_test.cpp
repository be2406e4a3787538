#include "messages/base/random.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <array>
#include <numeric>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

/// Two edge types over nodes of two types, one of which has weights.
dataset write_half_weighted(const fs::path& folder, std::uint64_t seed) {
  fs::create_directory(folder);
  dataset_info info;
  info.name = "half";
  info.node_types = {{.name = "a", .count = 120}, {.name = "b", .count = 70}};
  info.edge_types = {{.source = 0, .name = "x", .destination = 0},
                     {.source = 0, .name = "y", .destination = 1}};
  info.edge_types[1].weighted = true;
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  random_stream draws{seed, 0};
  for (edge_type_id type : {0, 1}) {
    std::vector<node_id> from;
    std::vector<node_id> to;
    std::vector<float> weights;
    for (int i = 0; i < 700; ++i) {
      from.push_back(draws.below(120));
      to.push_back(draws.below(type == 0 ? 120 : 65));
      if (type == 1)
        weights.push_back(static_cast<float>(draws.below(100)) / 3);
    }
    value_of(writer.append_edges(type, from, to, weights));
  }
  value_of(writer.finish());
  return value_of(dataset::open(folder));
}

template <class T>
std::span<const T> values_in(const npy_array& array) {
  return value_of(array.as<T>());
}

/// Each row of a part is that of the original node.
void check_weights(const dataset& data, const partitioned_graph& graph) {
  const auto& whole = *data.edges(1).weighted;
  const auto weights = values_in<float>(whole.weights);
  const auto in_weights = values_in<float>(whole.in_weights);
  const auto out_weights = values_in<float>(whole.out_weights);
  std::size_t edges = 0;
  for (part_id p = 0; p < graph.part_count(); ++p) {
    const auto part = value_of(graph.open_shard(p));
    CATCH_CHECK(part->edges(0).weights.empty());
    const auto& mine = part->edges(1);
    CATCH_REQUIRE(std::ssize(mine.weights) == mine.indices.size);
    edges += mine.weights.size();
    for (std::size_t row = 0; row + 1 < mine.indptr.size(); ++row) {
      CATCH_REQUIRE(mine.in_weights[row]
                    == in_weights[part->nodes(1).original_ids[row]]);
      for (auto e = mine.indptr[row]; e < mine.indptr[row + 1]; ++e)
        CATCH_REQUIRE(
          mine.weights[e]
          == weights[mine.original_begin[row] + e - mine.indptr[row]]);
    }
    for (std::size_t row = 0; row < mine.out_weights.size(); ++row)
      CATCH_REQUIRE(mine.out_weights[row]
                    == out_weights[part->nodes(0).original_ids[row]]);
  }
  CATCH_CHECK(edges == weights.size());
}

} // namespace

CATCH_TEST_CASE("parts have the weights of their edges",
                "[partition][parts][weights]") {
  constexpr std::uint64_t seed = 5;
  CATCH_INFO("seed " << seed);
  temp_folder folder;
  const auto data = write_half_weighted(folder / "data", seed);
  for (auto method : {partition_method::metis, partition_method::ldg,
                      partition_method::random})
    for (part_id parts : {1, 3, 70}) {
      CATCH_INFO(parts << " parts by " << to_string(method));
      const auto at = folder / fmt::format("{}-{}", to_string(method), parts);
      value_of(
        prepare_partitions(data, {.parts = parts, .method = method}, at));
      const auto graph = value_of(partitioned_graph::open(at));
      CATCH_CHECK(graph.info().format_version == 5);
      CATCH_CHECK(graph.info().edge_types[1].weighted);
      check_weights(data, graph);
      std::vector<part_id> all(static_cast<std::size_t>(parts));
      std::iota(all.begin(), all.end(), 0);
      for (const auto& record : value_of(records_in(at, all)))
        value_of(verify(record, {}));
      for (auto p : all) {
        const auto part =
          value_of(dataset::open(at / fmt::format("part-{}", p)));
        const auto found = value_of(
          inspect_dataset(part, {.whole_counts = {120, 70}, .records = {}}));
        CATCH_CHECK(found.broken.empty());
        CATCH_CHECK(found.edge_types[1].weights.has_value());
      }
    }
}

CATCH_TEST_CASE("weights change no cut", "[partition][parts][weights]") {
  temp_folder folder;
  const auto data = write_half_weighted(folder / "data", 6);
  auto info = data.info();
  info.edge_types[1].weighted = false;
  partition_options options;
  options.parts = 3;
  value_of(prepare_partitions(data, options, folder / "weighted"));
  info.digest.clear();
  const auto counts = [](const partitioned_graph& graph) {
    std::vector<node_id> out;
    for (part_id p = 0; p < graph.part_count(); ++p) {
      const auto part = value_of(graph.open_shard(p));
      for (node_type_id t : {0, 1})
        out.insert(out.end(), part->nodes(t).original_ids.begin(),
                   part->nodes(t).original_ids.end());
    }
    return out;
  };
  fs::copy(folder / "data", folder / "plain", fs::copy_options::recursive);
  value_of(write_dataset_info(folder / "plain", info));
  value_of(prepare_partitions(value_of(dataset::open(folder / "plain")),
                              options, folder / "cut"));
  CATCH_CHECK(counts(value_of(partitioned_graph::open(folder / "weighted")))
              == counts(value_of(partitioned_graph::open(folder / "cut"))));
}

CATCH_TEST_CASE("a part whose edges have lost their weights is refused",
                "[partition][parts][weights]") {
  temp_folder folder;
  const auto data = write_half_weighted(folder / "data", 7);
  value_of(prepare_partitions(
    data, {.parts = 2, .method = partition_method::random}, folder / "parts"));
  const auto graph = value_of(partitioned_graph::open(folder / "parts"));
  const auto at = folder / "parts" / "part-1";
  auto info = value_of(read_dataset_info(at));
  info.edge_types[1].weighted = false;
  value_of(write_dataset_info(at, info));
  CATCH_CHECK(error_of(graph.open_shard(1)).message.find("edge type 1 differs")
              != std::string::npos);
}
