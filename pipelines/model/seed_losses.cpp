#include "pipelines/model/seed_losses.hpp"

#include "partition/dataset/dataset.hpp"
#include "partition/dataset/value_rows.hpp"
#include "pipelines/kernels/class_scores.hpp"
#include "pipelines/kernels/labels/binary_cross_entropy.hpp"
#include "pipelines/kernels/labels/value_losses.hpp"

#include <cstddef>
#include <cstdint>

namespace graphmill {

namespace {

result<void> check_label_rows_of(const model_layout& layout,
                                 const minibatch& batch, std::int64_t seeds) {
  const auto& rows = batch.data.label_rows;
  if (rows.size() != static_cast<std::size_t>(seeds * layout.classes))
    return fail(ec::internal,
                "a batch has {} seeds of {} labels, and {} values", seeds,
                layout.classes, rows.size());
  const auto width = static_cast<std::size_t>(layout.classes);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!fits_label_row(rows[i / width * width], rows[i]))
      return fail(ec::invalid_data,
                  "a seed has {} for a label; 0 or 1 expected, or {} for all",
                  rows[i], no_labels);
  return ok();
}

result<void> check_values_of(const model_layout& layout, const minibatch& batch,
                             std::int64_t seeds) {
  const auto& rows = batch.data.label_rows;
  const auto width = static_cast<std::size_t>(layout.classes);
  if (rows.size() != static_cast<std::size_t>(seeds) * width * sizeof(float))
    return fail(ec::internal, "a batch has {} seeds of {} values, and {} bytes",
                seeds, width, rows.size());
  if (const auto bad = find_bad_value(rows.span(), width))
    return fail(ec::invalid_data,
                "a seed has {} for a value; finite numbers expected",
                value_at(rows.span(), *bad));
  return ok();
}

} // namespace

result<void> check_labels(const model_layout& layout, const minibatch& batch) {
  const auto seeds = batch.data.graph.nodes[layout.target].found.front();
  if (layout.labels == label_kind::multi_label)
    return check_label_rows_of(layout, batch, seeds);
  if (layout.labels == label_kind::regression)
    return check_values_of(layout, batch, seeds);
  const auto& labels = batch.data.labels;
  if (labels.size() != static_cast<std::size_t>(seeds))
    return fail(ec::internal, "a batch has {} seeds and {} labels", seeds,
                labels.size());
  for (auto label : labels)
    if (label < -1 || label >= layout.classes)
      return fail(ec::invalid_data, "a seed has label {}; there are {} classes",
                  label, layout.classes);
  return ok();
}

batch_metrics losses_of(const model_layout& layout, const minibatch& batch,
                        const_matrix logits, double weight, matrix gradient,
                        const loss_shape& shape) {
  switch (layout.labels) {
  case label_kind::multi_label:
    return binary_cross_entropy(logits, batch.data.label_rows.span(), weight,
                                gradient, shape.focus);
  case label_kind::regression:
    return value_losses(logits, batch.data.label_rows.span(), layout.loss,
                        weight, gradient);
  case label_kind::classes:
    break;
  }
  return cross_entropy(logits, batch.data.labels.span(), weight, gradient,
                       shape);
}

seed_outcomes outcomes_of(const model_layout& layout, const minibatch& batch,
                          const_matrix logits, bool with_scores) {
  switch (layout.labels) {
  case label_kind::multi_label:
    return label_outcomes_of(logits, batch.data.label_rows.span(), with_scores);
  case label_kind::regression:
    return value_outcomes_of(logits, batch.data.label_rows.span());
  case label_kind::classes:
    break;
  }
  return outcomes_of(logits, batch.data.labels.span(), with_scores);
}

} // namespace graphmill
