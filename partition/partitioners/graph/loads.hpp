#pragma once

#include "messages/base/ids.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// A node in the numbering of partitioners: the nodes of all types end to end,
/// in dataset order.
using vertex_id = std::int64_t;

/// A vertex beside another one; `weight` edges run between the two.
struct neighbour {
  vertex_id vertex = 0;
  std::int64_t weight = 1;
};

/// Replaces the content of `out` by the neighbours of a vertex, each once or
/// more. The provider defines what a neighbour is.
using neighbour_lists =
  std::function<void(vertex_id, std::vector<neighbour>& out)>;

/// The weights of every vertex in the constraints, the quantities that parts
/// should share equally: the nodes of each node type, training seeds, and
/// in-edges. Constraints are numbered: one per node type, in the order of the
/// dataset, then `seed_constraint` and `edge_constraint`. It never changes.
class vertex_loads {
public:
  /// The weight of a vertex in one constraint.
  struct item {
    int constraint = 0;
    std::int64_t weight = 0;
  };

  /// @param type_names Names of the node types.
  /// @param type_begin The first vertex of each type, and at the end the number
  /// of vertices.
  /// @param seeds [vertices] 1 for a training seed, else 0.
  /// @param in_edges [vertices] How many in-edges of all types each has.
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

  /// The constraints in which `v` may have a weight, always in this order: the
  /// nodes of its type, seeds, in-edges. The last two weights may be 0.
  std::array<item, 3> items(vertex_id v) const;

  /// For people: "nodes of paper", "training seeds" or "in-edges".
  std::string constraint_name(int constraint) const;
  /// The weight of all vertices together in a constraint.
  std::int64_t total(int constraint) const { return totals_[constraint]; }
  /// The weight of the heaviest single vertex in a constraint.
  std::int64_t heaviest(int constraint) const { return heaviest_[constraint]; }

private:
  std::vector<std::string> type_names_;
  std::vector<vertex_id> type_begin_;
  std::vector<std::uint8_t> seeds_;
  std::vector<std::int64_t> in_edges_;
  std::vector<std::int64_t> totals_;
  std::vector<std::int64_t> heaviest_;
};

/// The weights of clusters of vertices: the sums over their members. Unlike a
/// vertex, a cluster may have a weight in every constraint, so it has an entry
/// for each.
class cluster_loads {
public:
  using item = vertex_loads::item;

  /// @tparam Loads `vertex_loads`, or `cluster_loads` for clusters of clusters.
  /// @param members The weights of the members; not kept.
  /// @param clusters [members] The cluster of each member, below `count`.
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
  /// The weight of the heaviest single vertex (not cluster) in a constraint:
  /// limits of parts do not depend on clusters.
  std::int64_t heaviest(int constraint) const { return heaviest_[constraint]; }

private:
  std::vector<item> items_; ///< [cluster, constraint]
  std::vector<std::int64_t> totals_;
  std::vector<std::int64_t> heaviest_;
};

/// How far a part may be above the mean, as a share of the mean.
inline constexpr double balance_tolerance = 0.05;

/// The load of each part in each constraint, against a cap: 5 % above the mean,
/// or the unavoidable load (the mean rounded up, the heaviest vertex). Code
/// that moves vertices updates it by `add` and `remove`; it does not know where
/// a vertex is. Borrows the loads, which must outlive it. Not thread-safe.
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

  /// Whether `p` can take `v` without exceeding a cap.
  bool fits(vertex_id v, part_id p) const;
  /// The smallest free share of the cap at `p`, over all constraints in which
  /// `v` has a weight. Below 0 where `p` exceeds its cap.
  double slack(vertex_id v, part_id p) const;
  /// Whether `p` exceeds a cap in a constraint in which `v` has a weight.
  bool is_overfull(vertex_id v, part_id p) const;

  /// Loads above their caps, in units of each constraint's mean, over all parts
  /// and constraints; 0 when all is balanced.
  double excess() const;
  /// The change of `excess` when `p` gets `v`.
  double excess_of_adding(vertex_id v, part_id p) const;
  /// The change of `excess` when `v` moves.
  double excess_of_moving(vertex_id v, part_id from, part_id to) const;
  /// The change of `excess` when `v` of part `p` and `u` of part `q` change
  /// places. Both have the same node type, and so the same constraints.
  double excess_of_swapping(vertex_id v, part_id p, vertex_id u,
                            part_id q) const;

private:
  double over(int constraint, std::int64_t load) const;

  const Loads* loads_;
  part_id parts_;
  std::vector<std::int64_t> caps_; ///< [constraints]
  /// [constraints]; 1 instead of 0, because it is a divisor.
  std::vector<double> means_;
  std::vector<std::int64_t> load_; ///< [parts, constraints]
};

using part_loads = basic_part_loads<vertex_loads>;

} // namespace graphmill
