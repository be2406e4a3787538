#include "partition/sampling/rows/gather.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr std::int64_t count = 5000;

/// Nodes without edges, with random features.
memory_graph featured_graph(std::int64_t width, std::mt19937& random) {
  memory_graph graph;
  std::uniform_real_distribution<float> value{-1, 1};
  std::vector<float> features(static_cast<std::size_t>(count * width));
  for (auto& x : features)
    x = value(random);
  graph.nodes.push_back({"node", count, width, features, {}, {}});
  graph.edges.push_back({0, "next_to", 0, {}});
  graph.edges[0].in.resize(count);
  return graph;
}

} // namespace

CATCH_TEST_CASE("rows are gathered exactly, few or many, wherever they go",
                "[partition][gather]") {
  std::mt19937 random{11};
  for (const std::int64_t width : {1, 3, 100, 256, 301}) {
    const auto graph = featured_graph(width, random);
    const auto parts = whole(graph);
    std::vector<node_id> ids(count);
    std::iota(ids.begin(), ids.end(), 0);
    std::shuffle(ids.begin(), ids.end(), random);
    std::vector<local_id> rows(count);
    std::iota(rows.begin(), rows.end(), 0);
    std::shuffle(rows.begin(), rows.end(), random);
    // Whole, which goes past the cache for the wide ones, and a few.
    for (const std::size_t many : {std::size_t{count}, std::size_t{7}})
      for (const std::size_t offset : {0, 1}) {
        CATCH_INFO("width " << width << ", " << many << " rows, offset "
                            << offset);
        std::vector<float> buffer(static_cast<std::size_t>(count * width) + 1,
                                  9);
        auto* out = buffer.data() + offset;
        value_of(gather_features(*parts.shards[0], 0,
                                 std::span{ids}.first(many),
                                 std::span{rows}.first(many), out));
        auto good = true;
        for (std::size_t i = 0; i < many; ++i)
          good &= std::equal(out + rows[i] * width, out + (rows[i] + 1) * width,
                             graph.nodes[0].features.begin() + ids[i] * width);
        CATCH_CHECK(good);
        CATCH_CHECK(buffer[offset == 0 ? buffer.size() - 1 : 0] == 9);
        const auto untouched = std::count(buffer.begin(), buffer.end(), 9.f);
        CATCH_CHECK(untouched
                    == 1 + (count - static_cast<std::int64_t>(many)) * width);
      }
  }
}

CATCH_TEST_CASE("a row that is not finite is named", "[partition][gather]") {
  std::mt19937 random{12};
  using limits = std::numeric_limits<float>;
  // Of rows of 100, every second one begins between two lots of 32 bytes.
  for (const auto& [width, node] : {std::pair{std::int64_t{3}, 4321},
                                    {256, 4321},
                                    {100, 4321},
                                    {100, 4322}}) {
    const auto graph = whole(featured_graph(width, random));
    const auto& part = *graph.shards[0];
    const std::span features{
      reinterpret_cast<const float*>(part.nodes(0).features),
      static_cast<std::size_t>(count * width)};
    std::vector<node_id> ids(count);
    std::iota(ids.begin(), ids.end(), 0);
    std::vector<float> out(features.size());
    for (const auto bad :
         {limits::quiet_NaN(), limits::infinity(), -limits::infinity()})
      for (const std::int64_t column :
           {std::int64_t{0}, width / 2, width - 1}) {
        CATCH_INFO("width " << width << ", node " << node << ", column "
                            << column << ", " << bad);
        const auto at = static_cast<std::size_t>(node * width + column);
        const auto low = static_cast<std::size_t>(width + column);
        const std::pair fine{features[at], features[low]};
        damage(features, at, bad);
        const auto problem =
          error_of(gather_features(part, 0, ids, {}, out.data()));
        CATCH_CHECK(problem.code == ec::invalid_data);
        CATCH_CHECK(
          problem.message
          == "the features of node " + std::to_string(node)
               + " of type node are not all finite numbers; `graphmill "
                 "inspect` says where");
        value_of(gather_features(
          part, 0, std::span{ids}.first(static_cast<std::size_t>(node)), {},
          out.data()));
        // The largest and the smallest numbers are numbers.
        damage(features, at, std::copysign(limits::max(), bad));
        damage(features, low, limits::denorm_min());
        value_of(gather_features(part, 0, ids, {}, out.data()));
        damage(features, at, fine.first);
        damage(features, low, fine.second);
      }
  }
}
