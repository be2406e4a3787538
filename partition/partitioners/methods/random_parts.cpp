#include "partition/partitioners/methods/random_parts.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

/// Deals out one group of vertices; `group` separates its random stream.
void deal(std::vector<vertex_id>& group, std::uint32_t number,
          const vertex_loads& loads, std::uint64_t key,
          std::vector<part_id>& assignment, part_id parts) {
  std::sort(group.begin(), group.end(), [&](vertex_id a, vertex_id b) {
    const auto rank = [&](vertex_id v) {
      return std::tuple{-loads.in_edges(v),
                        mix64(key ^ static_cast<std::uint64_t>(v)), v};
    };
    return rank(a) < rank(b);
  });
  std::vector<part_id> order(parts);
  for (std::size_t first = 0, round = 0; first < group.size();
       first += order.size(), ++round) {
    std::iota(order.begin(), order.end(), part_id{0});
    random_stream draws{key, round, number};
    for (auto i = order.size(); i > 1; --i)
      std::swap(order[i - 1],
                order[draws.below(static_cast<std::uint32_t>(i))]);
    const auto end = std::min(group.size(), first + order.size());
    for (auto i = first; i < end; ++i)
      assignment[group[i]] = order[i - first];
  }
}

} // namespace

std::vector<part_id> partition_by_hash(const vertex_loads& loads, part_id parts,
                                       std::uint64_t seed) {
  const auto key = stream_key(seed, purpose::partition, 0, 0);
  std::vector<part_id> assignment(loads.size());
  std::vector<vertex_id> group;
  std::uint32_t number = 0;
  for (int type = 0; type < loads.types(); ++type)
    for (const auto seeds : {true, false}) {
      group.clear();
      for (auto v = loads.type_begin()[type]; v < loads.type_begin()[type + 1];
           ++v)
        if (loads.is_seed(v) == seeds)
          group.push_back(v);
      deal(group, number++, loads, key, assignment, parts);
    }
  return assignment;
}

} // namespace graphmill
