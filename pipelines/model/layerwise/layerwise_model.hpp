#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "messages/definition/definition.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/layerwise/degree_propagation.hpp"
#include "pipelines/model/layerwise/layer_piece.hpp"
#include "pipelines/model/layerwise/original_graph.hpp"
#include "pipelines/model/layerwise/row_store.hpp"
#include "pipelines/model/passes/relation_pass.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// Inference over all nodes and all their neighbours, on the CPU: layer by
/// layer, so that each layer is computed once for each node, where batches
/// compute it for every node that a batch has found.
///
/// Layers are made by pieces of `chunk_rows` nodes in the order of original
/// ids, each by one thread. So the result is a function of dataset and weights:
/// the same to the bit for any number of threads and of parts, in memory and on
/// disk. Batches with all neighbours compute the same sums, but multiply rows
/// in other company, which BLAS rounds differently: both agree to a few units
/// in the seventh decimal. Edges that a task of edges holds out carry no
/// message, unless evaluations see those of the past: then all do, as for a row
/// after all edges. Edge types and hops that training does not sample carry
/// none.
///
/// Two layers are held at a time, by a `row_room`; with jumping knowledge and
/// means over layers all layers of types with outputs; where relations share
/// their attention, keys and values of all types besides. A piece takes memory
/// for its rows and its edges. Used by one thread.
class layerwise_model {
public:
  struct options {
    unsigned threads = 1;
    /// For rows of layers; what is beyond goes to files.
    std::uint64_t memory_bytes = 0;
    std::filesystem::path scratch; ///< An existing folder for these files.
    /// Whether to give up; asked now and then, from any thread. May be empty.
    std::function<bool()> stopped = {};
    progress_callback on_progress = {};
  };

  /// What there is to know of all nodes of a type, by original id. Lives no
  /// longer than the model.
  struct rows {
    const_matrix view;
    std::shared_ptr<const row_store> owner; ///< Null: of the model or the data.
  };
  struct outcome {
    /// By `model_layout::outputs`: [nodes, output width]; of tasks of nodes
    /// these are the logits of the target.
    std::vector<rows> outputs;
    /// What was asked for, in that order.
    std::vector<rows> embeddings;
    std::uint64_t file_bytes = 0; ///< That went to files, in all.
  };

  /// @param def With the kind and sizes of the model.
  /// @param weights All of its parameters; fails if they are of another model.
  static result<std::unique_ptr<layerwise_model>>
  create(const definition& def, const std::vector<named_tensor>& weights,
         original_graph graph, options how);

  /// @param embeddings Of tasks of nodes: types whose rows are wanted as they
  /// enter the last layer that reads them, or the head of jumping knowledge.
  /// Fails with `invalid_argument` if no layer reads a type, or the first one
  /// alone, where these are its features; with `cancelled` once `stopped` says
  /// so.
  result<outcome> run(const std::vector<node_type_id>& embeddings);

  /// For whoever goes on with the outputs.
  const model_layout& layout() const { return layout_; }
  const parameter_store& parameters() const { return parameters_; }
  const original_graph& graph() const { return graph_; }
  const options& setting() const { return how_; }
  thread_team& team() { return team_; }
  const std::shared_ptr<buffer_pool>& pool() const { return pool_; }

private:
  layerwise_model(model_layout layout, const definition& def,
                  original_graph graph, sampling_scheme scheme, options how);

  using piece_rows =
    std::function<result<owned_matrix>(std::int64_t begin, std::int64_t end)>;
  result<rows> make(std::int64_t count, std::int64_t columns,
                    const piece_rows& piece);
  /// What types make of their rows for all relations, by node type; where
  /// relations share no attention nothing.
  struct projections {
    std::vector<rows> keys;
    std::vector<rows> values;
  };

  result<rows> input(node_type_id type);
  result<rows> product(node_type_id type, const_matrix h, int weight, int bias,
                       activation then);
  result<projections> project(int layer, const std::vector<rows>& in);
  result<std::vector<rows>> next_layer(int layer, const std::vector<rows>& in);
  std::vector<edge_type_id> sampled_types(int layer,
                                          std::size_t relation) const;
  result<rows> propagated(int layer, node_type_id type,
                          const std::vector<rows>& in);
  result<rows> layer_rows(int layer, node_type_id type,
                          const std::vector<rows>& in,
                          const projections& projected);
  result<void> add_relation(int layer, std::size_t number,
                            const std::vector<rows>& in,
                            std::vector<layer_piece::relation>& out,
                            std::vector<rows>& owners);
  result<rows> joined(const std::vector<rows>& layers);
  result<rows> mean_of(const std::vector<rows>& layers);
  result<rows> output_of(const std::vector<rows>& layers, rows& embeddings);
  result<void> check_embeddings(const std::vector<node_type_id>& types) const;
  bool far(const rows& of) const;

  const model_layout layout_;
  parameter_store parameters_;
  const original_graph graph_;
  const sampling_scheme scheme_;
  const options how_;
  const bool rounded_;
  const bool weights_; ///< Those of edges are read.
  row_room room_;      ///< Before all stores.
  std::shared_ptr<buffer_pool> pool_;
  thread_team team_;
  pod_vector<std::int32_t> degrees_; ///< Of symmetric sums.
  pod_vector<float> in_weights_;     ///< Likewise, with weights.
  relation_scales scales_;           ///< Of them: `column`, by node.
  std::optional<degree_propagation>
    propagation_; ///< Of layers without weights.
};

} // namespace graphmill
