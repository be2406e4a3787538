#include "partition/dataset_writer.hpp"
#include "partition/gather.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/temp_folder.hpp"

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
  const auto plan = plan_of(expected, {-1, -1});
  const auto batch = value_of(sample(graph, shards, plan, 7, ids{2, 3}));
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
  std::ofstream{folder / "partitions.json"} << R"({"format_version":99})";
  CATCH_CHECK(error_of(partitioned_graph::open(folder.path())).code
              == ec::version_mismatch);
}
