#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// All nodes of some types, by original ids. Value type.
struct complete_nodes {
  /// Per node type; null: both ids are the same.
  template <class Id>
  using ids = std::vector<std::shared_ptr<const std::vector<Id>>>;

  std::vector<std::int64_t> counts; ///< 0: the type is none of these.
  ids<node_id> orders;              ///< Global ids, by original id.
  ids<local_id> originals;          ///< Original ids, by global id.

  local_id original(node_type_id type, node_id global) const {
    const auto& of = originals[static_cast<std::size_t>(type)];
    return of ? (*of)[static_cast<std::size_t>(global)]
              : static_cast<local_id>(global);
  }
};

/// How rows of links are ranked among all nodes of the types at an end, or at
/// both. A batch has all nodes of these types: their local ids are the original
/// ones. Lists are of global ids, ascending, and lie in what is kept.
struct full_ranking {
  bool destinations = false; ///< Whether these are replaced.
  bool sources = false;      ///< Likewise.
  std::shared_ptr<const complete_nodes> nodes;
  /// [rows, 2] The destinations that are known with a row's source, and the
  /// sources known with its destination: they are no candidates. The row's own
  /// node is none in any case. Empty: nothing is known.
  std::vector<std::span<const node_id>> known;
  /// [rows] The destinations of the row's group; the row's own is one of them.
  /// An empty one: the row says what an earlier one says. None: no destinations
  /// are ranked.
  std::vector<std::span<const node_id>> groups;
  std::vector<std::shared_ptr<const void>> keeps;

  std::uint64_t bytes() const {
    return (known.size() + groups.size()) * sizeof(std::span<const node_id>);
  }
};

/// The links of a split in groups: those of an edge type that have the same
/// source. Any number of threads may ask it.
class link_groups {
public:
  /// @param table Of links.
  explicit link_groups(const seed_table& table);

  /// The distinct destinations of the row's group, ascending. Nothing if an
  /// earlier row is the same link.
  std::span<const node_id> of(seed_row row) const;

private:
  std::vector<node_id> destinations_;
  std::vector<std::int64_t> begins_; ///< [groups + 1]
  std::vector<std::int64_t> group_;  ///< [rows] -1: the row repeats another.
};

} // namespace graphmill
