#include "pipelines/flow/full_ranking.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace graphmill {

link_groups::link_groups(const seed_table& table)
  : group_(static_cast<std::size_t>(table.rows()), -1) {
  std::vector<seed_row> rows(group_.size());
  std::iota(rows.begin(), rows.end(), seed_row{0});
  const auto key = [&table](seed_row row) {
    return std::tuple{table.edges->relation(row), table.columns[0].node_of(row),
                      table.columns[1].node_of(row), row};
  };
  std::sort(rows.begin(), rows.end(),
            [&key](seed_row a, seed_row b) { return key(a) < key(b); });
  auto last = std::tuple<std::size_t, node_id, node_id, seed_row>{};
  for (const auto row : rows) {
    const auto now = key(row);
    const auto [relation, source, destination, position] = now;
    const auto begins = begins_.empty() || std::get<0>(last) != relation
                        || std::get<1>(last) != source;
    if (begins)
      begins_.push_back(std::ssize(destinations_));
    else if (std::get<2>(last) == destination)
      continue;
    group_[static_cast<std::size_t>(row)] = std::ssize(begins_) - 1;
    destinations_.push_back(destination);
    last = now;
  }
  begins_.push_back(std::ssize(destinations_));
}

std::span<const node_id> link_groups::of(seed_row row) const {
  const auto group = group_[static_cast<std::size_t>(row)];
  if (group < 0)
    return {};
  const auto* range = begins_.data() + group;
  return std::span{destinations_}.subspan(
    static_cast<std::size_t>(range[0]),
    static_cast<std::size_t>(range[1] - range[0]));
}

} // namespace graphmill
