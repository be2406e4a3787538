#pragma once

#include "messages/base/error.hpp"
#include "messages/base/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace graphmill {

/// Which edges a batch may see, by their times, and which of these it takes.
/// Follows from the definition. Value type.
struct time_rule {
  bool used = false;       ///< Seeds see edges before their time alone.
  bool inclusive = false;  ///< And those of that very time.
  bool latest = false;     ///< Takes the last ones, and draws none.
  std::int64_t window = 0; ///< Ticks before the time of the seed; 0: no limit.
  /// Each row of seeds has a tree of its own, which shares no node with others.
  bool disjoint = false;

  friend bool operator==(const time_rule&, const time_rule&) = default;
};

/// The times before which the lists of a request show edges, and the rows of
/// seeds that the lists are of. Owns nothing.
struct time_limits {
  /// Of each list, or one of all lists; empty: there is no limit.
  std::span<const std::int64_t> until;
  /// Of each list the number of its row; empty: rows have no trees.
  std::span<const std::int64_t> rows;
  bool inclusive = false;
  bool latest = false;
  std::int64_t window = 0;

  bool limited() const { return !until.empty(); }
  std::int64_t until_of(std::size_t list) const {
    return until.size() == 1 ? until.front() : until[list];
  }

  /// The key of the draws of a list: trees draw independently of each other.
  std::uint64_t key_of(std::uint64_t key, std::size_t list) const {
    return rows.empty()
             ? key
             : mix64(key ^ mix64(static_cast<std::uint64_t>(rows[list]) + 1));
  }

  /// The edges that count, among times that ascend.
  struct range {
    std::size_t first = 0;
    std::size_t last = 0; ///< One past them.
  };
  range of(std::span<const std::int64_t> times, std::size_t list) const;

  /// How long before the time of a list an edge was, in ticks.
  /// @param time Of an edge that counts.
  float age(std::size_t list, std::int64_t time) const {
    // Without a sign: the difference may exceed the largest int64.
    return static_cast<float>(static_cast<std::uint64_t>(until_of(list))
                              - static_cast<std::uint64_t>(time));
  }

  /// What concerns `count` lists from number `from` on.
  time_limits piece(std::size_t from, std::size_t count) const;

  /// Fails with `invalid_argument` unless there are as many as lists, and no
  /// number is negative that must not be.
  result<void> check(std::size_t lists) const;
};

} // namespace graphmill
