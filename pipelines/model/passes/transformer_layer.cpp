#include "pipelines/model/passes/transformer_layer.hpp"

#include "pipelines/kernels/activation.hpp"
#include "pipelines/model/passes/attention_pass.hpp"
#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/passes/head_maps.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Rows whose edges a thread takes at a time.
constexpr std::int64_t rows_at_once = 256;

void set_to_zero(matrix x) {
  std::fill(x.data, x.data + x.size(), 0.0f);
}

} // namespace

transformer_layer::transformer_layer(setting options)
  : set_(std::move(options)), types_(set_.types.size()),
    relations_(set_.relations.size()) {
  for (std::size_t t = 0; t < types_.size(); ++t)
    project(set_.types[t], types_[t]);
  for (std::size_t r = 0; r < relations_.size(); ++r)
    if (set_.relations[r].forward != nullptr)
      begin_relation(r);
}

void transformer_layer::project(const type_parts& from,
                                type_state& into) const {
  const auto make = [&](std::int64_t count, const_matrix weight,
                        const float* bias) {
    owned_matrix out{count, set_.width, set_.pool};
    const auto rows = out.view();
    set_.team->for_pieces(
      rows.rows, chunk_rows,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        from.input.multiply(begin, end, weight, 0, rows.slice(begin, end));
        if (bias != nullptr)
          activate(rows, bias, activation::none, {}, begin, end, rows);
      });
    return out;
  };
  if (from.key.data != nullptr) {
    into.keys = make(from.input.rows.rows, from.key, nullptr);
    into.values = make(from.input.rows.rows, from.value, from.value_bias);
  }
  if (from.query.data != nullptr)
    into.queries = make(from.rows, from.query, from.query_bias);
}

void transformer_layer::begin_relation(std::size_t relation) {
  const auto& parts = set_.relations[relation];
  auto& state = relations_[relation];
  auto& to = types_[parts.destination];
  auto& from = types_[parts.source];
  const auto rows = set_.types[parts.destination].rows;
  const auto edges = parts.forward->indptr[rows];
  state.to_queries = query_map(parts.attention, parts.prior, set_.pool);
  state.to_messages = message_map(parts.message, set_.pool);
  state.queries = {rows, set_.width, set_.pool};
  multiply(*set_.team, to.queries.view(), state.to_queries.view(),
           state.queries.view());
  state.weights = {edges, set_.heads, set_.pool};
  if (parts.drop.threshold != 0)
    state.dropped_weights = {edges, set_.heads, set_.pool};
  state.sums = {rows, set_.width, set_.pool};
  if (parts.features.data != nullptr) {
    state.to_features = feature_map(parts.edge_weight, set_.heads, set_.pool);
    const auto columns = state.to_features.view().rows;
    state.edge_queries = {rows, columns, set_.pool};
    multiply_nt(*set_.team, state.queries.view(), state.to_features.view(),
                state.edge_queries.view());
    state.feature_sums = {rows, columns, set_.pool};
  }
  to.into.push_back(relation);
  to.work.push_back({.indptr = parts.forward->indptr.data(),
                     .columns = parts.forward->columns.data(),
                     .keys = from.keys.view(),
                     .values = from.values.view(),
                     .queries = state.queries.view(),
                     .weights = state.weights.data(),
                     .drop = parts.drop,
                     .dropped_weights = parts.drop.threshold != 0
                                          ? state.dropped_weights.data()
                                          : nullptr,
                     .sums = state.sums.view(),
                     .log_weights = parts.log_weights,
                     .features = parts.features,
                     .edge_queries = state.edge_queries.view(),
                     .feature_sums = state.feature_sums.view()});
}

projected_attention transformer_layer::task(node_type_id type) const {
  return {types_[type].work, set_.types[type].rows, set_.heads};
}

void transformer_layer::add_output(node_type_id type, std::int64_t begin,
                                   std::int64_t end, matrix y) {
  attend_across(task(type), begin, end);
  float beta = 0;
  for (const auto r : types_[type].into) {
    auto& of_edges = relations_[r];
    if (!of_edges.to_features.empty())
      multiply(of_edges.feature_sums.view().slice(begin, end),
               of_edges.to_features.view(), 1,
               of_edges.sums.view().slice(begin, end));
    multiply(relations_[r].sums.view().slice(begin, end),
             relations_[r].to_messages.view(), beta, y);
    beta = 1;
  }
  if (beta == 0)
    set_to_zero(y);
}

void transformer_layer::backward(
  const std::vector<const_matrix>& gradients,
  const std::vector<type_targets>& types,
  const std::vector<relation_targets>& relations) {
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if (set_.types[t].key.data == nullptr)
      continue;
    for (auto* owner : {&types_[t].key_gradient, &types_[t].value_gradient}) {
      *owner = {set_.types[t].input.rows.rows, set_.width, set_.pool};
      set_to_zero(owner->view());
    }
  }
  for (std::size_t t = 0; t < types_.size(); ++t)
    if (!types_[t].into.empty())
      backward_type(static_cast<node_type_id>(t), gradients[t], relations);
  for (std::size_t t = 0; t < types_.size(); ++t)
    backward_projections(set_.types[t], types_[t], types[t]);
}

/// All that flows back through the relations into a type.
void transformer_layer::backward_type(
  node_type_id type, const_matrix gradient,
  const std::vector<relation_targets>& targets) {
  const auto rows = set_.types[type].rows;
  auto& at = types_[type];
  std::vector<projected_gradients> through;
  for (const auto r : at.into) {
    auto& state = relations_[r];
    add_message_map_gradient(product_tn(state.sums.view(), gradient).view(),
                             targets[r].message);
    state.sums_gradient = {rows, set_.width, set_.pool};
    multiply_nt(*set_.team, gradient, state.to_messages.view(),
                state.sums_gradient.view());
    state.score_gradient = {state.weights.view().rows, set_.heads, set_.pool};
    state.queries_gradient = {rows, set_.width, set_.pool};
    if (!state.to_features.empty()) {
      const auto columns = state.to_features.view().rows;
      state.feature_sums_gradient = {rows, columns, set_.pool};
      multiply_nt(*set_.team, state.sums_gradient.view(),
                  state.to_features.view(), state.feature_sums_gradient.view());
      state.edge_queries_gradient = {rows, columns, set_.pool};
    }
    through.push_back({state.sums_gradient.view(), state.score_gradient.data(),
                       state.queries_gradient.view(),
                       state.feature_sums_gradient.view(),
                       state.edge_queries_gradient.view()});
  }
  const auto work = task(type);
  set_.team->for_pieces(
    rows, rows_at_once,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      attend_across_backward(work, begin, end, through);
    });
  at.query_gradient = {rows, set_.width, set_.pool};
  for (std::size_t k = 0; k < at.into.size(); ++k) {
    const auto r = at.into[k];
    backward_sources(r, through[k], at.work[k]);
    if (!relations_[r].to_features.empty())
      backward_edges(r, at.work[k], targets[r]);
    backward_queries(r, k == 0, targets[r]);
    for (auto* done :
         {&relations_[r].sums_gradient, &relations_[r].score_gradient,
          &relations_[r].queries_gradient, &relations_[r].edge_queries_gradient,
          &relations_[r].feature_sums_gradient})
      *done = {};
  }
}

/// Adds what a relation has of the gradients of keys and values.
void transformer_layer::backward_sources(
  std::size_t relation, const projected_gradients& of,
  const projected_attention::relation& work) {
  const auto& parts = set_.relations[relation];
  auto& from = types_[parts.source];
  const auto rows = set_.types[parts.destination].rows;
  const auto places =
    transposed_positions(*parts.forward, rows, *parts.transposed, set_.pool);
  const transposed_edges back{parts.transposed->indptr.data(),
                              parts.transposed->columns.data(), places.data()};
  const auto keys = from.key_gradient.view();
  const auto values = from.value_gradient.view();
  set_.team->for_pieces(
    keys.rows, rows_at_once,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      attend_across_sources_backward(work, set_.heads, back, of, begin, end,
                                     keys, values);
    });
}

/// Goes from the gradients of what features are scored by and of their sums to
/// those of E_r, of the relation's queries, and of learnt columns.
void transformer_layer::backward_edges(
  std::size_t relation, const projected_attention::relation& work,
  const relation_targets& into) {
  auto& state = relations_[relation];
  const const_matrix scored = state.edge_queries_gradient.view();
  const const_matrix summed = state.feature_sums_gradient.view();
  auto map = product_tn(state.feature_sums.view(), state.sums_gradient.view());
  add_product_tn(*set_.team, scored, state.queries.view(), map.view(),
                 set_.pool);
  add_feature_map_gradient(map.view(), set_.heads, into.edge_weight);
  const auto queries = state.queries_gradient.view();
  set_.team->for_pieces(
    queries.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      multiply(scored.slice(begin, end), state.to_features.view(), 1,
               queries.slice(begin, end));
    });
  const auto learnt = into.edge_columns;
  if (learnt.columns == 0)
    return;
  const auto first = work.features.columns - learnt.columns;
  set_.team->for_pieces(
    queries.rows, rows_at_once,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      add_shares_of_rows(work.indptr, work.shares(), set_.heads, summed, first,
                         begin, end, learnt);
      add_shares_of_rows(work.indptr, state.score_gradient.data(), set_.heads,
                         state.edge_queries.view(), first, begin, end, learnt);
    });
}

/// Goes from the gradient of a relation's queries to that of its map, and to
/// that of the type's queries, which the first relation sets.
void transformer_layer::backward_queries(std::size_t relation, bool first,
                                         const relation_targets& into) {
  const auto& parts = set_.relations[relation];
  const auto& state = relations_[relation];
  auto& to = types_[parts.destination];
  const auto gradient = state.queries_gradient.view();
  add_query_map_gradient(product_tn(to.queries.view(), gradient).view(),
                         parts.attention, parts.prior, into.attention,
                         into.prior);
  const auto sum = to.query_gradient.view();
  set_.team->for_pieces(
    sum.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      multiply_nt(gradient.slice(begin, end), state.to_queries.view(),
                  first ? 0 : 1, sum.slice(begin, end));
    });
}

void transformer_layer::backward_projections(const type_parts& from,
                                             const type_state& at,
                                             const type_targets& into) const {
  if (from.key.data != nullptr) {
    from.input.add_product_tn(*set_.team, at.key_gradient.view(), into.key,
                              set_.pool);
    from.input.add_product_tn(*set_.team, at.value_gradient.view(), into.value,
                              set_.pool);
    add_column_sums(at.value_gradient.view(), 0, from.input.rows.rows,
                    into.value_bias);
  }
  if (from.query.data != nullptr) {
    from.input.add_product_tn(*set_.team, at.query_gradient.view(), into.query,
                              set_.pool);
    add_column_sums(at.query_gradient.view(), 0, from.rows, into.query_bias);
  }
}

void transformer_layer::add_input_gradient(node_type_id type,
                                           std::int64_t begin, std::int64_t end,
                                           std::int64_t filled,
                                           matrix x) const {
  const auto& parts = set_.types[type];
  const auto& at = types_[type];
  set_to_zero(x.slice(std::max(begin, filled) - begin, end - begin));
  if (parts.key.data != nullptr) {
    multiply_nt(at.key_gradient.view().slice(begin, end), parts.key, 1, x);
    multiply_nt(at.value_gradient.view().slice(begin, end), parts.value, 1, x);
  }
  const auto own = std::clamp(parts.rows, begin, end);
  if (parts.query.data != nullptr && own > begin)
    multiply_nt(at.query_gradient.view().slice(begin, own), parts.query, 1,
                x.slice(0, own - begin));
}

/// transpose(a) b
owned_matrix transformer_layer::product_tn(const_matrix a,
                                           const_matrix b) const {
  owned_matrix out{a.columns, b.columns, set_.pool};
  set_to_zero(out.view());
  add_product_tn(*set_.team, a, b, out.view(), set_.pool);
  return out;
}

} // namespace graphmill
