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

/// The most bytes that a batch within `bound` can hold at any time, working
/// memory of sampling included: what the dispatcher reserves before the batch
/// is sampled. Once that is done, the other `bytes_of` gives the true size, and
/// the reservation shrinks to it.
std::uint64_t bytes_of(const subgraph_bound& bound, const dataset_info& info,
                       const batch_needs& needs, const sampling_scheme& scheme);

/// What the rows of a batch take besides, where edges are learnt.
inline std::uint64_t bytes_of(const seed_batch& rows,
                              const batch_needs& needs) {
  return rows.row_bytes() * (1 + needs.row_copies);
}

} // namespace graphmill
