#include "pipelines/model/passes/attended_edges.hpp"

#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/passes/head_maps.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Rows whose edges a thread takes at a time.
constexpr std::int64_t attended_at_once = 256;

} // namespace

attended_edges::attended_edges(const setting& options, std::int64_t rows)
  : set_(options), map_(feature_map(options.weight, heads(), options.pool)),
    scored_(options.weight.rows, heads(), options.pool),
    scores_(options.features.rows, heads(), options.pool),
    sums_(rows, width(), options.pool) {
  const auto& weight = set_.weight;
  const auto features = weight.rows;
  head_products(weight, set_.vector.data, heads(), 0, features, scored_.data());
  multiply(*set_.team, set_.features, scored_.view(), scores_.view());
}

void attended_edges::lend(attention& task, std::int64_t first) {
  task.features = set_.features;
  task.edge_scores = scores_.data();
  task.feature_sums = sums_.data() - first * width();
  task.sum_gradient =
    sum_gradient_.empty() ? nullptr : sum_gradient_.data() - first * width();
}

void attended_edges::add_output(std::int64_t begin, std::int64_t end,
                                matrix y) const {
  multiply(sums_.view().slice(begin, end), map_.view(), 1, y);
}

void attended_edges::make_gradient(const_matrix gradient) {
  sum_gradient_ = {gradient.rows, width(), set_.pool};
  multiply_nt(*set_.team, gradient, map_.view(), sum_gradient_.view());
}

void attended_edges::add_gradients(const attention& task, const_matrix gradient,
                                   const_matrix scores, matrix weight_into,
                                   float* vector_into,
                                   matrix columns_into) const {
  const auto& weight = set_.weight;
  const auto features = weight.rows;
  const auto head = set_.vector.columns;
  owned_matrix map{width(), weight.columns, set_.pool};
  std::fill_n(map.data(), map.view().size(), 0.0f);
  add_product_tn(*set_.team, sums_.view(), gradient, map.view(), set_.pool);
  owned_matrix scored{features, heads(), set_.pool};
  std::fill_n(scored.data(), scored.view().size(), 0.0f);
  add_product_tn(*set_.team, set_.features, scores, scored.view(), set_.pool);
  for (std::int64_t f = 0; f < features; ++f)
    for (std::int64_t h = 0; h < heads(); ++h)
      for (auto c = h * head; c < (h + 1) * head; ++c)
        weight_into.row(f)[c] +=
          map.view().row(h * features + f)[c]
          + scored.view().row(f)[h] * set_.vector.data[c];
  add_head_sums(weight, scored.data(), heads(), 0, features, vector_into);
  if (columns_into.columns == 0)
    return;
  const auto first = features - columns_into.columns;
  set_.team->for_pieces(
    task.rows, attended_at_once,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      add_shares_of_rows(task.indptr, task.shares(), heads(),
                         sum_gradient_.view(), first, begin, end, columns_into);
    });
  multiply_nt(*set_.team, scores, scored_.view().slice(first, features),
              columns_into.slice(0, scores.rows), 1);
}

} // namespace graphmill
