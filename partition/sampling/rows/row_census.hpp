#pragma once

#include "messages/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>

namespace graphmill {

/// What a cache of rows would have done.
struct cache_offer {
  std::uint64_t bytes = 0; ///< Of rows; 0: no cache is worth a word.
  /// Share of the rows asked for so far that need not have been asked for.
  double spared = 0;
};

/// Counts how often the rows of other daemons are asked for, to tell what a
/// cache of those asked for most would have spared. Memory is bounded, for it
/// counts a sample of nodes: those whose hash lies below a bound, each from its
/// first request on. When there are too many, the bound is halved, and those
/// above it are forgotten (Waldspurger et al., "Efficient MRC Construction with
/// SHARDS", FAST '15; with as many nodes the error there is about a percent).
/// Any thread may call it; the lock is held for a request's ids.
class row_census {
public:
  /// Nodes that are counted, at most.
  static constexpr std::size_t most_nodes = 8192;

  /// Rows have been asked for. @param row_bytes That each takes in a cache.
  void add(node_type_id type, std::span<const node_id> ids,
           std::uint64_t row_bytes);

  /// The smallest cache, of a power of two of MiB, that would have spared four
  /// fifths of what the largest one would have; none if that is less than a
  /// tenth of all rows. A row that is kept has been asked for once, too. Rows
  /// are chosen in hindsight: no cache of that size would have spared more.
  cache_offer offer() const;

private:
  struct wanted {
    std::uint64_t times = 0;
    std::uint64_t bytes = 0;
  };

  void forget_half();

  mutable std::mutex mutex_;
  /// By hash, which is another one for each node.
  std::unordered_map<std::uint64_t, wanted> nodes_;
  unsigned halvings_ = 0; ///< Of the share of nodes that are counted.
};

} // namespace graphmill
