#include "partition/partitioners/graph/loads.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace graphmill {

// -- vertex_loads

vertex_loads::vertex_loads(std::vector<std::string> type_names,
                           std::vector<vertex_id> type_begin,
                           std::vector<std::uint8_t> seeds,
                           std::vector<std::int64_t> in_edges)
  : type_names_(std::move(type_names)), type_begin_(std::move(type_begin)),
    seeds_(std::move(seeds)), in_edges_(std::move(in_edges)),
    totals_(type_names_.size() + 2), heaviest_(type_names_.size() + 2) {
  for (vertex_id v = 0; v < size(); ++v)
    for (const auto& [c, weight] : items(v)) {
      totals_[c] += weight;
      heaviest_[c] = std::max(heaviest_[c], weight);
    }
}

node_type_id vertex_loads::type_of(vertex_id v) const {
  const auto after =
    std::upper_bound(type_begin_.begin() + 1, type_begin_.end(), v);
  return static_cast<node_type_id>(after - type_begin_.begin() - 1);
}

std::array<vertex_loads::item, 3> vertex_loads::items(vertex_id v) const {
  return {item{type_of(v), 1}, item{seed_constraint(), seeds_[v]},
          item{edge_constraint(), in_edges_[v]}};
}

std::string vertex_loads::constraint_name(int constraint) const {
  if (constraint == seed_constraint())
    return "training seeds";
  if (constraint == edge_constraint())
    return "in-edges";
  return "nodes of " + type_names_[constraint];
}

// -- cluster_loads

template <class Loads>
cluster_loads::cluster_loads(const Loads& members,
                             std::span<const std::uint32_t> clusters,
                             std::uint32_t count) {
  for (int c = 0; c < members.constraints(); ++c) {
    totals_.push_back(members.total(c));
    heaviest_.push_back(members.heaviest(c));
  }
  const auto width = totals_.size();
  items_.resize(count * width);
  for (std::size_t i = 0; i < items_.size(); ++i)
    items_[i].constraint = static_cast<int>(i % width);
  for (vertex_id v = 0; v < members.size(); ++v)
    for (const auto& [c, weight] : members.items(v))
      items_[clusters[v] * width + c].weight += weight;
}

template cluster_loads::cluster_loads(const vertex_loads&,
                                      std::span<const std::uint32_t>,
                                      std::uint32_t);
template cluster_loads::cluster_loads(const cluster_loads&,
                                      std::span<const std::uint32_t>,
                                      std::uint32_t);

// -- part_loads

template <class Loads>
basic_part_loads<Loads>::basic_part_loads(const Loads& loads, part_id parts)
  : loads_(&loads), parts_(parts),
    load_(static_cast<std::size_t>(parts) * loads.constraints()) {
  for (int c = 0; c < loads.constraints(); ++c) {
    const auto total = loads.total(c);
    const auto mean = static_cast<double>(total) / parts;
    const auto tolerated =
      static_cast<std::int64_t>(mean * (1 + balance_tolerance));
    caps_.push_back(
      std::max({tolerated, (total + parts - 1) / parts, loads.heaviest(c)}));
    means_.push_back(total == 0 ? 1 : mean);
  }
}

template <class Loads>
basic_part_loads<Loads>::basic_part_loads(const Loads& loads, part_id parts,
                                          std::span<const part_id> assignment)
  : basic_part_loads(loads, parts) {
  for (vertex_id v = 0; v < loads.size(); ++v)
    add(v, assignment[v]);
}

template <class Loads>
void basic_part_loads<Loads>::add(vertex_id v, part_id p) {
  for (const auto& [c, weight] : loads_->items(v))
    load_[static_cast<std::size_t>(p) * caps_.size() + c] += weight;
}

template <class Loads>
void basic_part_loads<Loads>::remove(vertex_id v, part_id p) {
  for (const auto& [c, weight] : loads_->items(v))
    load_[static_cast<std::size_t>(p) * caps_.size() + c] -= weight;
}

template <class Loads>
std::int64_t basic_part_loads<Loads>::heaviest_part(int constraint) const {
  std::int64_t most = 0;
  for (part_id p = 0; p < parts_; ++p)
    most = std::max(most, load(constraint, p));
  return most;
}

template <class Loads>
bool basic_part_loads<Loads>::fits(vertex_id v, part_id p) const {
  for (const auto& [c, weight] : loads_->items(v))
    if (weight != 0 && load(c, p) + weight > caps_[c])
      return false;
  return true;
}

template <class Loads>
double basic_part_loads<Loads>::slack(vertex_id v, part_id p) const {
  auto least = std::numeric_limits<double>::infinity();
  for (const auto& [c, weight] : loads_->items(v))
    if (weight != 0)
      least = std::min(
        least,
        1 - static_cast<double>(load(c, p)) / static_cast<double>(caps_[c]));
  return least;
}

template <class Loads>
bool basic_part_loads<Loads>::is_overfull(vertex_id v, part_id p) const {
  for (const auto& [c, weight] : loads_->items(v))
    if (weight != 0 && load(c, p) > caps_[c])
      return true;
  return false;
}

template <class Loads>
double basic_part_loads<Loads>::over(int constraint, std::int64_t load) const {
  const auto above = std::max<std::int64_t>(0, load - caps_[constraint]);
  return static_cast<double>(above) / means_[constraint];
}

template <class Loads>
double basic_part_loads<Loads>::excess() const {
  double sum = 0;
  for (part_id p = 0; p < parts_; ++p)
    for (int c = 0; c < loads_->constraints(); ++c)
      sum += over(c, load(c, p));
  return sum;
}

template <class Loads>
double basic_part_loads<Loads>::excess_of_adding(vertex_id v, part_id p) const {
  double sum = 0;
  for (const auto& [c, weight] : loads_->items(v))
    sum += over(c, load(c, p) + weight) - over(c, load(c, p));
  return sum;
}

template <class Loads>
double basic_part_loads<Loads>::excess_of_moving(vertex_id v, part_id from,
                                                 part_id to) const {
  auto sum = excess_of_adding(v, to);
  for (const auto& [c, weight] : loads_->items(v))
    sum += over(c, load(c, from) - weight) - over(c, load(c, from));
  return sum;
}

template <class Loads>
double basic_part_loads<Loads>::excess_of_swapping(vertex_id v, part_id p,
                                                   vertex_id u,
                                                   part_id q) const {
  double sum = 0;
  const auto out = loads_->items(v);
  const auto in = loads_->items(u);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto c = out[i].constraint;
    const auto less = out[i].weight - in[i].weight;
    sum += over(c, load(c, p) - less) - over(c, load(c, p));
    sum += over(c, load(c, q) + less) - over(c, load(c, q));
  }
  return sum;
}

template class basic_part_loads<vertex_loads>;
template class basic_part_loads<cluster_loads>;

} // namespace graphmill
