#include "messages/work/seed_outcomes.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

result<void> seed_outcomes::check() const {
  const auto is_class = [this](std::int32_t one) {
    return one >= 0 && one < classes;
  };
  if (classes < 1)
    return fail(ec::invalid_data, "outcomes of seeds of {} classes", classes);
  const auto multi_label = form == outcome_form::labels;
  if (form == outcome_form::values && !confusion.empty())
    return fail(ec::invalid_data,
                "outcomes of values that count {} pairs of classes",
                confusion.size());
  if (!confusion.empty() && !multi_label && classes > most_counted_classes)
    return fail(ec::invalid_data,
                "counts of pairs of {} classes; {} are the most", classes,
                most_counted_classes);
  // What is kept of them grows with the labels, of which each has an outcome.
  if (multi_label && !confusion.empty()
      && confusion.size() < static_cast<std::size_t>(classes))
    return fail(ec::invalid_data, "{} outcomes of {} labels", confusion.size(),
                classes);
  for (const auto& pair : confusion)
    if (!is_class(pair.label) || pair.count < 1
        || (multi_label ? pair.predicted < absent || pair.predicted > right
                        : !is_class(pair.predicted)))
      return fail(ec::invalid_data,
                  "{} seeds of class {} were taken for class {}, and there are "
                  "{} classes",
                  pair.count, pair.label, pair.predicted, classes);
  const auto width = static_cast<std::size_t>(classes);
  const auto valued = form == outcome_form::values ? scores.size() : 0;
  if (scores.size() % width != 0 || labels.size() != scored() * label_words()
      || values.size() != valued)
    return fail(
      ec::invalid_data,
      "{} scores for {} labels and {} values of seeds, and {} classes",
      scores.size(), labels.size(), values.size(), classes);
  if (!std::ranges::all_of(values,
                           [](float one) { return std::isfinite(one); }))
    return fail(ec::invalid_data,
                "a seed whose label should be a number has none");
  if (!multi_label && !std::ranges::all_of(labels, is_class))
    return fail(ec::invalid_data,
                "scores of a seed whose label is none of {} classes", classes);
  if (scores.size() + values.size() > most_batch_scores)
    return fail(ec::invalid_data, "{} scores of a batch; {} are the most",
                scores.size(), most_batch_scores);
  return ok();
}

} // namespace graphmill
