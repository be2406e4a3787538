#pragma once

#include "messages/base/ids.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>
#include <span>
#include <vector>

// Kinds of drawing that depend on what is in a list. Every edge gets a key, and
// the edges with the smallest keys are taken; of equal keys, the first. Keys
// are integers, or quotients that IEEE 754 rounds in one way only, so that all
// machines draw the same.

namespace graphmill {

/// -log2((u + 1) / 2^64) in units of 2^-57, at least 1. In integers alone,
/// exact to about 2^-56: a table of 256 logarithms and seven terms of the
/// series of log(1 + r).
std::uint64_t minus_log2(std::uint64_t u);

/// What is left of a list leads to the whole one as `edge_skips` says; see
/// neighbour_lists.hpp. The original ids of its sources. Owns nothing.
class source_list {
public:
  /// @param begin Of the list in `indices`.
  /// @param skips As `edge_skips`.
  /// @param originals Original ids by global id; empty: they are the same.
  /// @param nodes Of the type of the sources.
  source_list(id_span indices, std::int64_t begin,
              std::span<const std::uint32_t> skips, id_span originals,
              std::int64_t nodes)
    : indices_(indices), begin_(begin), skips_(skips), originals_(originals),
      nodes_(nodes) {}

  /// The original id of the source of edge `j`; -1 if the file is broken and
  /// there is no such node.
  node_id operator[](std::uint32_t j) const;

private:
  id_span indices_;
  std::int64_t begin_;
  std::span<const std::uint32_t> skips_;
  id_span originals_;
  std::int64_t nodes_;
};

/// Draws positions in one list after the other. Keeps its memory between them:
/// up to 24 bytes for each edge of the longest one. Not thread-safe.
class keyed_draws {
public:
  /// Without replacement, ascending: edge j has the key -log2(u_j) / w_j, where
  /// u_j are words 2j and 2j + 1 of the stream of (key, original, middle), the
  /// first being the upper half (Efraimidis and Spirakis, "Weighted random
  /// sampling with a reservoir", 2006). That equals drawing edges one by one in
  /// proportion to the weights of those that are left. Edges of weight 0 come
  /// after all others, in the order of their u_j.
  /// @param weights Of all edges; more than there are positions.
  void by_weight(std::uint64_t key, std::uint64_t original,
                 std::uint32_t middle, std::span<const float> weights,
                 std::span<std::uint32_t> positions);

  /// With replacement, in the order of the draws. Draw i takes the first edge
  /// up to which the sum of weights exceeds x_i times the sum of all. Sums are
  /// of doubles in list order; x_i are the upper 53 bits of words 2i and 2i + 1
  /// of the stream, as a fraction. If all weights are 0, each draw is uniform:
  /// `random_stream::below`.
  void by_weight_repeatedly(std::uint64_t key, std::uint64_t original,
                            std::uint32_t middle,
                            std::span<const float> weights,
                            std::span<std::uint32_t> positions);

  /// LABOR-0 (Balin and Catalyurek, "Layer-neighbor sampling", 2023) with a
  /// fixed number of edges, ascending. The key of an edge is the first two
  /// words of the block with the counter (original id of its source, middle,
  /// n), the first being the lower half. n is how many edges before it in the
  /// list have the same source. So the lists of a hop prefer the same sources,
  /// while each list on its own is a uniform subset.
  /// @param degree Of what is left of the list.
  /// @returns whether all sources are nodes. If not, the file is broken.
  bool by_source(std::uint64_t key, std::uint32_t middle, std::uint32_t degree,
                 const source_list& sources,
                 std::span<std::uint32_t> positions);

private:
  struct candidate {
    std::uint64_t key = 0;
    std::uint32_t position = 0;
    friend auto operator<=>(const candidate&, const candidate&) = default;
  };
  struct slot {
    std::uint32_t place = 0; ///< One more than that of the first edge; 0: free.
    std::uint32_t edges = 0; ///< Of its source, so far.
  };

  void begin(std::size_t count);
  /// Positions ascend from call to call.
  void offer(std::uint64_t key, std::uint32_t position);
  /// Drops what is not among the smallest.
  void shrink();
  void take(std::span<std::uint32_t> positions);
  void begin_sources(std::uint32_t degree);
  /// How many edges before number `j` have its source, which is `original`.
  std::uint32_t earlier(const source_list& sources, std::uint32_t j,
                        node_id original, std::uint64_t key);

  std::size_t count_ = 0; ///< How many are wanted.
  std::vector<candidate> candidates_;
  bool limited_ = false; ///< Whether `limit_` is the largest that may be taken.
  std::uint64_t limit_ = 0;
  std::vector<slot> slots_; ///< A hash table of sources.
  int slot_bits_ = 0;
  std::vector<double> sums_;
};

} // namespace graphmill
