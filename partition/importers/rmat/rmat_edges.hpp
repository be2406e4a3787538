#pragma once

#include "messages/base/ids.hpp"
#include "partition/importers/rmat/rmat.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace graphmill {

/// A bijection of the integers below 2^bits, keyed: rounds of an affine map by
/// an odd factor and of a shift folded into the low bits, each of them
/// invertible modulo 2^bits.
class id_scrambler {
public:
  id_scrambler(int bits, std::uint64_t key);

  std::uint64_t operator()(std::uint64_t id) const {
    for (const auto& round : rounds_) {
      id = (id * round.factor + round.offset) & mask_;
      id ^= id >> shift_;
    }
    return id;
  }

private:
  struct round {
    std::uint64_t factor; ///< Odd.
    std::uint64_t offset;
  };
  std::array<round, 4> rounds_;
  std::uint64_t mask_;
  int shift_;
};

/// The edges of an R-MAT graph: a pure function of the edge's number.
class rmat_edges {
public:
  explicit rmat_edges(const rmat_options& options);

  /// Source and destination of edge `e`; never the same node.
  std::pair<node_id, node_id> operator()(std::int64_t e) const;

private:
  int scale_;
  std::uint64_t key_;
  /// The bounds below which 32 random bits put an edge into the first quadrant,
  /// into one of the first two, and into one of the first three.
  std::array<std::uint32_t, 3> bounds_;
  id_scrambler scramble_;
};

} // namespace graphmill
