#pragma once

#include "partition/sampling/sampling.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Whether numbers may be weights or ages of edges: all are finite and none
/// below 0.
bool are_weights(std::span<const float> values);

/// Checks that an answer fits its request: counts, sizes, ranges of ids, and
/// that weights and ages are some. It may come from another process; whatever
/// passes can be numbered without further checks. Fails with `invalid_data` and
/// a sentence that names the part.
/// @returns the number of its sources.
result<std::int64_t> check_reply(const dataset_info& info, part_id part,
                                 const neighbour_request& request,
                                 const neighbour_reply& reply);

/// Reads the answers of all parts about one edge type as one, in the order of
/// the frontier: each part answers for the nodes that it owns, and a node's
/// list is the next one of its owner's answer. Refers to the answers, which
/// `check_reply` has passed; owns nothing.
struct reply_merge {
  std::size_t rows = 0;            ///< Nodes of the frontier.
  std::span<const part_id> owners; ///< [rows]; empty with one part.
  /// Per part; null: it was not asked.
  std::vector<const neighbour_reply*> replies;

  /// Whether any answer has ids of 8 bytes.
  bool wide() const;

  /// Sources in all answers.
  std::size_t sources() const;

  /// Writes the running sum of the counts, which starts from `sum`, as it is
  /// after each row. @param indptr [rows]
  void write_indptr(std::int64_t sum, std::int64_t* indptr) const;

  /// Writes the sources' global ids. `Id` may be 4 bytes if not `wide`.
  /// @param out [sources]
  template <class Id>
  void write_sources(Id* out) const;

  /// Writes the sources' edge ids. @param out [sources]
  void write_edge_ids(edge_id* out) const;

  /// Writes the weights of the sources' edges. @param out [sources]
  void write_weights(float* out) const;

  /// Writes their places in the parts. @param out [sources]
  void write_places(edge_id* out) const;

  /// Writes their ages. @param out [sources]
  void write_ages(float* out) const;

private:
  bool single() const { return replies.size() == 1; }
  template <class Visit>
  void for_each_row(Visit visit) const;
  template <class T>
  void write_each(pod_vector<T> neighbour_reply::*array, T* out) const;
};

} // namespace graphmill
