#pragma once

#include <cstdint>

namespace graphmill {

// The words that fields of a definition choose among: the enumerations of its
// schema without `unset`, in the same order.

enum class model_kind : std::uint8_t {
  sage,
  gcn,
  gat,
  rgcn,
  gin,
  sage_sum,
  sage_max,
  sage_pool,
  mlp,
  hetero_sage,
  rgat,
  gatv2,
  hgt,
  lookup,
  lightgcn
};
enum class optimizer_kind : std::uint8_t { adam, adamw, sgd };
enum class schedule_kind : std::uint8_t { constant, cosine, step };
enum class decayed_layers : std::uint8_t { all, first };
enum class seed_order : std::uint8_t { local, global };
enum class neighbour_use : std::uint8_t { sampled, all };
enum class edge_weight_use : std::uint8_t { use, ignore };
enum class edge_feature_use : std::uint8_t { use, ignore };
/// Which columns layers read of the age of an edge.
enum class edge_age_use : std::uint8_t { none, log, cosine };
/// What of the times of edges a seed may see.
enum class time_use : std::uint8_t { none, ignore, strict, inclusive };
/// Which edges of a task carry messages in evaluations.
enum class visible_edges : std::uint8_t { training, past };
/// How the messages of several relations into a node are put together.
enum class relation_use : std::uint8_t { sum, mean, mean_of_all };
enum class feature_precision : std::uint8_t { float32, float16 };
enum class cache_order : std::uint8_t { vip, degree };
/// Which in-edges of a node a fanout takes.
enum class sampling_method : std::uint8_t {
  uniform,
  weighted,
  labor,
  pinsage,
  hgt,
  saint
};
/// Whether a method takes in-edges out of the lists of nodes, as a draw kind
/// says.
constexpr bool draws_lists(sampling_method method) {
  switch (method) {
  case sampling_method::uniform:
  case sampling_method::weighted:
  case sampling_method::labor:
    return true;
  case sampling_method::pinsage:
  case sampling_method::hgt:
  case sampling_method::saint:
    return false;
  }
  return false;
}
/// Which edges a batch has among the nodes that were sampled: those that were
/// sampled, these and their reverses, or all of the graph.
enum class subgraph_kind : std::uint8_t { directional, bidirectional, induced };
enum class evaluation_metric : std::uint8_t {
  accuracy,
  loss,
  f1_macro,
  roc_auc,
  average_precision,
  f1_micro,
  mse,
  mae,
  f1,
  precision,
  recall,
  recall_at_fpr,
  precision_at_k,
  mrr,
  hits,
  mean_rank,
  ndcg,
  // What users write as recall@K and precision@K. Definitions have the words
  // and the rest apart, and these two never.
  recall_at,
  precision_at
};
/// Which split a run measures that trains nothing; none: it trains, or
/// predicts.
enum class measured_split : std::uint8_t { none, train, validation, test };
/// Of labels that are numbers.
enum class value_loss : std::uint8_t { mse, mae, huber };
enum class decoder_kind : std::uint8_t {
  dot,
  cosine,
  distmult,
  complex,
  transe,
  rotate,
  bilinear,
  mlp
};
enum class negative_kind : std::uint8_t { per_edge, joint, given };
enum class corrupted_end : std::uint8_t { destination, source, both, pair };
enum class negative_weight : std::uint8_t { uniform, degree };
enum class link_loss : std::uint8_t {
  bce,
  margin,
  bpr,
  softmax,
  self_adversarial
};
/// What a link that is learnt must not see.
enum class exclusion : std::uint8_t { pair, none };

/// Whether a metric is of labels that are numbers, and no other is.
constexpr bool is_of_values(evaluation_metric which) {
  return which == evaluation_metric::mse || which == evaluation_metric::mae;
}

/// Whether a metric is of one class alone, which has to be named.
constexpr bool is_of_one_class(evaluation_metric which) {
  return which >= evaluation_metric::f1
         && which <= evaluation_metric::precision_at_k;
}

/// Whether a metric is of the ranks of links among their negatives.
constexpr bool is_of_ranks(evaluation_metric which) {
  return which >= evaluation_metric::mrr;
}

/// Whether a metric is of the links that have the same source, among all nodes.
constexpr bool is_of_groups(evaluation_metric which) {
  return which >= evaluation_metric::ndcg;
}

/// Whether a metric takes the order of all seeds by their scores.
constexpr bool takes_scores(evaluation_metric which) {
  return which == evaluation_metric::roc_auc
         || which == evaluation_metric::average_precision
         || which == evaluation_metric::recall_at_fpr
         || which == evaluation_metric::precision_at_k;
}

} // namespace graphmill
