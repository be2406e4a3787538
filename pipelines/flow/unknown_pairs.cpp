#include "pipelines/flow/unknown_pairs.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace graphmill {

/// Pairs are numbered source by source. Within a node type each source leaves
/// out itself.
std::uint64_t unknown_pairs::pairs_of_type::number(pair of) const {
  const auto [source, destination] = of;
  return source * columns
         + (within && destination > source ? destination - 1 : destination);
}

unknown_pairs::pair
unknown_pairs::pairs_of_type::pair_of(std::uint64_t number) const {
  const auto source = number / columns;
  const auto place = number % columns;
  return {source, within && place >= source ? place + 1 : place};
}

result<unknown_pairs>
unknown_pairs::make(const dataset_info& info, const edge_task_info& task,
                    std::vector<std::vector<pair>> known) {
  unknown_pairs out;
  for (std::size_t r = 0; r < task.edge_types.size(); ++r) {
    const auto& about =
      info.edge_types[static_cast<std::size_t>(task.edge_types[r])];
    const auto count_of = [&info](node_type_id type) {
      return static_cast<std::uint64_t>(
        info.node_types[static_cast<std::size_t>(type)].count);
    };
    const auto sources = count_of(about.source);
    pairs_of_type of;
    of.within = about.source == about.destination;
    of.columns = count_of(about.destination) - (of.within ? 1 : 0);
    if (of.columns != 0
        && sources > std::numeric_limits<std::uint64_t>::max() / of.columns)
      return fail(ec::invalid_argument,
                  "`negatives.corrupt: pair` is for less than 2^64 pairs of "
                  "nodes, and {} sources and {} destinations make more; use "
                  "both",
                  sources, of.columns);
    of.count = sources * of.columns;
    of.both_ways = r < task.reverse_types.size()
                   && task.reverse_types[r] == task.edge_types[r];
    out.types_.push_back(std::move(of));
    out.add(r, std::move(known[r]));
    known[r] = {};
  }
  return out;
}

void unknown_pairs::add(std::size_t relation, std::vector<pair> more) {
  auto& of = types_[relation];
  for (const auto& one : more) {
    if (of.within && one.first == one.second)
      continue;
    of.known.push_back(of.number(one));
    if (of.both_ways) // Its other direction may not be among them.
      of.known.push_back(of.number({one.second, one.first}));
  }
  more = {};
  std::sort(of.known.begin(), of.known.end());
  of.known.erase(std::unique(of.known.begin(), of.known.end()), of.known.end());
  of.known.shrink_to_fit();
}

std::optional<unknown_pairs::pair>
unknown_pairs::draw(std::size_t relation, random_stream& draws) const {
  const auto& of = types_[relation];
  const auto unknown = of.count - of.known.size();
  if (unknown == 0)
    return std::nullopt;
  const auto place = draw_below(draws, unknown);
  // known[i] - i pairs ahead of it are unknown, which never falls with i.
  std::size_t low = 0;
  auto high = of.known.size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (of.known[middle] - middle <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return of.pair_of(place + low);
}

} // namespace graphmill
