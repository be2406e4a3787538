#pragma once

#include "messages/definition/definition.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphmill {

/// The function that a layer's output goes through; ELU with alpha 1 (Clevert
/// et al., ICLR'16).
enum class activation : std::uint8_t { none, relu, elu };

/// What the edges of a relation bring to the nodes at their ends.
enum class message_form : std::uint8_t {
  /// A sum of rows, weighed as `term_normalisation` says, times a weight
  /// matrix.
  sum,
  /// Attention over the sources, in `model.heads` heads; where kinds are not
  /// typed, over the node itself, too.
  attention,
  /// The largest value of each column, times a weight matrix.
  maximum,
  /// Attention over the sources of all relations into a type together, in
  /// `model.heads` heads, by products of keys, queries and values that each
  /// node
  /// type makes, as each relation maps them.
  transformer,
  none, ///< Nothing: neighbours are not heard.
};

/// What attention is paid by: the score of a source for a destination.
enum class attention_score : std::uint8_t {
  /// A number of each of them, added up (Velickovic et al., ICLR'18).
  separate,
  /// A product with the sum of both rows after LeakyReLU (Brody et al., "How
  /// attentive are graph attention networks?", ICLR'22).
  joint,
};

/// How the terms of a `message_form::sum` are weighed.
enum class term_normalisation : std::uint8_t {
  mean, ///< All terms weigh the same, and 1 together.
  /// Terms are weighed by in-degrees over the full graph, and the node itself
  /// is a term (Kipf and Welling, ICLR'17).
  symmetric,
  unit, ///< Each term weighs 1.
};

/// Whether the node itself is a term of the sum.
constexpr bool adds_itself(term_normalisation normalisation) {
  return normalisation == term_normalisation::symmetric;
}

/// All that sets one kind of model apart from the others, in one record: what
/// depends on the kind of a model asks its traits, and names no kind.
struct model_traits {
  model_kind kind = model_kind::sage;
  std::string_view name; ///< As users write it: its word in model_kind.capnp.
  /// Any node types, and weights of its own for each of them and for each edge
  /// type. Others know one node type and take all edge types as one relation.
  bool typed = false;
  bool self_weight = false; ///< A weight matrix for the node's own row.
  message_form message = message_form::sum;
  term_normalisation normalisation =
    term_normalisation::mean; ///< Only for sums.
  /// The node itself is a term of the sum and weighs 1 + epsilon, a number that
  /// each layer learns. Only for sums.
  bool learns_own_weight = false;
  /// Neighbours go through a weight matrix, a bias and ReLU of their own before
  /// the largest values are taken, as wide as hidden layers. Only for maxima.
  bool pools = false;
  /// What the messages add up to goes through a bias, ReLU and another weight
  /// matrix, as wide as hidden layers inside, before the layer's own bias.
  bool perceptron = false;
  /// What the messages add up to goes through GELU (Hendrycks and Gimpel, 2016)
  /// and another weight matrix, as wide as hidden layers inside, and is weighed
  /// against the node's own row by a gate that is learnt: `skip_gate.hpp`.
  bool gated = false;
  /// Only for attention.
  attention_score score = attention_score::separate;
  activation between = activation::relu; ///< Ends each layer but the last.
  bool drop_input = false; ///< The input features are dropped out, too.

  constexpr bool hears() const { return message != message_form::none; }
  constexpr bool sums() const { return message == message_form::sum; }
  /// `model.relations` says how the sums of several relations come together.
  constexpr bool combines_relations() const { return sums() && typed; }
  /// Weights of edges have a meaning: they multiply what is summed.
  constexpr bool weighs_edges() const { return sums(); }
  constexpr bool attends() const {
    return message == message_form::attention || attends_across();
  }
  /// Relations share the attention of a node, so that their messages are made
  /// together.
  constexpr bool attends_across() const {
    return message == message_form::transformer;
  }
  /// A relation's destinations are scored by a matrix of their own, and are no
  /// sources of themselves.
  constexpr bool attends_by_relation() const {
    return message == message_form::attention && typed;
  }
  /// The rows that its attention sums may be dropped out.
  constexpr bool drops_messages() const {
    return message == message_form::attention && !typed;
  }
  /// Reads in-degrees over the full graph.
  constexpr bool needs_degrees() const {
    return sums() && normalisation == term_normalisation::symmetric;
  }
  /// Sums a row for every node, also for those without in-edges.
  constexpr bool sums_all_rows() const {
    return sums() && (adds_itself(normalisation) || learns_own_weight);
  }
  /// A layer's own gradients flow along transposed edges, even if none has to
  /// go on into its input.
  constexpr bool needs_transposed() const { return attends() || pools; }
};

/// The traits of all kinds, at the position that is the value of the kind. A
/// new kind is added here, to `model_kind`, and to `ModelKind` of the schema.
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
};

constexpr const model_traits& traits_of(model_kind kind) {
  return model_kinds[static_cast<std::size_t>(kind)];
}
static_assert(std::all_of(model_kinds.begin(), model_kinds.end(),
                          [](const model_traits& of) {
                            return &traits_of(of.kind) == &of;
                          }));

} // namespace graphmill
