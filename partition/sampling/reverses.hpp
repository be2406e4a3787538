#pragma once

#include "partition/sampling/sampling.hpp"

#include <memory>

namespace graphmill {

/// Adds the reverses of all sampled edges, in the types that `scheme.opposites`
/// names. An edge that was sampled is the reverse of one that was sampled the
/// other way round, so each pair of nodes has as many edges in both directions.
/// Of parallel edges, the first ones are; weights and times do not matter.
/// A row has its sampled edges first, then the reverses by their sources. A
/// reverse has the weight of its edge, 1 if that has none, and its id.
/// @param batch Whose nodes have been counted: rows are made for
/// `batch.rows(type, batch.hops)` nodes.
/// @param pool Of the lists; null: the heap. Throws std::bad_alloc.
void add_reverses(const dataset_info& info, const sampling_scheme& scheme,
                  sampled_subgraph& batch,
                  const std::shared_ptr<buffer_pool>& pool);

} // namespace graphmill
