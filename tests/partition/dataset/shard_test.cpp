#include "partition/partitioners/partition_dataset.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <filesystem>
#include <fstream>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using ids = std::vector<node_id>;

/// The cycle of six as a plain dataset folder with features and labels.
void write_cycle(const std::filesystem::path& folder) {
  dataset_info info;
  info.name = "cycle";
  node_type_info type;
  type.name = "node";
  type.count = 6;
  type.feature_width = 2;
  type.class_count = 2;
  info.node_types.push_back(type);
  info.edge_types.push_back({0, "next_to", 0});
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  std::vector<float> features;
  for (int i = 0; i < 12; ++i)
    features.push_back(static_cast<float>(i));
  value_of(writer.append_features(0, features));
  value_of(writer.set_labels(0, std::vector<std::int64_t>{0, 1, 0, 1, 0, 1}));
  value_of(writer.set_split(0, split::train, ids{3, 2}));
  for (node_id i = 0; i < 6; ++i)
    value_of(writer.append_edges(0, ids{(i + 5) % 6, (i + 1) % 6}, ids{i, i}));
  value_of(writer.finish());
}

} // namespace

CATCH_TEST_CASE("a plain dataset opens as one part", "[partition][shard]") {
  temp_folder folder;
  write_cycle(folder.path());
  const auto graph = value_of(partitioned_graph::open(folder.path()));
  CATCH_CHECK(graph.part_count() == 1);
  CATCH_CHECK(graph.owner(0, 0) == 0);
  CATCH_CHECK(graph.owner(0, 5) == 0);
  CATCH_CHECK(
    ids(graph.seeds(split::train).begin(), graph.seeds(split::train).end())
    == ids{3, 2});
  CATCH_CHECK(graph.seeds(split::test).empty());
  const std::vector shards{value_of(graph.open_shard(0))};
  CATCH_CHECK(shards[0]->nodes(0).labels[3] == 1);
  CATCH_CHECK(shards[0]->edges(0).in_degrees[3] == 2);
  const auto expected = cycle(6);
  const auto scheme = scheme_of(expected, {-1, -1});
  const auto batch = value_of(sample(graph, shards, scheme, 7, ids{2, 3}));
  CATCH_CHECK(list(batch.nodes[0].ids) == ids{2, 3, 1, 4, 0, 5});
  CATCH_CHECK(list(batch.edges[0].edge_ids) == ids{4, 5, 6, 7, 2, 3, 8, 9});
  std::vector<float> rows(2);
  value_of(gather_features(*shards[0], 0, ids{4}, {}, rows.data()));
  CATCH_CHECK(rows == std::vector<float>{8, 9});
  CATCH_CHECK(error_of(graph.open_shard(1)).code == ec::invalid_argument);
}

CATCH_TEST_CASE("folders that are no graph are refused", "[partition][shard]") {
  temp_folder folder;
  CATCH_CHECK(error_of(partitioned_graph::open(folder.path())).code
              == ec::not_found);
  for (std::string_view text :
       {"", "{", "[]", "{}", R"({"format_version":"1"})",
        R"({"format_version":1,"parts":0})",
        R"({"format_version":1,"parts":2,"dataset":7})"}) {
    CATCH_INFO(text);
    std::ofstream{folder / "partitions.json"} << text;
    CATCH_CHECK(error_of(partitioned_graph::open(folder.path())).code
                == ec::invalid_data);
  }
  const auto nested = std::string(300'000, '[') + std::string(300'000, ']');
  for (const std::string field : {"dataset", "offsets", "part_digests", "x"}) {
    CATCH_INFO(field);
    std::ofstream{folder / "partitions.json"}
      << R"({"format_version":1,"parts":2,")" << field << "\":" << nested
      << "}";
    const auto refused = error_of(partitioned_graph::open(folder.path()));
    CATCH_CHECK(refused.code == ec::invalid_data);
    CATCH_CHECK(has(refused.message, "nested deeper"));
  }
  std::ofstream{folder / "partitions.json"} << R"({"format_version":99})";
  CATCH_CHECK(error_of(partitioned_graph::open(folder.path())).code
              == ec::version_mismatch);
}

namespace {

/// A random graph as a plain dataset folder.
void write_graph(const memory_graph& graph,
                 const std::filesystem::path& folder) {
  dataset_info info;
  info.name = "random";
  info.target = graph.target;
  for (const auto& type : graph.nodes) {
    node_type_info about;
    about.name = type.name;
    about.count = type.count;
    info.node_types.push_back(about);
  }
  info.node_types[graph.target].class_count = 1;
  for (const auto& type : graph.edges)
    info.edge_types.push_back({type.source, type.name, type.destination});
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  const auto targets = graph.nodes[graph.target].count;
  value_of(
    writer.set_labels(graph.target, std::vector<std::int64_t>(targets, 0)));
  value_of(writer.set_split(graph.target, split::train, ids{0}));
  for (std::size_t e = 0; e < graph.edges.size(); ++e)
    for (std::size_t i = 0; i < graph.edges[e].in.size(); ++i) {
      const auto& list = graph.edges[e].in[i];
      value_of(writer.append_edges(static_cast<edge_type_id>(e), list,
                                   ids(list.size(), static_cast<node_id>(i))));
    }
  value_of(writer.finish());
}

/// What a folder opens as, with the ids of the original graph.
cut_graph opened(const std::filesystem::path& folder) {
  auto graph = std::make_shared<const partitioned_graph>(
    value_of(partitioned_graph::open(folder)));
  cut_graph out{graph, {}, {}, {}};
  const auto& types = graph->info().node_types;
  for (const auto& type : types)
    out.to_global.emplace_back(type.count);
  out.original.resize(types.size());
  for (part_id p = 0; p < graph->part_count(); ++p) {
    out.shards.push_back(value_of(graph->open_shard(p)));
    for (std::size_t t = 0; t < types.size(); ++t) {
      const auto& nodes = out.shards.back()->nodes(static_cast<int>(t));
      for (auto id = nodes.begin; id < nodes.end; ++id) {
        out.original[t].push_back(nodes.original(id));
        out.to_global[t][nodes.original(id)] = id;
      }
    }
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("partitions on disk give the same batches",
                "[partition][shard]") {
  for (std::uint64_t seed : {2, 5, 8, 11, 14}) {
    CATCH_INFO("seed " << seed);
    temp_folder folder;
    const auto graph = random_graph(seed);
    std::filesystem::create_directory(folder / "plain");
    write_graph(graph, folder / "plain");
    const auto data = value_of(dataset::open(folder / "plain"));
    std::int64_t nodes = 0;
    for (const auto& type : data.info().node_types)
      nodes += type.count;
    const auto scheme = scheme_of(graph, {4, 3, 2});
    const auto seeds = random_seeds(graph, seed);
    const auto expected = sample_plain(whole(graph), scheme, seed, seeds);
    CATCH_CHECK(sample_plain(opened(folder / "plain"), scheme, seed, seeds)
                == expected);
    for (part_id parts : {1, 3}) {
      const auto at = folder / fmt::format("parts-{}", parts);
      partition_options options;
      options.parts = parts;
      options.method = partition_method::random;
      if (parts > nodes) {
        CATCH_CHECK(error_of(prepare_partitions(data, options, at)).code
                    == ec::invalid_argument);
        continue;
      }
      value_of(prepare_partitions(data, options, at));
      CATCH_CHECK(sample_plain(opened(at), scheme, seed, seeds) == expected);
    }
  }
}

CATCH_TEST_CASE("parts of another graph are refused", "[partition][shard]") {
  temp_folder folder;
  std::filesystem::create_directory(folder / "plain");
  write_cycle(folder / "plain");
  const auto data = value_of(dataset::open(folder / "plain"));
  partition_options options;
  options.method = partition_method::random;
  const auto parts = folder / "parts";
  value_of(prepare_partitions(data, options, parts));
  const auto graph = value_of(partitioned_graph::open(parts));
  std::filesystem::rename(parts / "part-0", parts / "aside");
  CATCH_CHECK(error_of(graph.open_shard(0)).code == ec::not_found);
  std::filesystem::rename(parts / "part-1", parts / "part-0");
  CATCH_CHECK(error_of(graph.open_shard(0)).code == ec::invalid_data);
}

CATCH_TEST_CASE("a map truncated in use does not crash", "[partition][shard]") {
  temp_folder folder;
  memory_graph graph;
  graph.nodes = {{"n", 20000}};
  graph.edges = {{0, "to", 0, {}}};
  for (int i = 0; i < 20000; ++i)
    graph.edges[0].in.push_back(
      {(i + 1) % 20000, (i + 7) % 20000, (i * 3) % 20000});
  write_graph(graph, folder.path());
  const auto cut_up = opened(folder.path());
  const auto edges = folder.path() / "edges" / "n__to__n";
  ids seeds;
  for (node_id i = 0; i < 20000; i += 3)
    seeds.push_back(i);
  for (std::string_view name : {"indices.npy", "indptr.npy"}) {
    std::filesystem::resize_file(edges / name, 9000);
    for (std::int32_t fanout : {2, -1}) {
      // Zeros are read: edges are wrong or missing, but within bounds.
      const auto batch =
        value_of(sample(*cut_up.graph, cut_up.shards,
                        scheme_of(graph, {fanout, fanout}), 7, seeds));
      CATCH_CHECK(batch.nodes[0].ids.size() >= seeds.size());
    }
    CATCH_REQUIRE(mapped_file::first_fault().has_value());
  }
}
