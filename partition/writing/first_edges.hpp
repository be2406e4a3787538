#pragma once

#include "messages/base/error.hpp"
#include "partition/writing/csc_sort.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill {

/// Where lists begin, or how many edges they have.
using offsets = std::vector<std::int64_t>;

/// How many edges nodes have.
struct degree_counts {
  /// Of each destination, one place behind its own: sums of them are where
  /// lists begin, [destinations + 1].
  offsets in;
  offsets out; ///< Of each source.

  explicit degree_counts(const csc_job& job)
    : in(static_cast<std::size_t>(job.destinations) + 1),
      out(static_cast<std::size_t>(job.sources)) {}

  void add(std::int64_t source, std::int64_t destination) {
    ++in[static_cast<std::size_t>(destination) + 1];
    ++out[static_cast<std::size_t>(source)];
  }
};

/// Lets each source into a list once. Lists are gone through one after the
/// other, so that it is enough to know in which list a source was last.
class first_edges {
public:
  /// @param weighted Whether edges have weights.
  first_edges(const csc_job& job, bool weighted);

  /// Whether the edge is to stay, which is then counted.
  /// @param weight 0 if there are none.
  result<bool> keep(std::int64_t source, std::int64_t destination,
                    float weight);

  /// Whether the weight of an edge is known only when its list is complete.
  bool sums() const { return job_.duplicates == duplicate_edges::sum; }

  /// What the weights of a source's edges add up to, in the list at hand.
  result<float> sum_of(std::int64_t source) const;

  degree_counts& kept() { return kept_; }

private:
  error unlike(std::int64_t source, std::int64_t destination,
               float weight) const;

  const csc_job& job_;
  degree_counts kept_;
  offsets last_list_;        ///< [sources] -1: in none yet.
  std::vector<float> first_; ///< [sources] Weight in that list; or empty.
  std::vector<double> sums_; ///< [sources] Likewise, of all edges so far.
};

} // namespace graphmill
