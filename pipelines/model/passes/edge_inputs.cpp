#include "pipelines/model/passes/edge_inputs.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Edges that a thread takes at a time.
constexpr std::int64_t edges_at_once = 8192;

} // namespace

edge_inputs::edge_inputs(const step_context& step)
  : step_(step), rows_(step.layout.relations.size()), made_(rows_.size()),
    gradients_(rows_.size()) {
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const auto& relation = step_.layout.relations[r];
    if (relation.edge_width == 0)
      continue;
    const auto& batch = step_.batch.relations[r];
    const auto edges = std::ssize(batch.forward.columns.span());
    const auto given = relation.feature_width();
    const auto* features = batch.edge_features.data();
    rows_[r] = {features, edges, given};
    if (relation.age_width == 0)
      continue;
    made_[r] = {edges, relation.edge_width, step_.pool};
    const auto rows = made_[r].view();
    const auto columns = columns_of(r);
    step_.team->for_pieces(
      edges, edges_at_once,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto e = begin; e < end; ++e)
          std::copy_n(features + e * given, given, rows.row(e));
        columns.run(begin, end, given, rows);
      });
    rows_[r] = rows;
  }
}

age_columns edge_inputs::columns_of(std::size_t relation) const {
  const auto* ages = step_.batch.relations[relation].ages.data();
  const auto& how = *step_.layout.ages;
  if (!how.learns())
    return {ages, how.scale};
  return {ages, how.scale, step_.values_of(how.log_frequency),
          step_.values_of(how.phase)};
}

matrix edge_inputs::gradient(std::size_t relation) {
  const auto width = step_.layout.relations[relation].age_width;
  if (width == 0 || !step_.layout.ages->learns())
    return {};
  auto& out = gradients_[relation];
  const auto edges = rows_[relation].rows;
  if (out.view().columns == 0) {
    out = {edges, width, step_.pool};
    std::fill_n(out.data(), out.view().size(), 0.0f);
  }
  return out.view();
}

void edge_inputs::backward(gradient_set& out) {
  for (std::size_t r = 0; r < gradients_.size(); ++r) {
    const const_matrix gradient = gradients_[r].view();
    if (gradient.rows == 0)
      continue;
    const auto columns = columns_of(r);
    const auto lanes = columns.lanes();
    const auto pieces = (gradient.rows + edges_at_once - 1) / edges_at_once;
    std::vector<double> sums(static_cast<std::size_t>(2 * lanes * pieces));
    step_.team->for_pieces(
      gradient.rows, edges_at_once,
      [&](std::int64_t piece, std::int64_t begin, std::int64_t end) {
        columns.backward(gradient, begin, end, sums.data() + piece * 2 * lanes);
      });
    const auto add = [&](int parameter, std::int64_t first) {
      auto* into = step_.gradient_of(parameter, out).data;
      for (std::int64_t k = 0; k < gradient.columns; ++k) {
        double sum = 0;
        for (std::int64_t p = 0; p < pieces; ++p)
          sum += sums[static_cast<std::size_t>((2 * p) * lanes + first + k)];
        into[k] += static_cast<float>(sum);
      }
    };
    add(step_.layout.ages->log_frequency, 0);
    add(step_.layout.ages->phase, lanes);
  }
}

} // namespace graphmill
