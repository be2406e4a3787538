#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/definition/model_traits.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What values a parameter has before training: all zero, all one, drawn as
/// `initial_parameters` says, or the logarithms of frequencies from 1 down to
/// 1e-9, equally far apart.
enum class start : std::uint8_t { zeros, ones, glorot, frequencies };

/// A dense parameter: a piece of the flat buffer that holds all of them.
struct parameter_info {
  std::string name;
  std::vector<std::int64_t> shape;
  start begins = start::zeros;
  double limit = 0;        ///< For `start::glorot`: uniform in [-limit, limit).
  std::int64_t offset = 0; ///< Where in the buffer it begins, in floats.
  std::int64_t size = 0;   ///< How many floats it has.
};

/// A table of embeddings that are learnt, one row per node of a type without
/// features. Tables are no part of the flat buffer.
struct table_info {
  std::string name;
  node_type_id type = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  double scale = 1; ///< About how long its rows are before training.
};

/// Stands for the number of a parameter or table that the model does not have.
inline constexpr int absent = -1;

/// What one layer computes for one node type. Numbers of parameters are
/// positions in `model_layout::parameters`.
struct layer_type {
  std::int64_t in = 0;  ///< Width of its rows as input.
  std::int64_t out = 0; ///< Width as output; 0: no later layer needs it.
  /// Width of what its messages add up to: `out`, or with a perceptron or a
  /// gate the width inside.
  std::int64_t sum = 0;
  int self = absent;       ///< [in, sum]
  int inner_bias = absent; ///< [sum] Only with a perceptron.
  int inner = absent;      ///< [sum, out] With a perceptron or a gate.
  int gate = absent;       ///< [1] Only with a gate, as the next one.
  int skip = absent;       ///< [in, out] If these differ; see `skip_gate`.
  int bias = absent;       ///< [out]
  bool residual = false;   ///< Its rows as input are added, ahead of the norm.
  int norm_gain = absent;
  int norm_shift = absent;
  /// With `attends_across`: what its rows are as sources of a relation, and as
  /// destinations. Of [in, inside] each, with a bias [inside] but for keys: it
  /// would move all scores of a relation alike, which the softmax of a type
  /// that has one relation takes back.
  int key = absent;
  int value = absent;
  int value_bias = absent;
  int query = absent;
  int query_bias = absent;
};

/// What one layer reads and computes.
struct layer_layout {
  std::int64_t offset = 0; ///< Where its parameters begin; those of the next
                           ///< layer follow.
  std::vector<layer_type> types; ///< One per node type.
  /// One per relation: the number of its weight matrix, [in of the source, sum
  /// of the destination], or `absent`. With a pool, the width inside stands for
  /// that of the source.
  /// With `attends_across` the map of its values, [heads, d, d] for heads of
  /// width d.
  std::vector<int> weights;
  std::vector<int> pool_weights; ///< [in of the source, width inside]
  std::vector<int> pool_biases;  ///< [width inside]
  int epsilon = absent;          ///< [1]
  /// With bases: one per relation, [1, bases]. `weights` then are the bases of
  /// the relation's source type, [bases, in, sum].
  std::vector<int> factors;
  /// One per relation whose edges have features: [features, sum of the
  /// destination]; with GINE [features, in of the source], with attention
  /// [features, heads * out per head], with `attends_across` [features,
  /// inside].
  std::vector<int> edge_weights;
  std::vector<int> edge_biases; ///< With GINE alone: [in of the source]
  std::vector<int> edge_scores; ///< Of separate scores: [heads, out per head]
  /// Of its attention; those of the last layer are as wide as there are
  /// classes, and averaged.
  std::int64_t heads = 1;
  /// With `attends_by_relation`: one per relation.
  std::vector<int> source_scores;      ///< [heads, out per head]
  std::vector<int> destination_scores; ///< [in of the destination, heads]
  /// With `attends_across`: the width of all heads together, and one per
  /// relation.
  std::int64_t inside = 0;
  std::vector<int> score_maps; ///< [heads, d, d]
  std::vector<int> priors;     ///< [heads]
  /// [heads, out per head]; of joint scores the vector for both ends.
  int attention_source = absent;
  int attention_destination = absent; ///< [heads, out per head]
  /// Of joint scores, instead: [in, heads * out per head].
  int attention_weight = absent;
  activation after = activation::none;
  bool last = false; ///< What it gives are the outputs.
};

/// What messages go along: an edge type, or for models that are not typed all
/// edge types together.
struct relation_info {
  std::string name;
  node_type_id source = 0;
  node_type_id destination = 0;
  /// What its messages are multiplied by: one over the relations into its
  /// destination, with `relation_use::mean_of_all`.
  float share = 1;
  /// Columns of its edges that layers read: features, and behind these the ones
  /// that are made of ages.
  std::int64_t edge_width = 0;
  std::int64_t age_width = 0;

  std::int64_t feature_width() const { return edge_width - age_width; }
};

/// How ages of edges make columns: cos(w age + b) with learnt w and b, or else
/// log(1 + age).
struct age_layout {
  double scale = 1;           ///< What ages in ticks are multiplied by first.
  int log_frequency = absent; ///< [age width] log(w)
  int phase = absent;         ///< [age width] b

  bool learns() const { return phase != absent; }
};

/// The node types that an edge type of a task joins.
struct edge_ends {
  node_type_id source = 0;
  node_type_id destination = 0;

  friend bool operator==(const edge_ends&, const edge_ends&) = default;
};

/// What makes logits of the outputs of the ends of edges, in tasks of edges.
/// Numbers of parameters are positions in `model_layout::parameters`.
struct decoder_layout {
  decoder_kind kind = decoder_kind::dot;
  std::uint32_t norm = 1;      ///< Of transe.
  std::vector<edge_ends> ends; ///< One per edge type of the task.
  /// [edge types, output width], or half of that for the angles of rotate.
  int relation = absent;
  /// [edge types * classes, output width, output width] Of bilinear.
  int matrices = absent;
  /// Of mlp: [3 * output width, inside], [edge types, inside] and [inside,
  /// classes].
  int hidden_weight = absent;
  int hidden_bias = absent;
  int output_weight = absent;
  int bias = absent; ///< [classes] Not for links, where it would say nothing.
  /// Where the features of the edge itself are read: [features, inside] with
  /// mlp, else [features, classes].
  int edge_weight = absent;
  link_loss loss = link_loss::bce;
  double margin = 1;
  double temperature = 1;
};

/// A model as numbers: what there is to learn, of which shape, and what each
/// layer reads. A function of definition and dataset alone.
struct model_layout {
  model_traits traits; ///< What its kind is like.
  int hops = 0;
  node_type_id target = 0;
  /// Classes, or labels or numbers: values of a seed. 1 for links.
  std::int64_t classes = 0;
  /// Node types whose seeds have outputs, ascending: the target, or the types
  /// at the ends of a task's edges.
  std::vector<node_type_id> outputs;
  std::int64_t output_width = 0; ///< Without a decoder as `classes`.
  outcome_form outcomes = outcome_form::classes; ///< Of the task.
  value_loss loss = value_loss::mse;             ///< Where labels are numbers.
  std::uint32_t drop_threshold = 0;
  std::uint32_t attention_threshold = 0; ///< `dropout::threshold` of weights.
  std::uint32_t message_threshold = 0; ///< The same of rows that are attended.
  std::vector<relation_info> relations;
  /// How the sums of those into the same type come together.
  relation_use combine = relation_use::sum;
  std::int64_t bases = 0;         ///< 0: each relation has a matrix of its own.
  std::optional<age_layout> ages; ///< Only if layers read them.
  std::vector<layer_layout> layers;
  /// [hops * hidden, output width]; `jumping_head`.
  int jumping_weight = absent;
  int jumping_bias = absent;             ///< [output width]
  std::optional<decoder_layout> decoder; ///< Of tasks of edges.
  /// Where the parameters behind the last layer begin: those of jumping
  /// knowledge and of the decoder.
  std::int64_t head_offset = 0;
  std::vector<parameter_info> parameters; ///< In registration order.
  std::int64_t dense_size = 0;            ///< Floats of all of them.
  /// Floats behind the dense gradients of a step that are added up over the
  /// ranks as these are: with class weights one, for what the seeds of a rank
  /// weigh together, over the seeds of the step. By their sum gradients are
  /// divided when they are applied, which makes the mean a weighted one.
  std::int64_t statistics = 0;
  std::vector<double> class_weights; ///< [classes]; empty: all are 1.
  std::vector<table_info> tables;
  /// One per node type: the position of its table in `tables`, or `absent`.
  std::vector<int> table_of;
  std::vector<row_form> feature_rows; ///< One per node type.

  /// How many values there are to learn, those of tables included.
  std::int64_t parameter_count() const;
  /// Whether the seeds of a type have outputs.
  bool gives(node_type_id type) const {
    return std::find(outputs.begin(), outputs.end(), type) != outputs.end();
  }
  /// Whether features of edges are added to rows of sources (GINE).
  bool adds_edges() const {
    return traits.adds_edges_to_rows() && relations.front().edge_width != 0;
  }
  /// Whether the outputs of all layers make the outputs together.
  bool jumps() const { return jumping_weight != absent; }
  /// Floats of a step's dense gradients, with what stands behind them.
  std::int64_t gradient_size() const { return dense_size + statistics; }
  /// Whether the first layer, on a CPU, multiplies packed rows of a type as
  /// they are: if it reads them for products with weights alone, and they are
  /// not what the last layer reads, which is given out as embeddings.
  bool multiplies_packed(node_type_id type) const {
    const auto& first = layers.front().types[type];
    const auto gates_rows = first.gate != absent && first.skip == absent;
    return feature_rows[type].packed() && hops > 1 && bases == 0
           && (traits.message != message_form::maximum || traits.pools)
           && !adds_edges() && !first.residual && !gates_rows;
  }
  /// Whether a layer takes messages of a relation.
  bool carries(int layer, std::size_t relation) const {
    const auto& in = layers[static_cast<std::size_t>(layer)];
    return in.weights[relation] != absent
           || (traits.averages_layers()
               && in.types[static_cast<std::size_t>(
                             relations[relation].destination)]
                      .out
                    != 0);
  }
  /// Whether a gradient flows into the rows of `type` that enter layer `layer`
  /// (from 0): into the output of the layer before, or into a table, but not
  /// into features.
  bool needs_gradient(int layer, node_type_id type) const {
    return layer > 0 || table_of[type] != absent;
  }
};

/// The layout of a definition that fits the dataset (`check_against`). Fails
/// when it asks for a model that cannot be computed.
result<model_layout> make_layout(const definition& def,
                                 const dataset_info& info);

} // namespace graphmill
