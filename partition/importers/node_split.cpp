#include "partition/importers/node_split.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

namespace graphmill {

namespace {

using id_lists = std::array<std::vector<node_id>, 3>;

/// Splits a list of ids by chance and appends to each split.
void deal_by_chance(const split_request& request,
                    const std::vector<node_id>& ids, std::uint64_t seed,
                    id_lists& out) {
  const auto places = keyed_split(std::ssize(ids), request.fractions, seed);
  for (std::size_t s = 0; s < out.size(); ++s)
    for (auto place : places[s])
      out[s].push_back(ids[static_cast<std::size_t>(place)]);
}

/// Cuts a list that is in order.
void deal_in_order(const split_request& request,
                   const std::vector<node_id>& ids, id_lists& out) {
  double fraction = 0;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < out.size(); ++s) {
    fraction += request.fractions[s];
    // As in `keyed_split`: what rounding takes is given back.
    const auto wanted = fraction * static_cast<double>(ids.size()) + 1e-6;
    const auto end =
      std::clamp(static_cast<std::size_t>(wanted), begin, ids.size());
    for (auto i = begin; i < end; ++i)
      out[s].push_back(ids[i]);
    begin = end;
  }
}

} // namespace

std::array<std::vector<node_id>, 3>
split_nodes(const split_request& request, std::span<const std::int64_t> labels,
            std::span<const double> times) {
  std::vector<node_id> labelled;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0)
      labelled.push_back(static_cast<node_id>(i));
  id_lists out;
  if (request.order == split_order::time) {
    std::ranges::stable_sort(labelled, {}, [times](node_id id) {
      return times[static_cast<std::size_t>(id)];
    });
    deal_in_order(request, labelled, out);
    return out;
  }
  if (request.order == split_order::random) {
    deal_by_chance(request, labelled, request.seed, out);
    return out;
  }
  std::map<std::int64_t, std::vector<node_id>> classes;
  for (auto id : labelled)
    classes[labels[static_cast<std::size_t>(id)]].push_back(id);
  for (const auto& [label, ids] : classes)
    deal_by_chance(request, ids,
                   request.seed + static_cast<std::uint64_t>(label), out);
  for (auto& ids : out)
    std::ranges::sort(ids);
  return out;
}

} // namespace graphmill
