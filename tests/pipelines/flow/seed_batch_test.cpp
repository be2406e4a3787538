#include "messages/base/random.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"

#include <algorithm>
#include <memory>
#include <utility>

using namespace graphmill;

namespace {

using nodes_by_type = std::vector<std::vector<node_id>>;

dataset_info types_of(const std::vector<std::int64_t>& counts) {
  dataset_info out;
  for (const auto count : counts)
    out.node_types.emplace_back().count = count;
  return out;
}

} // namespace

CATCH_TEST_CASE("a batch of pairs has each node once, in order of appearance",
                "[flow][seed_batch]") {
  const std::vector<node_id> heads{7, 3, 7, 9};
  const std::vector<node_id> tails{3, 8, 7, 1};
  const seed_table table{{{0, heads}, {0, tails}}};
  CATCH_REQUIRE(table.rows() == 4);
  const auto info = types_of({10});

  const auto whole = batch_of(table, std::vector<seed_row>{0, 1, 2, 3}, info);
  CATCH_CHECK(whole.nodes == nodes_by_type{{7, 3, 8, 9, 1}});
  CATCH_CHECK(whole.rows() == 4);
  CATCH_CHECK(whole.locals == std::vector<local_id>{0, 1, 1, 2, 0, 0, 3, 4});

  const auto some = batch_of(table, std::vector<seed_row>{3, 1}, info);
  CATCH_CHECK(some.nodes == nodes_by_type{{9, 1, 3, 8}});
  CATCH_CHECK(some.locals == std::vector<local_id>{0, 1, 2, 3});

  const auto none = batch_of(table, {}, info);
  CATCH_CHECK(none.nodes == nodes_by_type{{}});
  CATCH_CHECK(none.rows() == 0);
}

CATCH_TEST_CASE("the nodes of a batch are numbered by type",
                "[flow][seed_batch]") {
  const std::vector<node_id> users{4, 4, 0};
  const std::vector<node_id> items{4, 2, 4};
  const std::vector<node_id> friends{1, 0, 4};
  const seed_table table{{{2, users}, {0, items}, {2, friends}}};
  const auto batch =
    batch_of(table, std::vector<seed_row>{0, 1, 2}, types_of({5, 3, 5}));
  CATCH_CHECK(batch.nodes == nodes_by_type{{4, 2}, {}, {4, 1, 0}});
  CATCH_CHECK(batch.locals == std::vector<local_id>{0, 0, 1, 0, 1, 2, 2, 0, 0});
}

CATCH_TEST_CASE("a single column is taken as it is", "[flow][seed_batch]") {
  const std::vector<node_id> ids{5, 9, 2};
  const seed_table table{{{1, ids}}};
  const auto batch =
    batch_of(table, std::vector<seed_row>{2, 0}, types_of({3, 10}));
  CATCH_CHECK(batch.nodes == nodes_by_type{{}, {2, 5}});
  CATCH_CHECK(batch.locals == std::vector<local_id>{0, 1});
}

CATCH_TEST_CASE("the rows of a batch lead to the nodes of the table",
                "[flow][seed_batch]") {
  random_stream draws{stream_key(3, purpose::generate, 0, 0), 0};
  for (int round = 0; round < 500; ++round) {
    CATCH_INFO("seed 3, round " << round);
    const std::vector<std::int64_t> counts{1 + draws.below(9),
                                           1 + draws.below(300)};
    const auto columns = 1 + draws.below(4);
    const auto rows = draws.below(40);
    std::vector<std::vector<node_id>> values(columns);
    seed_table table;
    for (auto& column : values) {
      const auto type = static_cast<node_type_id>(draws.below(2));
      for (std::uint32_t r = 0; r < rows; ++r)
        column.push_back(draws.below(static_cast<std::uint32_t>(counts[type])));
      table.columns.push_back({type, column});
    }
    std::vector<seed_row> taken;
    for (std::uint32_t r = 0; r < rows; ++r)
      if (draws.below(2) != 0)
        taken.push_back(rows - 1 - r);
    const auto batch = batch_of(table, taken, types_of(counts));
    CATCH_REQUIRE(batch.rows() == taken.size());
    std::vector<local_id> next(2);
    for (std::size_t r = 0; r < taken.size(); ++r)
      for (std::size_t c = 0; c < columns; ++c) {
        const auto type = static_cast<std::size_t>(table.columns[c].type);
        const auto local = batch.locals[r * columns + c];
        CATCH_REQUIRE(batch.nodes[type][local] == values[c][taken[r]]);
        if (local >= next[type]) { // Appears for the first time.
          CATCH_REQUIRE(local == next[type]);
          ++next[type];
        }
      }
    for (std::size_t t = 0; t < 2 && columns > 1; ++t) {
      auto ids = batch.nodes[t];
      CATCH_REQUIRE(std::cmp_equal(ids.size(), next[t]));
      std::sort(ids.begin(), ids.end());
      CATCH_REQUIRE(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
    }
  }
}

CATCH_TEST_CASE("the table of a split keeps its order, and its graph",
                "[flow][seed_batch]") {
  auto graph = test::cycle(6);
  graph.nodes.front().labels.assign(6, 0);
  graph.nodes.front().train = {4, 0, 3};
  auto whole = test::whole(graph);
  const std::weak_ptr<const partitioned_graph> lasts = whole.graph;
  {
    const auto table = table_of(std::move(whole.graph), split::train);
    whole = {};
    CATCH_REQUIRE(table->columns.size() == 1);
    CATCH_CHECK(table->columns.front().type == 0);
    const auto nodes = table->columns.front().nodes;
    CATCH_CHECK(std::vector<node_id>(nodes.begin(), nodes.end())
                == std::vector<node_id>{4, 0, 3});
  }
  CATCH_CHECK(lasts.expired());
}
