#include "messages/base/random.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "partition/files/file_io.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <vector>

namespace graphmill::test::parts_with_times {

CATCH_TEST_CASE("parts have the times of their edges, and the graph of nodes",
                "[partition][times]") {
  const auto parts = GENERATE(1, 2, 5);
  temp_folder folder;
  const auto source = folder / "whole";
  std::filesystem::create_directory(source);
  dataset_info info;
  info.name = "people";
  info.node_types = {{.name = "person", .count = 40, .timed = true}};
  info.edge_types = {
    {.source = 0, .name = "likes", .destination = 0, .timed = true}};
  auto writer = value_of(dataset_writer::create(source, info, {}));
  random_stream draws{17, 0};
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  std::vector<std::int64_t> times;
  for (int i = 0; i < 300; ++i) {
    from.push_back(draws.below(40));
    to.push_back(draws.below(40));
    times.push_back(draws.below(50));
  }
  value_of(writer.append_edges(0, from, to));
  value_of(writer.append_edge_times(0, times));
  std::vector<std::int64_t> born;
  for (int i = 0; i < 40; ++i)
    born.push_back(draws.below(1000));
  value_of(writer.set_times(0, born));
  value_of(writer.finish());
  const auto data = value_of(dataset::open(source));
  const auto whole =
    value_of(value_of(partitioned_graph::open(source)).open_shard(0));
  const auto target = folder / "parts";
  value_of(prepare_partitions(data, {.parts = parts}, target));
  const auto graph = value_of(partitioned_graph::open(target));
  const auto node_times = graph.node_times(0);
  CATCH_REQUIRE(node_times.size() == born.size());
  for (part_id p = 0; p < graph.part_count(); ++p) {
    const auto part = value_of(graph.open_shard(p));
    const auto& nodes = part->nodes(0);
    const auto& edges = part->edges(0);
    for (auto id = nodes.begin; id < nodes.end; ++id) {
      const auto original = static_cast<std::size_t>(nodes.original(id));
      CATCH_REQUIRE(node_times[static_cast<std::size_t>(id)] == born[original]);
      const auto row = static_cast<std::size_t>(id - nodes.begin);
      const auto& all = whole->edges(0);
      CATCH_REQUIRE(std::ranges::equal(
        edges.times.subspan(
          static_cast<std::size_t>(edges.indptr[row]),
          static_cast<std::size_t>(edges.indptr[row + 1] - edges.indptr[row])),
        all.times.subspan(static_cast<std::size_t>(all.indptr[original]),
                          static_cast<std::size_t>(all.indptr[original + 1]
                                                   - all.indptr[original]))));
    }
  }
  // Damage is found, in parts and beside them.
  for (const auto* name :
       {"times/person.npy", "part-0/edges/person__likes__person/times.npy"}) {
    const auto path = target / name;
    const auto records = value_of(records_in(target, [&graph] {
      std::vector<part_id> all;
      for (part_id p = 0; p < graph.part_count(); ++p)
        all.push_back(p);
      return all;
    }()));
    const auto covers = std::ranges::any_of(records, [&](const auto& record) {
      return std::ranges::any_of(
        record.pieces, [&](const auto& piece) { return piece.file == path; });
    });
    CATCH_INFO(name);
    CATCH_CHECK(covers);
  }
}

} // namespace graphmill::test::parts_with_times
