#include "partition/partitioners/methods/ldg.hpp"
#include "partition/partitioners/methods/random_parts.hpp"
#include "tests/partition/partitioners/graphs.hpp"
#include "tests/support/catch.hpp"

using namespace graphmill;
using namespace graphmill::test;

using parts_list = std::vector<part_id>;

// Caps in two parts: 3 nodes each, and 5 of the 10 ends of edges. 0, 1 and 2
// follow each other into part 0, which then has 3 nodes and 1 + 2 + 2 ends, so
// 3 opens part 1 and 4 and 5 follow.
CATCH_TEST_CASE("LDG cuts a path in the middle", "[partition][ldg]") {
  const auto path = adjacency_of(6, path_of(6));
  const auto loads = loads_of(path);
  CATCH_CHECK(partition_by_ldg(neighbours_of(path), loads, 2)
              == parts_list{0, 0, 0, 1, 1, 1});
}

// Without edges only room counts: to the emptiest part, the lowest of equals.
CATCH_TEST_CASE("LDG deals out vertices without edges", "[partition][ldg]") {
  const auto lonely = adjacency_of(5, {});
  CATCH_CHECK(partition_by_ldg(neighbours_of(lonely), loads_of(lonely), 3)
              == parts_list{0, 1, 2, 0, 1});
}

// In-edges only: on 0 -> 1 -> 2 -> 3, each vertex sees the one before it. On
// the reverse it sees a vertex that has no place yet, so nothing.
CATCH_TEST_CASE("LDG sees edges from placed vertices only",
                "[partition][ldg]") {
  const vertex_loads loads{{"node"}, {0, 4}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  const neighbour_lists forward = [](vertex_id v, auto& out) {
    out.clear();
    if (v > 0)
      out.push_back({v - 1, 1});
  };
  CATCH_CHECK(partition_by_ldg(forward, loads, 2) == parts_list{0, 0, 1, 1});
  const neighbour_lists backward = [](vertex_id v, auto& out) {
    out.clear();
    if (v < 3)
      out.push_back({v + 1, 1});
  };
  CATCH_CHECK(partition_by_ldg(backward, loads, 2) == parts_list{0, 1, 0, 1});
}

// Seeds 0 and 1 are neighbours, but a part may hold one of the two.
CATCH_TEST_CASE("LDG keeps seeds in balance", "[partition][ldg]") {
  const auto path = adjacency_of(4, path_of(4));
  const auto placed =
    partition_by_ldg(neighbours_of(path), loads_of(path, {0, 1}), 2);
  CATCH_CHECK(placed[0] == 0);
  CATCH_CHECK(placed[1] == 1);
}

CATCH_TEST_CASE("LDG stops when asked to", "[partition][ldg]") {
  const auto path = adjacency_of(6, path_of(6));
  const auto placed = partition_by_ldg(neighbours_of(path), loads_of(path), 2,
                                       [](vertex_id v) { return v < 2; });
  CATCH_CHECK(placed == parts_list{0, 0, -1, -1, -1, -1});
}

CATCH_TEST_CASE("random parts are even and keyed", "[partition][random]") {
  const auto graph = adjacency_of(1000, path_of(1000));
  std::vector<vertex_id> seeds;
  for (vertex_id v = 0; v < 1000; v += 10)
    seeds.push_back(v);
  const auto loads = loads_of(graph, seeds);
  const auto first = partition_by_hash(loads, 7, 1);
  CATCH_CHECK(first == partition_by_hash(loads, 7, 1));
  CATCH_CHECK(first != partition_by_hash(loads, 7, 2));
  const part_loads held{loads, 7, first};
  for (int c = 0; c < loads.constraints(); ++c)
    for (part_id p = 0; p < 7; ++p) {
      CATCH_INFO("constraint " << c << ", part " << p);
      CATCH_CHECK(std::abs(held.load(c, p) - loads.total(c) / 7) <= 4);
    }
  // Neighbours are no more together than chance has it: 1 / 7 of 999 pairs.
  const auto together = 999 - cut_of(graph, first);
  CATCH_CHECK(together > 90);
  CATCH_CHECK(together < 200);
}
