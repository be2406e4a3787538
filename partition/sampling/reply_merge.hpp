#pragma once

#include "partition/sampling/sampling.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Checks that an answer fits its request: counts, sizes, ranges of ids.
/// @returns the number of its sources.
result<std::int64_t> check_reply(const dataset_info& info, part_id part,
                                 const neighbour_request& request,
                                 const neighbour_reply& reply);

/// Reads the answers of all parts about one edge type as one, in the order of
/// the frontier. Refers to the answers; owns nothing.
struct reply_merge {
  std::size_t rows = 0;            ///< Nodes of the frontier.
  std::span<const part_id> owners; ///< [rows]; empty with one part.
  /// Per part; null: it was not asked.
  std::vector<const neighbour_reply*> replies;

  /// Any answer with 8-byte ids?
  bool wide() const;

  /// Sources in all answers.
  std::size_t sources() const;

  /// Writes the running sum of the counts, from `sum` on, after each row.
  void write_indptr(std::int64_t sum, std::int64_t* indptr) const;

  /// Writes the sources' global ids. `Id` may be 4 bytes if not `wide`.
  template <class Id>
  void write_sources(Id* out) const;

  void write_edge_ids(edge_id* out) const;

private:
  bool single() const { return replies.size() == 1; }
  template <class Visit>
  void for_each_row(Visit visit) const;
};

} // namespace graphmill
