#include "pipelines/model/passes/link_head.hpp"

#include "pipelines/kernels/activation.hpp"
#include "pipelines/model/passes/class_scorer.hpp"
#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/passes/node_ranking.hpp"
#include "pipelines/model/passes/perceptron_scorer.hpp"
#include "pipelines/model/passes/query_scorer.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// All parameters of a decoder, by `at` of their numbers.
template <class Parameters, class At>
Parameters parameters_of(const decoder_layout& decoder, const At& at) {
  return {.relation = at(decoder.relation),
          .matrices = at(decoder.matrices),
          .hidden_weight = at(decoder.hidden_weight),
          .hidden_bias = at(decoder.hidden_bias),
          .output_weight = at(decoder.output_weight),
          .edge_weight = at(decoder.edge_weight)};
}

} // namespace

std::unique_ptr<edge_scorer> make_edge_scorer(const edge_scorer::setting& how) {
  if (how.decoder->kind == decoder_kind::mlp)
    return std::make_unique<perceptron_scorer>(how);
  if (how.classes > 1)
    return std::make_unique<class_scorer>(how);
  return std::make_unique<query_scorer>(how);
}

link_head::link_head(const setting& options,
                     std::span<const const_matrix> outputs)
  : set_(options), offsets_{0} {
  const auto& layout = *set_.layout;
  for (const auto& one : outputs)
    offsets_.push_back(offsets_.back() + one.rows);
  if (layout.outputs.size() == 1) {
    stack_ = outputs[static_cast<std::size_t>(layout.outputs.front())];
  } else {
    copied_ = {offsets_.back(), layout.output_width, set_.pool};
    for (std::size_t t = 0; t < outputs.size(); ++t)
      std::copy_n(outputs[t].data, outputs[t].size(),
                  copied_.view().row(offsets_[t]));
    stack_ = copied_.view();
  }
  rows_ = link_rows_of(*set_.rows, layout.decoder->ends, offsets_);
  const auto& store = *set_.parameters;
  scorer_ = make_edge_scorer({.decoder = &*layout.decoder,
                              .rows = &rows_,
                              .classes = layout.classes,
                              .nodes = stack_,
                              .row_features = row_features(),
                              .values = parameters_of<edge_scorer::parameters>(
                                *layout.decoder,
                                [&](int parameter) {
                                  return parameter == absent
                                           ? const_matrix{}
                                           : store.at(layout, parameter);
                                }),
                              .team = set_.team,
                              .pool = set_.pool});
}

/// No rows: the decoder reads no features of edges.
const_matrix link_head::row_features() const {
  const auto& layout = *set_.layout;
  const auto weight = layout.decoder->edge_weight;
  if (weight == absent)
    return {};
  return {set_.row_features, static_cast<std::int64_t>(set_.rows->rows()),
          layout.parameters[static_cast<std::size_t>(weight)].shape.front()};
}

/// Whether they are a term of the logits, and not of what is within a scorer.
bool link_head::adds_features() const {
  return set_.layout->decoder->edge_weight != absent
         && set_.layout->decoder->kind != decoder_kind::mlp;
}

/// The scores of a row and its wrong pairs lie one after the other.
template <class T>
basic_matrix<T> link_head::by_rows(basic_matrix<T> logits) const {
  if (set_.rows->wrong_pairs == 0)
    return logits;
  return {logits.data, rows_.count(), 1};
}

const_matrix link_head::forward() {
  const auto& layout = *set_.layout;
  const auto columns = layout.outcomes == outcome_form::ranks
                         ? slots_of(*set_.rows).count()
                         : layout.classes;
  logits_ = {static_cast<std::int64_t>(set_.rows->rows()), columns, set_.pool};
  const auto out = logits_.view();
  scorer_->forward(by_rows(out));
  if (adds_features())
    multiply(row_features(),
             set_.parameters->at(layout, layout.decoder->edge_weight), 1, out);
  if (layout.decoder->bias != absent)
    activate(out, set_.parameters->at(layout, layout.decoder->bias).data,
             activation::none, {}, 0, out.rows, out);
  if (set_.rows->full) {
    const auto& decoder = *layout.decoder;
    ranks_ = rank_among_all(
      {.batch = set_.rows,
       .rows = &rows_,
       .logits = out,
       .scorer = scorer_.get(),
       .loss = {decoder.loss, decoder.margin, decoder.temperature},
       .team = set_.team,
       .pool = set_.pool});
  }
  return out;
}

const_matrix link_head::ends() {
  const auto width = stack_.columns;
  ends_ = {static_cast<std::int64_t>(set_.rows->rows()), 2 * width, set_.pool};
  // Wrong pairs are rows behind their own.
  const auto each = 1 + set_.rows->wrong_pairs;
  for (std::int64_t i = 0; i < ends_.view().rows; ++i) {
    const auto at = static_cast<std::size_t>(i) * each;
    std::copy_n(stack_.row(rows_.sources[at]), width, ends_.view().row(i));
    std::copy_n(stack_.row(rows_.destinations[at]), width,
                ends_.view().row(i) + width);
  }
  return ends_.view();
}

void link_head::backward(const_matrix gradient, gradient_set& out) {
  const auto& layout = *set_.layout;
  const auto at = [&](int parameter) -> matrix {
    if (parameter == absent)
      return {};
    const auto& info = layout.parameters[static_cast<std::size_t>(parameter)];
    const auto width = info.shape.back();
    return {out.dense.data() + info.offset, info.size / width, width};
  };
  gradient_ = {stack_.rows, stack_.columns, set_.pool};
  const auto nodes = gradient_.view();
  std::fill(nodes.data, nodes.data + nodes.size(), 0.0f);
  if (layout.decoder->bias != absent)
    add_column_sums(gradient, 0, gradient.rows, at(layout.decoder->bias).data);
  if (adds_features())
    add_product_tn(*set_.team, row_features(), gradient,
                   at(layout.decoder->edge_weight), set_.pool);
  scorer_->backward(by_rows(gradient),
                    parameters_of<edge_scorer::gradients>(*layout.decoder, at),
                    nodes);
}

const_matrix link_head::gradient_of(node_type_id type) const {
  const auto t = static_cast<std::size_t>(type);
  return gradient_.view().slice(offsets_[t], offsets_[t + 1]);
}

} // namespace graphmill
