#include "partition/sampling/draws.hpp"

#include "tests/partition/sampling/support.hpp"

#include <map>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// One node with `degree` in-neighbours and `copies` of it.
cut_graph star(std::int64_t degree, std::int64_t copies) {
  memory_graph graph;
  graph.nodes = {{"centre", copies}, {"leaf", degree}};
  graph.edges = {{1, "to", 0, {}}};
  std::vector<node_id> leaves;
  for (std::int64_t i = 0; i < degree; ++i)
    leaves.push_back(i);
  graph.edges[0].in.assign(static_cast<std::size_t>(copies), leaves);
  return whole(graph);
}

/// How often each leaf is drawn in `draws` draws.
std::vector<double> frequencies(std::int64_t degree, draw_rule rule,
                                std::int64_t draws) {
  constexpr std::int64_t copies = 1000;
  const auto fanout = rule.fanout;
  const auto graph = star(degree, copies);
  std::vector<node_id> centres;
  for (std::int64_t i = 0; i < copies; ++i)
    centres.push_back(i);
  std::vector<double> counts(static_cast<std::size_t>(degree));
  neighbour_reply reply;
  for (std::int64_t done = 0, key = 0; done < draws;
       done += copies * fanout, ++key) {
    value_of(sample_neighbours(
      *graph.shards[0],
      {static_cast<std::uint64_t>(key), 1, 0, rule, false, centres}, reply));
    CATCH_REQUIRE(reply.sources.size()
                  == static_cast<std::size_t>(copies * fanout * 4));
    const auto* ids =
      reinterpret_cast<const std::int32_t*>(reply.sources.data());
    for (std::int64_t i = 0; i < copies * fanout; ++i)
      ++counts[static_cast<std::size_t>(ids[i])];
  }
  return counts;
}

/// Chi-square of equal frequencies with the variance of draws without (or
/// with) replacement, so that it has degree - 1 degrees of freedom.
double chi_square(const std::vector<double>& counts, draw_rule rule) {
  const auto degree = double(counts.size());
  double total = 0;
  for (auto count : counts)
    total += count;
  const auto expected = total / degree;
  const auto unlike = rule.kind == draw_kind::with_replacement
                        ? 1.0
                        : (degree - rule.fanout) / (degree - 1);
  double sum = 0;
  for (auto count : counts)
    sum += (count - expected) * (count - expected) / expected;
  return sum / unlike;
}

} // namespace

// Points of the chi-square distribution at 0.1 %: 39 degrees of freedom 72.1,
// 99: 148.2, 9: 27.9.
CATCH_TEST_CASE("a million draws are uniform", "[partition][draws]") {
  struct variant {
    std::int64_t degree;
    std::int32_t fanout;
    double most;
  };
  for (auto [degree, fanout, most] :
       {variant{40, 10, 72.1}, variant{40, 31, 72.1}, variant{100, 50, 148.2},
        variant{10, 1, 27.9}})
    for (auto kind :
         {draw_kind::without_replacement, draw_kind::with_replacement}) {
      CATCH_INFO("degree " << degree << " fanout " << fanout << " kind "
                           << static_cast<int>(kind));
      const draw_rule rule{fanout, kind};
      const auto counts = frequencies(degree, rule, 1000000);
      CATCH_CHECK(chi_square(counts, rule) < most);
    }
}

CATCH_TEST_CASE("all subsets are equally likely", "[partition][draws]") {
  // 3 of 6: 20 subsets; 43.8 is the 0.1 % point with 19 degrees of freedom.
  std::map<std::array<std::uint32_t, 3>, double> counts;
  constexpr int draws = 200000;
  for (int i = 0; i < draws; ++i) {
    std::array<std::uint32_t, 3> positions{};
    draw_positions(random_stream{5, static_cast<std::uint64_t>(i)}, 6,
                   draw_kind::without_replacement, positions);
    ++counts[positions];
  }
  CATCH_REQUIRE(counts.size() == 20);
  double sum = 0;
  for (const auto& [subset, count] : counts)
    sum += (count - draws / 20.0) * (count - draws / 20.0) / (draws / 20.0);
  CATCH_CHECK(sum < 43.8);
}

CATCH_TEST_CASE("sixteen lanes draw what one by one draws",
                "[partition][draws]") {
  // Degrees near 2^32 make `below` draw again in half of the cases.
  random_stream choose{1, 2};
  for (int round = 0; round < 400; ++round) {
    CATCH_INFO("round " << round);
    lane_draws lanes;
    lanes.key = mix64(static_cast<std::uint64_t>(round));
    lanes.middle = draw_middle(1 + round % 3, round);
    const auto fanout = 1 + choose.below(max_lane_fanout);
    lanes.rule = {static_cast<std::int32_t>(fanout),
                  round % 2 == 0 ? draw_kind::with_replacement
                                 : draw_kind::without_replacement};
    for (int l = 0; l < lane_count; ++l) {
      lanes.originals[l] = mix64(choose.next());
      lanes.degrees[l] = round % 5 == 0 ? 0xfffffff0u - choose.below(1u << 31)
                                        : fanout + choose.below(round + 1);
    }
    lanes.draw();
    for (int l = 0; l < lane_count; ++l) {
      std::vector<std::uint32_t> expected(fanout);
      draw_positions(random_stream{lanes.key, lanes.originals[l], lanes.middle},
                     lanes.degrees[l], lanes.rule.kind, expected);
      for (std::uint32_t j = 0; j < fanout; ++j)
        CATCH_REQUIRE(lanes.positions[j][l] == expected[j]);
    }
  }
}

CATCH_TEST_CASE("many positions are drawn like few", "[partition][draws]") {
  // Floyd's algorithm by its definition, with a set.
  for (std::uint32_t size : {1u, 5u, 32u, 33u, 200u, 1000u}) {
    CATCH_INFO("size " << size);
    const std::uint32_t degree = size + size / 3;
    std::vector<std::uint32_t> positions(size);
    draw_positions(random_stream{9, size}, degree,
                   draw_kind::without_replacement, positions);
    random_stream draws{9, size};
    std::map<std::uint32_t, bool> chosen;
    for (auto j = degree - size; j < degree; ++j) {
      const auto drawn = draws.below(j + 1);
      chosen[chosen.contains(drawn) ? j : drawn] = true;
    }
    std::vector<std::uint32_t> expected;
    for (const auto& [position, yes] : chosen)
      expected.push_back(position);
    CATCH_CHECK(positions == expected);
  }
}
