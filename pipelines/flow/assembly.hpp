#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/batch_needs.hpp"

#include <cstdint>
#include <memory>

namespace graphmill {

/// Builds what the model aggregates over. The arrays of `data.graph.edges` move
/// into the relations or are released; `global_seeds` is left to the caller.
///
/// With merged relations (only for graphs of one node type), there is one CSR
/// whose row holds the row of each edge type after the other, in dataset order,
/// with weights if any of them has some: edges of the others weigh 1;
/// else there is one relation per edge type. Transposed CSRs are there for the
/// layers from 2 on, and for layer 1 if `needs.input_gradient`. Fails with
/// `invalid_argument` if the graph has several node types to be merged, and
/// with `out_of_memory`; the batch is lost then.
/// @param pool Where new arrays take their memory from; null: the heap.
result<minibatch> assemble(fetched_batch data, const batch_needs& needs,
                           const dataset_info& info,
                           const std::shared_ptr<buffer_pool>& pool);

/// The transposed CSR of the first `rows` rows of `forward`, with its weights,
/// by a stable counting sort, so that the columns of each row ascend. Throws
/// std::bad_alloc.
/// @param sources The number of its rows. The caller warrants that all columns
/// of the first `rows` rows are below it.
csr transpose(const csr& forward, std::int64_t rows, std::int64_t sources,
              const std::shared_ptr<buffer_pool>& pool);

} // namespace graphmill
