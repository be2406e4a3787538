#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/importers/keyed_split.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace graphmill {

/// What graph to generate.
struct rmat_options {
  int scale = 20;         ///< There are 2^scale nodes; from 1 to 30.
  std::int64_t edges = 0; ///< 0 for 24 per node (25,165,824 at scale 20).
  /// How likely an edge is in each quadrant: from low sources to low
  /// destinations, from low to high, and from high to low. What is left of 1 is
  /// from high to high.
  double a = 0.57;
  double b = 0.19;
  double c = 0.19;
  std::int64_t feature_width = 100;
  std::int64_t class_count = 47;
  std::uint64_t seed = 0;
  split_fractions fractions{0.1, 0.05, 0.05};
  bool reverse = false; ///< Add the reverse edges as `rev_links`.
  bool weights = false; ///< Draw a weight above 0 and up to 2 for each edge.
  std::string name{};   ///< Of the dataset; if empty, "rmat-<scale>".
};

/// Fails unless every field is within its range, and what is kept of the nodes
/// (about 160 bytes for each) within the memory that this process may take.
result<void> validate(const rmat_options& options);

/// Generates a random graph with a heavy-tailed degree distribution by
/// recursive choice of quadrants (R-MAT: Chakrabarti, Zhan, Faloutsos, SDM'04),
/// and plants labels that can be learnt from it (see planted_labels.hpp).
///
/// One node type `node`, one edge type `links`. The number of edges is exact:
/// self-loops are drawn again; repeated edges stay, as R-MAT draws them. Node
/// ids are scrambled by a keyed bijection, so that an id says nothing about the
/// degree. Every draw is a function of the seed and of the edge or node alone:
/// the same options give the same digest. Streams to disk, in memory that is
/// independent of the number of edges.
///
/// @param folder An existing, empty folder.
result<dataset_info> import_rmat(const rmat_options& options,
                                 const std::filesystem::path& folder,
                                 const progress_callback& on_progress = {});

} // namespace graphmill
