#include "partition/importers/edge_split.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>

namespace graphmill {

namespace {

/// Of each edge the number of its pair, from 0 on in order of appearance.
std::vector<node_id> pairs_of(std::span<const task_edge> edges,
                              const std::vector<bool>& symmetric) {
  std::map<std::tuple<std::int32_t, node_id, node_id>, node_id> numbers;
  std::vector<node_id> out;
  for (const auto& edge : edges) {
    auto [a, b] = std::pair{edge.source, edge.destination};
    if (symmetric[static_cast<std::size_t>(edge.type)] && a > b)
      std::swap(a, b);
    out.push_back(numbers.try_emplace({edge.type, a, b}, std::ssize(numbers))
                    .first->second);
  }
  return out;
}

/// @param group Of each edge. @param groups How many there are.
task_rows deal_groups(const edge_split_request& request,
                      const std::vector<node_id>& group, std::int64_t groups) {
  constexpr std::uint8_t none = 3;
  std::vector<std::uint8_t> split_of(static_cast<std::size_t>(groups), none);
  const auto dealt = keyed_split(groups, request.fractions, request.seed);
  for (std::size_t s = 0; s < dealt.size(); ++s)
    for (const auto one : dealt[s])
      split_of[static_cast<std::size_t>(one)] = static_cast<std::uint8_t>(s);
  task_rows out;
  for (std::size_t i = 0; i < group.size(); ++i)
    if (const auto s = split_of[static_cast<std::size_t>(group[i])]; s != none)
      out[s].push_back(i);
  return out;
}

/// @param times Ascending, not empty.
double quantile(const std::vector<double>& times, double share) {
  const auto at = std::min(share, 1.0) * static_cast<double>(times.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, times.size() - 1);
  return times[below]
         + (times[above] - times[below]) * (at - static_cast<double>(below));
}

task_rows deal_edges_by_time(const edge_split_request& request,
                             std::span<const task_edge> edges) {
  task_rows out;
  std::vector<std::size_t> order(edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [edges](std::size_t i) { return edges[i].time; });
  std::vector<double> times;
  for (const auto i : order)
    times.push_back(edges[i].time);
  double share = 0;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < out.size() && !times.empty(); ++s) {
    share += request.fractions[s];
    const auto end =
      share >= 1 - 1e-9
        ? times.end()
        : std::upper_bound(times.begin(), times.end(), quantile(times, share));
    for (; begin < static_cast<std::size_t>(end - times.begin()); ++begin)
      if (request.fractions[s] > 0)
        out[s].push_back(order[begin]);
  }
  return out;
}

} // namespace

const std::optional<split>* said_for(const new_row_splits& splits,
                                     std::string_view task) {
  const std::optional<split>* out = nullptr;
  for (const auto& [name, which] : splits)
    if (name == task || (name.empty() && out == nullptr))
      out = &which;
  return out;
}

std::string name_of(const edge_task_request& task) {
  return task.name.empty() ? std::string{traits_of(task.kind).name} : task.name;
}

std::string names_of(const std::vector<edge_task_request>& tasks) {
  std::string out;
  for (const auto& task : tasks)
    out += (out.empty() ? "" : ", ") + name_of(task);
  return out;
}

result<task_rows> split_edges(const edge_split_request& request,
                              std::span<const task_edge> edges,
                              const std::vector<bool>& symmetric) {
  GRAPHMILL_TRYV(validate(request.fractions));
  if (request.order == edge_order::time)
    return deal_edges_by_time(request, edges);
  std::vector<node_id> group(edges.size());
  std::iota(group.begin(), group.end(), node_id{0});
  auto groups = std::ssize(edges);
  if (request.order == edge_order::pair) {
    group = pairs_of(edges, symmetric);
    groups = group.empty() ? 0 : *std::ranges::max_element(group) + 1;
  }
  return deal_groups(request, group, groups);
}

} // namespace graphmill
