#pragma once

#include "messages/work/seed_outcomes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace graphmill {

/// The ranks of links among negatives that replace one end: 1 + the negatives
/// with a larger score + half of those with an equal one. Counts are whole
/// numbers, so nothing depends on the order of links. Value type.
class rank_tally {
public:
  /// @param ranks Have passed the check of `seed_outcomes`.
  void add(std::span<const rank_count> ranks);

  std::int64_t rows() const { return rows_; }
  std::size_t distinct() const { return by_doubled_.size(); }

  // Of at least one row. Sums are made in double precision, by ascending rank.
  double mrr() const;       ///< Mean of 1 / rank.
  double mean_rank() const; ///< Mean of ranks.
  /// Share of rows with a rank of `most` or less.
  double hits(double most) const;

private:
  std::map<std::int64_t, std::int64_t> by_doubled_; ///< Rows by twice the rank.
  std::int64_t rows_ = 0;
};

/// Ranks of links in their groups: the links of an edge type that have the same
/// source. What a list of the K best nodes of each group finds, in which ties
/// count against links. Value type.
class group_tally {
public:
  /// @param groups Have passed the check of `seed_outcomes`.
  void add(std::span<const group_count> groups);

  std::size_t distinct() const { return counts_.size(); }

  // Means over groups, of which there is at least one. Sums are made in double
  // precision, by size and rank.
  double recall(double most) const;    ///< Links found, of those of the group.
  double precision(double most) const; ///< Links found, of K.
  /// The sum over links found of 1 / log2(rank + 1), of the largest such sum.
  double ndcg(double most) const;

private:
  template <class Value>
  double mean(double most, const Value& value) const;

  /// Links by size of their group and twice the rank.
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> counts_;
};

/// What an evaluation says of links. Both ends are ranked apart, and means are
/// over the ends that were ranked, of which there is at least one.
struct link_result {
  rank_tally destinations; ///< Among wrong destinations.
  rank_tally sources;      ///< Among wrong sources.
  std::int64_t tied = 0;   ///< Of all ranks, those that a tie has moved.
  group_tally groups;      ///< Of destinations that were ranked among all.
  /// The same of each edge type alone, by its place in the task: destinations,
  /// sources.
  std::map<std::int32_t, std::array<rank_tally, 2>> relations{};

  void add(const seed_outcomes& told);
  std::size_t distinct() const; ///< What it keeps apart.

  double mrr() const;
  double mean_rank() const;
  double hits(double most) const;
  double share_of_ties() const; ///< Of all ranks.
};

} // namespace graphmill
