#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/ids.hpp"
#include "partition/sampling/sampling.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// A batch as the fetch stage fills it: the blocks, and per node type what the
/// model reads of its nodes. Arrays that the model does not use stay empty
/// (see `batch_needs`). Like all forms of a batch it is owned by one stage at a
/// time, moves on to the next one, and is never shared.
struct fetched_batch {
  batch_key key;
  sampled_subgraph graph;
  /// Per node type: [nodes, floats of a row] float32, row = local id; a row is
  /// as its `row_form` says. Empty for types without features.
  std::vector<pod_vector<float>> features;
  /// Per node type without features: original ids, rows of the embedding table.
  std::vector<pod_vector<node_id>> embedding_rows;
  /// Per node type, only for kinds of models that need them: in-degrees over
  /// the full graph, all edge types together. Degrees within a batch would be
  /// wrong, since only some in-edges have been sampled.
  std::vector<pod_vector<std::int32_t>> degrees;
  /// Likewise, where edges have weights that the model reads: the sums of the
  /// weights of the same in-edges.
  std::vector<pod_vector<float>> in_weights;
  pod_vector<std::int64_t> labels; ///< [seeds], -1 = none.
  /// [seeds, `label_bytes()`] where nodes have rows of labels (`label_kind`);
  /// `labels` are empty then.
  pod_vector<std::uint8_t> label_rows;
  pod_vector<node_id> original_seeds; ///< [seeds]
};

/// A compressed sparse row matrix: row r has the columns [indptr[r], indptr[r +
/// 1]) of `columns`. Rows stand for nodes of one side of an edge type, columns
/// for those of the other one.
struct csr {
  pod_vector<std::int64_t> indptr; ///< [rows + 1], ascending from 0.
  pod_vector<local_id> columns;    ///< [edges]
  pod_vector<float> weights{};     ///< [edges]; empty: all are 1.

  /// For kernels, to which null says that all are 1.
  const float* weights_or_null() const {
    return weights.empty() ? nullptr : weights.data();
  }
};

/// A batch as the trainer takes it: `fetched_batch` plus what assembly made.
///
/// A *relation* is what a model layer aggregates over: one per edge type for a
/// relational model, one in all (edge types merged row by row, in dataset
/// order) for a model that knows a single kind of edge.
struct minibatch {
  fetched_batch data;

  struct relation {
    node_type_id source = 0;
    node_type_id destination = 0;
    csr forward; ///< Rows: destinations; columns: sources; all hops.
    /// transposed[l], l = 0..L-1 for model layer l + 1 (which runs over blocks
    /// 1..L-l): rows are sources, columns destinations ascending. Empty where
    /// no gradient flows into that layer's input.
    std::vector<csr> transposed;
  };
  std::vector<relation> relations;
  /// Seeds of the step on all ranks, by which the loss is divided.
  std::int64_t global_seeds = 0;
};

} // namespace graphmill
