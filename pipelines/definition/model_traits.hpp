#pragma once

#include "messages/definition/definition.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphmill {

/// The function on a layer's output; ELU with alpha 1 (Clevert et al.,
/// ICLR'16).
enum class activation : std::uint8_t { none, relu, elu };

/// The messages of a relation to its destinations.
enum class message_form : std::uint8_t {
  /// A sum of rows, weighed by `term_normalisation`, times a weight matrix.
  sum,
  /// Attention over the sources, in `model.heads` heads; for untyped kinds also
  /// over the node itself.
  attention,
  /// The largest value of each column, times a weight matrix.
  maximum,
  /// Attention over the sources of all relations into a type together, in
  /// `model.heads` heads, by products of keys, queries and values of each node
  /// type, mapped by each relation.
  transformer,
  none, ///< Nothing: neighbours are ignored.
};

/// The score of a source for a destination in attention.
enum class attention_score : std::uint8_t {
  /// A number of each of them, added up (Velickovic et al., ICLR'18).
  separate,
  /// A product with the sum of both rows after LeakyReLU (Brody et al., "How
  /// attentive are graph attention networks?", ICLR'22).
  joint,
};

/// The weights of terms in `message_form::sum`.
enum class term_normalisation : std::uint8_t {
  mean, ///< All terms weigh the same, and 1 together.
  /// Terms are weighed by in-degrees over the full graph, and the node itself
  /// is a term (Kipf and Welling, ICLR'17).
  symmetric,
  unit, ///< Each term weighs 1.
  /// Terms are weighed as `symmetric` does, but the node itself is none, and
  /// relations into a type count as one (He et al., "LightGCN", SIGIR'20).
  degrees,
};

/// Whether the node itself is a term of the sum.
constexpr bool adds_itself(term_normalisation normalisation) {
  return normalisation == term_normalisation::symmetric;
}

/// Everything that distinguishes one kind of model from the others, in one
/// record. Code that depends on the kind asks its traits, and names no kind.
struct model_traits {
  model_kind kind = model_kind::sage;
  std::string_view name; ///< The name for users: its word in model_kind.capnp.
  /// Any node types, with weights of their own for each of them and for each
  /// edge type. Other kinds have one node type, and all edge types are one
  /// relation.
  bool typed = false;
  bool self_weight = false; ///< A weight matrix for the node's own row.
  message_form message = message_form::sum;
  term_normalisation normalisation =
    term_normalisation::mean; ///< Only for sums.
  /// The node itself is a term of the sum with the weight 1 + epsilon, which
  /// each layer learns. Only for sums.
  bool learns_own_weight = false;
  /// Neighbours go through a weight matrix, a bias and ReLU, as wide as hidden
  /// layers, before the largest values are taken. Only for maxima.
  bool pools = false;
  /// The sum of messages goes through a bias, ReLU and another weight matrix,
  /// as wide as hidden layers inside, before the layer's own bias.
  bool perceptron = false;
  /// The sum of messages goes through GELU (Hendrycks and Gimpel, 2016) and
  /// another weight matrix, as wide as hidden layers inside. A learnt gate
  /// weighs it against the node's own row: `skip_gate.hpp`.
  bool gated = false;
  /// Only for attention.
  attention_score score = attention_score::separate;
  activation between = activation::relu; ///< Ends each layer but the last.
  bool drop_input = false; ///< The input features are dropped out, too.
  /// Embeddings alone are learnt: layers have no parameters and are all as wide
  /// as the outputs. These are the rows of the tables or, with messages, the
  /// means over these and what all layers give. Only for tasks of edges.
  bool looks_up = false;

  constexpr bool hears() const { return message != message_form::none; }
  constexpr bool sums() const { return message == message_form::sum; }
  /// `model.relations` combines the sums of several relations.
  constexpr bool combines_relations() const {
    return sums() && typed && !looks_up;
  }
  /// Layers sum neighbours as they are, and outputs are means over layers.
  constexpr bool averages_layers() const { return looks_up && hears(); }
  /// Weights of edges have a meaning: they multiply the summed rows, or the
  /// powers that a softmax is made of.
  constexpr bool weighs_edges() const { return sums() || attends(); }
  /// Features of edges enter messages: sums by a product of their own, those
  /// with a learnt weight of the node itself ahead of a ReLU (GINE), attention
  /// both in scores and in what is summed.
  constexpr bool reads_edge_features() const {
    return (sums() && !looks_up) || attends();
  }
  /// They are added to the rows of sources, edge by edge, before a ReLU (Hu et
  /// al., "Strategies for pre-training graph neural networks", ICLR'20).
  constexpr bool adds_edges_to_rows() const {
    return sums() && learns_own_weight;
  }
  constexpr bool attends() const {
    return message == message_form::attention || attends_across();
  }
  /// Relations share the attention of a node, so their messages are computed
  /// together.
  constexpr bool attends_across() const {
    return message == message_form::transformer;
  }
  /// A relation scores its destinations by its own matrix, and they are no
  /// sources of themselves.
  constexpr bool attends_by_relation() const {
    return message == message_form::attention && typed;
  }
  /// Dropout may apply to the rows that attention sums.
  constexpr bool drops_messages() const {
    return message == message_form::attention && !typed;
  }
  /// Reads in-degrees over the full graph.
  constexpr bool needs_degrees() const {
    return sums()
           && (normalisation == term_normalisation::symmetric
               || normalisation == term_normalisation::degrees);
  }
  /// Computes a row for every node, also without in-edges.
  constexpr bool sums_all_rows() const {
    return sums() && (adds_itself(normalisation) || learns_own_weight);
  }
  /// A layer's own gradients flow along transposed edges, even if its input
  /// needs none.
  constexpr bool needs_transposed() const { return attends() || pools; }
};

/// The traits of all kinds, by the value of the kind. Add a new kind here, to
/// `model_kind`, and to `ModelKind` of the schema.
inline constexpr std::array model_kinds{
  model_traits{.kind = model_kind::sage, .name = "sage", .self_weight = true},
  model_traits{.kind = model_kind::gcn,
               .name = "gcn",
               .normalisation = term_normalisation::symmetric,
               .drop_input = true},
  model_traits{.kind = model_kind::gat,
               .name = "gat",
               .message = message_form::attention,
               .between = activation::elu,
               .drop_input = true},
  model_traits{.kind = model_kind::rgcn,
               .name = "rgcn",
               .typed = true,
               .self_weight = true},
  // Xu et al., "How powerful are graph neural networks?", ICLR'19.
  model_traits{.kind = model_kind::gin,
               .name = "gin",
               .normalisation = term_normalisation::unit,
               .learns_own_weight = true,
               .perceptron = true},
  // Hamilton et al., "Inductive representation learning on large graphs",
  // NIPS'17, with other aggregators than the mean.
  model_traits{.kind = model_kind::sage_sum,
               .name = "sage_sum",
               .self_weight = true,
               .normalisation = term_normalisation::unit},
  model_traits{.kind = model_kind::sage_max,
               .name = "sage_max",
               .self_weight = true,
               .message = message_form::maximum},
  model_traits{.kind = model_kind::sage_pool,
               .name = "sage_pool",
               .self_weight = true,
               .message = message_form::maximum,
               .pools = true},
  // With `sampler.fanouts` of 0 in every hop it samples nothing, either.
  model_traits{.kind = model_kind::mlp,
               .name = "mlp",
               .typed = true,
               .self_weight = true,
               .message = message_form::none},
  model_traits{.kind = model_kind::hetero_sage,
               .name = "hetero_sage",
               .typed = true,
               .self_weight = true},
  // Busbridge et al., "Relational graph attention networks", 2019, within
  // relations, and with a weight matrix for the node itself as rgcn has it.
  model_traits{.kind = model_kind::rgat,
               .name = "rgat",
               .typed = true,
               .self_weight = true,
               .message = message_form::attention},
  model_traits{.kind = model_kind::gatv2,
               .name = "gatv2",
               .message = message_form::attention,
               .score = attention_score::joint,
               .between = activation::elu,
               .drop_input = true},
  // Hu et al., "Heterogeneous graph transformer", WWW'20, with the gate of its
  // authors' program, and without relative temporal encoding.
  model_traits{.kind = model_kind::hgt,
               .name = "hgt",
               .typed = true,
               .message = message_form::transformer,
               .gated = true,
               .between = activation::none},
  model_traits{.kind = model_kind::lookup,
               .name = "lookup",
               .typed = true,
               .message = message_form::none,
               .between = activation::none,
               .drop_input = true,
               .looks_up = true},
  // He et al., "LightGCN: simplifying and powering graph convolution network
  // for recommendation", SIGIR'20.
  model_traits{.kind = model_kind::lightgcn,
               .name = "lightgcn",
               .typed = true,
               .normalisation = term_normalisation::degrees,
               .between = activation::none,
               .drop_input = true,
               .looks_up = true},
};

constexpr const model_traits& traits_of(model_kind kind) {
  return model_kinds[static_cast<std::size_t>(kind)];
}
static_assert(std::all_of(model_kinds.begin(), model_kinds.end(),
                          [](const model_traits& of) {
                            return &traits_of(of.kind) == &of;
                          }));

} // namespace graphmill
