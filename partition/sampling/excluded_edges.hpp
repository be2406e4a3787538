#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

// Edges that a batch is sampled without, as if the graph did not have them: the
// answers and all draws are those of the graph without these edges, whose other
// edges keep their order.

/// Lists of edges to exclude, of some of the lists of a request. Owns nothing.
struct excluded_view {
  /// Positions of the lists in the request, plus `first`; ascending.
  std::span<const std::int64_t> at;
  std::span<const std::int64_t> begins; ///< [at + 1] In `edges`, ascending.
  std::span<const edge_id> edges; ///< Original ids; ascending within a list.
  std::int64_t first = 0;

  bool empty() const { return at.empty(); }
  std::size_t size() const { return at.size(); }
  /// The position in the request of list number `i` of these.
  std::size_t list(std::size_t i) const {
    return static_cast<std::size_t>(at[i] - first);
  }
  /// The edges to exclude from list number `i` of these.
  std::span<const edge_id> of(std::size_t i) const {
    return edges.subspan(static_cast<std::size_t>(begins[i]),
                         static_cast<std::size_t>(begins[i + 1] - begins[i]));
  }

  /// What concerns `count` lists of the request from number `from` on.
  excluded_view piece(std::size_t from, std::size_t count) const;

  /// Fails with `invalid_argument` unless positions and edges are as described,
  /// as those that come from outside may not be. Whether the edges are in the
  /// lists is not checked.
  /// @param lists Of the request.
  result<void> check(std::size_t lists) const;
};

/// The same with its arrays.
struct excluded_lists {
  std::vector<std::int64_t> at;
  std::vector<std::int64_t> begins;
  std::vector<edge_id> edges;

  excluded_view view() const { return {at, begins, edges}; }
  /// Adds a list behind the others.
  void add(std::size_t position, std::span<const edge_id> ids);
  /// Bytes of its elements.
  std::uint64_t byte_size() const;
};

/// Edges of one type to exclude from a batch, by destination. Value type.
struct excluded_edges {
  std::vector<node_id> destinations;   ///< Global ids, ascending, each once.
  std::vector<std::int64_t> begins{0}; ///< [destinations + 1] In `edges`.
  /// Original ids; those of a destination ascend, each once.
  std::vector<edge_id> edges;

  /// An edge and where it ends.
  struct entry {
    node_id destination = 0;
    edge_id edge = 0;
    friend auto operator<=>(const entry&, const entry&) = default;
  };
  /// Of edges in any order, perhaps some of them twice.
  static excluded_edges of(std::vector<entry> entries);

  bool empty() const { return destinations.empty(); }
  /// The edges of destination number `i`.
  std::span<const edge_id> of_destination(std::size_t i) const {
    return std::span{edges}.subspan(
      static_cast<std::size_t>(begins[i]),
      static_cast<std::size_t>(begins[i + 1] - begins[i]));
  }
  friend bool operator==(const excluded_edges&,
                         const excluded_edges&) = default;
};

} // namespace graphmill
