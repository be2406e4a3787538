#pragma once

#include "partition/sampling/sampling.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/flow/seed_batch.hpp"

#include <cstdint>

namespace graphmill {

/// Bytes that a batch holds once it is assembled: blocks, rows of features or
/// ids of rows of embedding tables, rows of labels of which a seed may have
/// several, and the transposed CSRs.
std::uint64_t bytes_of(const sampled_subgraph& graph, const dataset_info& info,
                       const batch_needs& needs);

/// What a batch takes besides while features of its edges are fetched: where
/// there are several parts, a list of the edges of each.
std::uint64_t edge_list_bytes(const sampled_subgraph& graph,
                              const dataset_info& info,
                              const batch_needs& needs, part_id parts);

/// The most bytes that a batch within `bound` can hold at any time, working
/// memory of sampling included: what the dispatcher reserves before the batch
/// is sampled. Once that is done, the other `bytes_of` gives the true size, and
/// the reservation shrinks to it.
std::uint64_t bytes_of(const subgraph_bound& bound, const dataset_info& info,
                       const batch_needs& needs, const sampling_scheme& scheme);

/// What the rows of a batch take besides, where edges are learnt: with features
/// of their own edges, if the decoder reads them.
inline std::uint64_t bytes_of(const seed_batch& rows,
                              const batch_needs& needs) {
  return rows.row_bytes() * (1 + needs.row_copies)
         + static_cast<std::uint64_t>(rows.rows())
             * static_cast<std::uint64_t>(needs.row_features) * sizeof(float);
}

} // namespace graphmill
