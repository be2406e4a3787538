#include "pipelines/model/seed_losses.hpp"

#include "partition/dataset/dataset.hpp"
#include "partition/dataset/label_rows.hpp"
#include "pipelines/kernels/class_scores.hpp"
#include "pipelines/kernels/labels/binary_cross_entropy.hpp"
#include "pipelines/kernels/labels/value_losses.hpp"
#include "pipelines/kernels/links/link_losses.hpp"

#include <cstddef>
#include <cstdint>

namespace graphmill {

namespace {

/// What the labels of a batch say of a model's logits, for one form.
struct loss_functions {
  result<void> (*check)(const model_layout&, const minibatch&,
                        std::size_t seeds);
  batch_metrics (*losses)(const model_layout&, const minibatch&, const_matrix,
                          double weight, matrix gradient, const loss_shape&);
  seed_outcomes (*outcomes)(const minibatch&, const_matrix, bool with_scores);
};

result<void> check_classes(const model_layout& layout, const minibatch& batch,
                           std::size_t seeds) {
  const auto& labels = batch.data.labels;
  if (labels.size() != seeds)
    return fail(ec::internal, "a batch has {} seeds and {} labels", seeds,
                labels.size());
  for (auto label : labels)
    if (label < -1 || label >= layout.classes)
      return fail(ec::invalid_data, "a seed has label {}; there are {} classes",
                  label, layout.classes);
  return ok();
}

template <label_kind Kind>
result<void> check_rows(const model_layout& layout, const minibatch& batch,
                        std::size_t seeds) {
  const auto& kind = traits_of(Kind);
  const auto& rows = batch.data.label_rows;
  if (rows.size() != seeds * kind.bytes(layout.classes))
    return fail(ec::internal, "a batch has {} seeds of {} {}, and {} bytes",
                seeds, layout.classes, kind.units, rows.size());
  if (const auto bad = find_bad_label(Kind, rows.span(),
                                      static_cast<std::size_t>(layout.classes)))
    return fail(ec::invalid_data, "a seed has the {} {}; {}", kind.unit,
                label_text(Kind, rows.span(), *bad), kind.expected);
  return ok();
}

result<void> check_links(const model_layout& layout, const minibatch& batch,
                         std::size_t) {
  if (!layout.decoder || !batch.rows)
    return fail(ec::internal, "a batch of links has no rows");
  return ok();
}

/// By the value of the form.
constexpr loss_functions functions[]{
  {check_classes,
   [](const model_layout&, const minibatch& batch, const_matrix logits,
      double weight, matrix gradient, const loss_shape& shape) {
     return cross_entropy(logits, batch.data.labels.span(), weight, gradient,
                          shape);
   },
   [](const minibatch& batch, const_matrix logits, bool with_scores) {
     return outcomes_of(logits, batch.data.labels.span(), with_scores);
   }},
  {check_rows<label_kind::multi_label>,
   [](const model_layout&, const minibatch& batch, const_matrix logits,
      double weight, matrix gradient, const loss_shape& shape) {
     return binary_cross_entropy(logits, batch.data.label_rows.span(), weight,
                                 gradient, shape.focus);
   },
   [](const minibatch& batch, const_matrix logits, bool with_scores) {
     return label_outcomes_of(logits, batch.data.label_rows.span(),
                              with_scores);
   }},
  {check_rows<label_kind::regression>,
   [](const model_layout& layout, const minibatch& batch, const_matrix logits,
      double weight, matrix gradient, const loss_shape&) {
     return value_losses(logits, batch.data.label_values(), layout.loss, weight,
                         gradient);
   },
   [](const minibatch& batch, const_matrix logits, bool) {
     return value_outcomes_of(logits, batch.data.label_values());
   }},
  {check_links,
   [](const model_layout& layout, const minibatch&, const_matrix logits,
      double weight, matrix gradient, const loss_shape&) {
     const auto& decoder = *layout.decoder;
     return link_losses(logits,
                        {decoder.loss, decoder.margin, decoder.temperature},
                        weight, gradient);
   },
   [](const minibatch& batch, const_matrix logits, bool with_scores) {
     return link_outcomes_of(logits, slots_of(*batch.rows), with_scores,
                             batch.rows->relations);
   }},
};

/// Multiplies the gradients of rows by the weights of the rows.
void weigh_rows(const minibatch& batch, matrix gradient) {
  if (!batch.rows || batch.rows->weights.empty() || gradient.data == nullptr)
    return;
  for (std::int64_t i = 0; i < gradient.rows; ++i)
    for (std::int64_t c = 0; c < gradient.columns; ++c)
      gradient.row(i)[c] *= batch.rows->weights[static_cast<std::size_t>(i)];
}

const loss_functions& functions_of(const model_layout& layout) {
  return functions[static_cast<std::size_t>(layout.outcomes)];
}

} // namespace

result<void> check_labels(const model_layout& layout, const minibatch& batch) {
  const auto seeds = batch.rows
                       ? batch.rows->rows()
                       : static_cast<std::size_t>(
                         batch.data.graph.nodes[layout.target].found.front());
  return functions_of(layout).check(layout, batch, seeds);
}

batch_metrics losses_of(const model_layout& layout, const minibatch& batch,
                        const_matrix logits, double weight, matrix gradient,
                        const loss_shape& shape) {
  const auto metrics =
    functions_of(layout).losses(layout, batch, logits, weight, gradient, shape);
  weigh_rows(batch, gradient);
  return metrics;
}

seed_outcomes outcomes_of(const model_layout& layout, const minibatch& batch,
                          const_matrix logits, bool with_scores) {
  return functions_of(layout).outcomes(batch, logits, with_scores);
}

} // namespace graphmill
