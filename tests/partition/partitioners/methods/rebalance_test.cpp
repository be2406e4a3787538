#include "messages/base/random.hpp"
#include "partition/partitioners/methods/rebalance.hpp"
#include "tests/partition/partitioners/graphs.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace graphmill;
using namespace graphmill::test;

using parts_list = std::vector<part_id>;

// Loads: 4 nodes in 3 parts are 2 at most, 2 seeds 1 at most.
CATCH_TEST_CASE("caps are what cannot be avoided, or 5 %",
                "[partition][loads]") {
  const auto small = loads_of(adjacency_of(4, path_of(4)), {0, 3});
  const part_loads few{small, 3};
  CATCH_CHECK(few.cap(0) == 2);
  CATCH_CHECK(few.cap(small.seed_constraint()) == 1);
  CATCH_CHECK(few.cap(small.edge_constraint()) == 2);
  const vertex_loads even{{"node"},
                          {0, 200},
                          std::vector<std::uint8_t>(200),
                          std::vector<std::int64_t>(200)};
  CATCH_CHECK(part_loads{even, 2}.cap(0) == 105);
  // A hub with all the edges goes somewhere.
  const vertex_loads hub{{"node"}, {0, 3}, {0, 0, 0}, {90, 0, 0}};
  CATCH_CHECK(part_loads{hub, 3}.cap(hub.edge_constraint()) == 90);
}

// All of a path of 6 in part 0: the end that hangs by the fewest edges goes,
// and the next ones follow it, until 3 are left.
CATCH_TEST_CASE("an overfull part gives away its edge", "[partition][loads]") {
  const auto path = adjacency_of(6, path_of(6));
  const auto loads = loads_of(path);
  parts_list assignment(6, 0);
  part_loads held{loads, 2, assignment};
  const auto lists = neighbours_of(path);
  CATCH_CHECK(rebalance(lists, loads, held, assignment) >= 3);
  CATCH_CHECK(held.excess() == 0);
  CATCH_CHECK(std::count(assignment.begin(), assignment.end(), 0) == 3);
}

CATCH_TEST_CASE("balanced parts are left alone", "[partition][loads]") {
  const auto path = adjacency_of(4, path_of(4));
  const auto loads = loads_of(path);
  parts_list assignment{0, 1, 0, 1};
  part_loads held{loads, 2, assignment};
  const auto lists = neighbours_of(path);
  CATCH_CHECK(rebalance(lists, loads, held, assignment) == 0);
  CATCH_CHECK(assignment == parts_list{0, 1, 0, 1});
}

// 3 seeds in one of 8 parts go to parts of their own, and nodes swap back.
CATCH_TEST_CASE("few seeds are dealt out", "[partition][loads]") {
  const auto ring = [] {
    auto pairs = path_of(80);
    pairs.emplace_back(79, 0);
    return adjacency_of(80, pairs);
  }();
  const auto loads = loads_of(ring, {0, 1, 2});
  parts_list assignment(80);
  for (vertex_id v = 0; v < 80; ++v)
    assignment[v] = static_cast<part_id>(v / 10);
  part_loads held{loads, 8, assignment};
  const auto lists = neighbours_of(ring);
  CATCH_CHECK(rebalance(lists, loads, held, assignment) >= 4);
  CATCH_CHECK(held.heaviest_part(loads.seed_constraint()) == 1);
  CATCH_CHECK(held.heaviest_part(0) == 10);
  CATCH_CHECK(held.excess() == 0);
}

CATCH_TEST_CASE("rebalancing is repeatable and stops when asked",
                "[partition][loads]") {
  pair_list pairs;
  random_stream draws{7, 0};
  for (int i = 0; i < 3000; ++i)
    pairs.emplace_back(draws.below(500), draws.below(500));
  std::erase_if(pairs, [](auto& pair) { return pair.first == pair.second; });
  const auto graph = adjacency_of(500, pairs);
  const auto loads = loads_of(graph, {3, 5, 8, 13});
  const auto lists = neighbours_of(graph);
  const auto run = [&](const std::function<bool()>& keep_going) {
    parts_list assignment(500);
    for (vertex_id v = 0; v < 500; ++v)
      assignment[v] = v < 400 ? 0 : static_cast<part_id>(v % 5);
    part_loads held{loads, 5, assignment};
    rebalance(lists, loads, held, assignment, keep_going);
    return std::pair{assignment, held.excess()};
  };
  const auto done = run({});
  CATCH_CHECK(done.second == 0);
  CATCH_CHECK(done == run({}));
  CATCH_CHECK(run([] { return false; }).second > 0);
}
