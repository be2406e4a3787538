#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/base/random.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace graphmill {

/// Pairs of nodes, in original ids, that are no known link: no row of a task,
/// and no edge that was added. Of each edge type of the task it keeps the known
/// ones, sorted, in 8 bytes each; of a type that is its own reverse in both
/// directions. Pairs of a node with itself are
/// none of them, as in the graph autoencoders of Kipf and Welling (2016). Value
/// type; any number of threads may draw from it.
class unknown_pairs {
public:
  using pair = std::pair<std::uint64_t, std::uint64_t>; ///< Source first.

  /// Fails if a pair of nodes is no 64-bit number.
  /// @param known By place in the task's edge types: its rows, in any order and
  /// as often as they are there.
  static result<unknown_pairs> make(const dataset_info& info,
                                    const edge_task_info& task,
                                    std::vector<std::vector<pair>> known);

  /// Further known links of an edge type, in any order and as often as they are
  /// there.
  void add(std::size_t relation, std::vector<pair> more);

  /// How many pairs of an edge type are known. Those of a node with itself are
  /// left out.
  std::size_t known(std::size_t relation) const {
    return types_[relation].known.size();
  }

  /// One of all such pairs of an edge type, of equal chance, with a single
  /// number from the stream; none if all pairs are known.
  std::optional<pair> draw(std::size_t relation, random_stream& draws) const;

private:
  struct pairs_of_type {
    std::uint64_t columns = 0;          ///< Destinations of a source.
    std::uint64_t count = 0;            ///< Of all pairs, known ones included.
    bool within = false;                ///< Both ends are of one node type.
    bool both_ways = false;             ///< The type is its own reverse.
    std::vector<std::uint64_t> known{}; ///< Numbers of pairs, ascending.

    std::uint64_t number(pair of) const;
    pair pair_of(std::uint64_t number) const;
  };

  std::vector<pairs_of_type> types_;
};

} // namespace graphmill
