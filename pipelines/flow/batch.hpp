#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/ids.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/flow/seed_batch.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// A batch after the fetch stage: the blocks, and per node type what the model
/// reads of its nodes. Arrays that the model does not use stay empty (see
/// `batch_needs`). Like all forms of a batch it has one owner, a stage, at a
/// time, and is never shared.
struct fetched_batch {
  batch_key key;
  sampled_subgraph graph;
  /// Per node type: [nodes, floats of a row] float32, row = local id, in the
  /// form of its `row_form`. Empty for types without features.
  std::vector<pod_vector<float>> features;
  /// Per node type without features: original ids, rows of the embedding table.
  std::vector<pod_vector<node_id>> embedding_rows;
  /// Per node type, only for kinds of models that need them: in-degrees over
  /// the full graph, of all edge types together. Degrees within a batch would
  /// be wrong, because only some in-edges were sampled.
  std::vector<pod_vector<std::int32_t>> degrees;
  /// Likewise, if the model reads weights of edges: the sums of the weights of
  /// the same in-edges.
  std::vector<pod_vector<float>> in_weights;
  /// Per edge type, if the consumer reads them: [edges, feature width], in the
  /// order of `graph.edges`. Empty for types without features.
  std::vector<pod_vector<float>> edge_features;
  /// [rows, feature width] Of tasks of edges whose decoder reads the features
  /// of the rows' own edges; else empty.
  pod_vector<float> row_features;
  /// [seeds], -1 = none. Seeds are rows where edges are learnt; of links there
  /// are none.
  pod_vector<std::int64_t> labels;
  /// [seeds, `label_bytes()`] if nodes have rows of labels (`label_kind`); then
  /// `labels` are empty.
  pod_vector<std::uint8_t> label_rows;
  /// The rows where labels are numbers: [seeds, numbers].
  std::span<const float> label_values() const {
    return {reinterpret_cast<const float*>(label_rows.data()),
            label_rows.size() / sizeof(float)};
  }
  /// [seeds] Original ids; where edges are learnt, those of the edges.
  pod_vector<node_id> original_seeds;
};

/// A compressed sparse row matrix: row r has the columns [indptr[r], indptr[r +
/// 1]) of `columns`. Rows are nodes of one end of an edge type, columns those
/// of the other.
struct csr {
  pod_vector<std::int64_t> indptr; ///< [rows + 1], ascending from 0.
  pod_vector<local_id> columns;    ///< [edges]
  pod_vector<float> weights{};     ///< [edges]; empty: all are 1.

  /// For kernels: null means that all are 1.
  const float* weights_or_null() const {
    return weights.empty() ? nullptr : weights.data();
  }
};

/// A batch as the trainer gets it: `fetched_batch` plus the results of
/// assembly.
///
/// A *relation* is what a model layer aggregates over: one per edge type for a
/// relational model, and one in all (edge types merged row by row, in dataset
/// order) for a model with a single kind of edge.
struct minibatch {
  fetched_batch data;

  struct relation {
    node_type_id source = 0;
    node_type_id destination = 0;
    csr forward; ///< Rows: destinations; columns: sources; all hops.
    /// [edges, width] Features, in the order of `forward`; empty: none.
    pod_vector<float> edge_features{};
    pod_vector<float> ages{}; ///< [edges] Likewise, in ticks; empty: none.
    /// transposed[l], l = 0..L-1 for model layer l + 1 (which runs over blocks
    /// 1..L-l): rows are sources, columns destinations ascending. Empty where
    /// no gradient flows into that layer's input.
    std::vector<csr> transposed;
  };
  std::vector<relation> relations;
  /// Seeds of the step on all ranks; the loss is divided by them.
  std::int64_t global_seeds = 0;
  /// Rows of a task of edges; null where nodes are learnt.
  std::shared_ptr<const seed_batch> rows{};
};

} // namespace graphmill
