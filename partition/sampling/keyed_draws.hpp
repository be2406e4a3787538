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

  /// Writes the original ids of the sources of `out.size()` edges from number
  /// `from` on; 0 if the file is broken and there is no such node.
  /// @returns whether all are nodes.
  bool read(std::uint32_t from, std::span<std::uint64_t> out) const;

private:
  std::int64_t at(std::uint32_t j) const;

  id_span indices_;
  std::int64_t begin_;
  std::span<const std::uint32_t> skips_;
  id_span originals_;
  std::int64_t nodes_;
};

/// Draws positions in one list after the other. Keeps its memory between them.
/// Not thread-safe.
class keyed_draws {
public:
  /// Of the longest list, at the most.
  static constexpr std::uint64_t bytes_per_edge = 24;

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

  void begin(std::size_t count);
  /// Positions ascend from call to call.
  void offer(std::uint64_t key, std::uint32_t position);
  /// Drops what is not among the smallest.
  void shrink();
  void take(std::span<std::uint32_t> positions);
  /// Offers those of `keys_` that are not above a limit.
  void offer_up_to(std::uint64_t limit);
  /// Empties the filter, and makes room in it for so many keys.
  void begin_filter(std::size_t keys, std::size_t bits_each);
  bool is_marked(std::uint64_t key) const;
  void mark(std::uint64_t key);
  /// Puts the edges into `suspects_` that may have a key in common.
  void find_suspects();
  /// Gives keys of their own to the edges whose source is there before.
  void part_repeats(std::uint64_t key, std::uint32_t middle,
                    const source_list& sources);

  std::size_t count_ = 0; ///< How many are wanted.
  std::vector<candidate> candidates_;
  bool limited_ = false; ///< Whether `limit_` is the largest that may be taken.
  std::uint64_t limit_ = 0;
  // Vectors that lists share do not shrink, for they would be filled again.
  std::vector<std::uint64_t> all_keys_;
  std::span<std::uint64_t> keys_;     ///< Of all edges, by their sources.
  std::vector<std::uint64_t> filter_; ///< A bit for the first bits of a key.
  int filter_shift_ = 0;
  std::vector<std::uint32_t> suspects_;
  std::size_t suspected_ = 0; ///< How many of them there are.
  std::vector<double> sums_;
};

} // namespace graphmill
