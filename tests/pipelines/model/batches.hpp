#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/model/replica.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace graphmill::test {

/// A graph in memory: in-neighbour lists per edge type, features, labels.
struct toy_graph {
  dataset_info info;
  /// in_lists[edge type][destination] = sources.
  std::vector<std::vector<std::vector<node_id>>> in_lists;
  /// The same of weights; no lists of an edge type: it has none.
  std::vector<std::vector<std::vector<float>>> in_weights{};
  /// [edge type][destination][edges * feature width], like `in_lists`; empty:
  /// no edges have features.
  std::vector<std::vector<std::vector<float>>> edge_features{};
  /// As weights, of the ages of edges.
  std::vector<std::vector<std::vector<float>>> edge_ages{};
  std::vector<std::vector<float>> features; ///< Per node type, may be empty.
  std::vector<std::int64_t> labels;         ///< Of the target type.
  /// [nodes, bytes of a row] If its nodes have rows of labels.
  std::vector<std::uint8_t> label_rows{};

  std::int32_t in_degree(node_type_id type, node_id node) const;
  /// Of all edge types together; edges without a weight count 1.
  float in_weight(node_type_id type, node_id node) const;
};

struct toy_options {
  std::vector<std::int64_t> nodes{8};             ///< Per node type.
  std::vector<std::int64_t> widths{3};            ///< 0: no features.
  std::vector<std::pair<int, int>> edges{{0, 0}}; ///< Source, destination.
  int in_edges = 3; ///< Per node and edge type: 0..in_edges, some isolated.
  std::int64_t classes = 3;
};
toy_graph random_graph(std::mt19937_64& random, const toy_options& options);

/// Three node types and four edge types for kinds that know types, or two edge
/// types; their edges have three features, which differ by type.
toy_graph graph_with_edge_features(model_kind kind, std::mt19937_64& random);

/// Gives edges weights from 0 to 2, of all types but one, if there are several.
/// Some are 0, and so are all into node 2.
void add_weights(toy_graph& graph, std::mt19937_64& random);

/// Gives edges this many features, from -1 to 1; if they differ by type, those
/// of the second one none, and of the third one two more.
void add_edge_features(toy_graph& graph, std::mt19937_64& random,
                       std::int64_t width, bool differ = false);

/// Gives edges ages from 0 to 3 ticks of a second each; if types differ, those
/// of the second one none.
void add_ages(toy_graph& graph, std::mt19937_64& random, bool differ = false);

/// For `GENERATE(from_range(...))`: kinds that read features of edges.
std::vector<model_kind> edge_reading_kinds();

/// Gives all edges the weight 1.
void add_ones(toy_graph& graph);

/// For `GENERATE(from_range(...))`: those of tasks of nodes.
std::vector<model_kind> all_kinds();

/// Those of them that weights of edges can be used by.
std::vector<model_kind> weighing_kinds();

/// Sets what only kinds that attend take notice of, if this is one.
void add_attention_options(definition& def);

definition small_definition(model_kind kind, int hops);

/// The same of the task that `add_task` makes.
definition link_definition(model_kind kind, int hops, decoder_kind decoder);

/// For `GENERATE(from_range(...))`: those that score pairs of nodes.
std::vector<decoder_kind> all_decoders();

/// Samples `fanout` in-edges (all if -1) of each node, hop by hop, and
/// assembles a batch: a plain implementation of the conventions of
/// partition/sampling/sampling.hpp and pipelines/flow/batch.hpp.
minibatch make_batch(const toy_graph& graph, const definition& def,
                     const std::vector<node_id>& seeds, int fanout = -1);

/// The digest of a new model after some steps on these seeds.
std::string digest_after(int steps, const toy_graph& graph,
                         const definition& def,
                         const std::vector<node_id>& seeds, int fanout = -1);

/// The first nodes, as seeds.
std::vector<node_id> first_nodes(node_id count);

/// Makes a task of edges of the graph, over these edge types.
/// @param classes Of an edge; 0 for links.
void add_task(toy_graph& graph, edge_task_kind kind,
              std::vector<edge_type_id> edge_types, std::int64_t classes = 0);

/// The same of rows of the graph's task. `rows.nodes` are the seeds.
minibatch make_edge_batch(const toy_graph& graph, const definition& def,
                          const seed_batch& rows, int fanout = -1);

/// Options of `random_rows`.
struct row_options {
  std::size_t rows = 5;
  std::size_t wrong_destinations = 0;
  std::size_t wrong_sources = 0;
  std::size_t joint_destinations = 0; ///< Of each node type.
  std::size_t joint_sources = 0;
  std::size_t wrong_pairs = 0; ///< Without all others.
};

/// Random rows of the graph's task, with any of its edge types, weights, and
/// some negatives that do not exist. No two node types have as many joint
/// negatives.
seed_batch random_rows(std::mt19937_64& random, const toy_graph& graph,
                       const row_options& options);

} // namespace graphmill::test
