#pragma once

#include "messages/base/ids.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// A node as partitioners count it: the nodes of all types end to end, in
/// dataset order.
using vertex_id = std::int64_t;

/// A vertex beside another one; `weight` edges run between the two.
struct neighbour {
  vertex_id vertex = 0;
  std::int64_t weight = 1;
};

/// Replaces the content of `out` by the neighbours of a vertex, each once or
/// more than once. What counts as a neighbour is up to who provides it.
using neighbour_lists =
  std::function<void(vertex_id, std::vector<neighbour>& out)>;

/// What every vertex weighs in each of the things that parts should have the
/// same amount of: its node type's nodes, training seeds, in-edges. One entry
/// per node type, then two more.
class vertex_loads {
public:
  struct item {
    int constraint = 0;
    std::int64_t weight = 0;
  };

  /// @param type_names Names of the node types.
  /// @param type_begin First vertex of each type, and the number of vertices.
  /// @param seeds [vertices] 1 for a training seed, else 0.
  /// @param in_edges [vertices] In-edges of all types.
  vertex_loads(std::vector<std::string> type_names,
               std::vector<vertex_id> type_begin,
               std::vector<std::uint8_t> seeds,
               std::vector<std::int64_t> in_edges);

  vertex_id size() const { return type_begin_.back(); }
  int types() const { return static_cast<int>(type_names_.size()); }
  int constraints() const { return types() + 2; }
  int seed_constraint() const { return types(); }
  int edge_constraint() const { return types() + 1; }

  std::span<const vertex_id> type_begin() const { return type_begin_; }
  node_type_id type_of(vertex_id v) const;
  bool is_seed(vertex_id v) const { return seeds_[v] != 0; }
  std::int64_t in_edges(vertex_id v) const { return in_edges_[v]; }

  /// The constraints in which `v` may weigh anything.
  std::array<item, 3> items(vertex_id v) const;

  std::string constraint_name(int constraint) const;
  std::int64_t total(int constraint) const { return totals_[constraint]; }
  /// The heaviest single vertex of a constraint.
  std::int64_t heaviest(int constraint) const { return heaviest_[constraint]; }

private:
  std::vector<std::string> type_names_;
  std::vector<vertex_id> type_begin_;
  std::vector<std::uint8_t> seeds_;
  std::vector<std::int64_t> in_edges_;
  std::vector<std::int64_t> totals_;
  std::vector<std::int64_t> heaviest_;
};

/// What clusters of vertices weigh: the sums over their members.
class cluster_loads {
public:
  using item = vertex_loads::item;

  /// @tparam Loads `vertex_loads` or `cluster_loads`: of the members.
  /// @param clusters [members] Below `count`.
  template <class Loads>
  cluster_loads(const Loads& members, std::span<const std::uint32_t> clusters,
                std::uint32_t count);

  vertex_id size() const { return std::ssize(items_) / constraints(); }
  int constraints() const { return static_cast<int>(totals_.size()); }
  std::span<const item> items(vertex_id v) const {
    const auto width = totals_.size();
    return std::span{items_}.subspan(static_cast<std::size_t>(v) * width,
                                     width);
  }
  std::int64_t total(int constraint) const { return totals_[constraint]; }
  /// The heaviest single vertex of a constraint, as caps are those of vertices.
  std::int64_t heaviest(int constraint) const { return heaviest_[constraint]; }

private:
  std::vector<item> items_; ///< [cluster, constraint]
  std::vector<std::int64_t> totals_;
  std::vector<std::int64_t> heaviest_;
};

/// How far above the mean a part may be.
inline constexpr double balance_tolerance = 0.05;

/// What each part holds of each constraint, kept up to date as vertices come
/// and go, against a cap: 5 % above the mean, or what cannot be avoided (the
/// mean rounded up, the heaviest vertex).
/// @tparam Loads `vertex_loads`, or `cluster_loads` for clusters of vertices.
template <class Loads>
class basic_part_loads {
public:
  basic_part_loads(const Loads& loads, part_id parts);
  /// Counts a whole assignment of vertices to parts.
  basic_part_loads(const Loads& loads, part_id parts,
                   std::span<const part_id> assignment);

  part_id parts() const { return parts_; }
  void add(vertex_id v, part_id p);
  void remove(vertex_id v, part_id p);

  std::int64_t load(int constraint, part_id p) const {
    return load_[static_cast<std::size_t>(p) * caps_.size() + constraint];
  }
  std::int64_t cap(int constraint) const { return caps_[constraint]; }
  std::int64_t heaviest_part(int constraint) const;

  /// Whether `v` can come to `p` without exceeding a cap.
  bool fits(vertex_id v, part_id p) const;
  /// Share of the cap that is still free at `p`, least over v's constraints.
  double slack(vertex_id v, part_id p) const;
  /// Whether `p` exceeds a cap in something that `v` weighs in.
  bool is_overfull(vertex_id v, part_id p) const;

  /// Loads above their caps, in units of each constraint's mean, over all parts
  /// and constraints; 0 when all is balanced.
  double excess() const;
  /// By how much `excess` changes when `v` comes to `p`.
  double excess_of_adding(vertex_id v, part_id p) const;
  /// By how much `excess` changes when `v` moves.
  double excess_of_moving(vertex_id v, part_id from, part_id to) const;
  /// By how much `excess` changes when `v` of part `p` and `u` of part `q`, of
  /// the same node type, change places.
  double excess_of_swapping(vertex_id v, part_id p, vertex_id u,
                            part_id q) const;

private:
  double over(int constraint, std::int64_t load) const;

  const Loads* loads_;
  part_id parts_;
  std::vector<std::int64_t> caps_; ///< Per constraint.
  std::vector<double> means_;      ///< Per constraint; 1 where all is 0.
  std::vector<std::int64_t> load_; ///< [part, constraint]
};

using part_loads = basic_part_loads<vertex_loads>;

} // namespace graphmill
