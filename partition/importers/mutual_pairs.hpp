#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/graph_changes.hpp"

#include <cstdint>
#include <filesystem>

namespace graphmill {

/// Of pairs of different nodes that edges of one type join, how many have edges
/// both ways.
struct pair_counts {
  std::int64_t pairs = 0;
  std::int64_t mutual = 0;
  bool sampled = false; ///< Only some pairs were looked at, chosen by a hash.
};

/// Counts the pairs of an edge type that joins nodes of one type, however often
/// each edge is there. Looks at about a million pairs, in one pass and in 24
/// MiB of memory.
pair_counts count_pairs(const dataset::edge_arrays& edges);

/// Tells of the edge types of the source that were imported as directed which
/// share of their pairs is mutual, as a list of edges without a direction often
/// has each of them once.
/// @param folder Of the new dataset, which is finished.
result<void> note_mutual_pairs(const std::filesystem::path& folder,
                               const edge_plan& plan,
                               const note_callback& on_note);

} // namespace graphmill
