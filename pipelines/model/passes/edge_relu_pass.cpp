#include "pipelines/model/passes/edge_relu_pass.hpp"

#include "pipelines/kernels/activation.hpp"
#include "pipelines/model/passes/attention_pass.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>

namespace graphmill {

edge_relu_pass::edge_relu_pass(const setting& options)
  : set_(options), edges_(options.forward->indptr[options.rows],
                          options.input.rows.columns, options.pool),
    sums_(options.rows, options.input.rows.columns, options.pool) {
  const auto rows = edges_.view();
  set_.features = set_.features.slice(0, rows.rows);
  set_.team->for_pieces(
    rows.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      multiply(set_.features.slice(begin, end), set_.edge_weight, 0,
               rows.slice(begin, end));
      activate(rows, set_.edge_bias, activation::none, {}, begin, end, rows);
    });
}

edge_relu edge_relu_pass::task() const {
  return {.indptr = set_.forward->indptr.data(),
          .columns = set_.forward->columns.data(),
          .x = set_.input.rows,
          .edges = edges_.view(),
          .values = set_.forward->weights_or_null(),
          .self = 1 + *set_.epsilon};
}

void edge_relu_pass::add_output(std::int64_t begin, std::int64_t end,
                                float beta, matrix y) {
  run(task(), begin, end, sums_.view());
  multiply(sums_.view().slice(begin, end), set_.weight, beta, y);
}

void edge_relu_pass::backward(const_matrix gradient, bool input_gradient,
                              const targets& into) {
  add_product_tn(*set_.team, sums_.view(), gradient, into.weight, set_.pool);
  upstream_ = {set_.rows, set_.input.rows.columns, set_.pool};
  multiply_nt(*set_.team, gradient, set_.weight, upstream_.view());
  *into.epsilon += static_cast<float>(
    inner_product(set_.input.rows, upstream_.view(), set_.rows));
  const auto work = task();
  const auto rows = edges_.view();
  set_.team->for_pieces(
    set_.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      edge_relu_backward(work, upstream_.view(), begin, end, rows);
    });
  add_product_tn(*set_.team, set_.features, rows, into.edge_weight, set_.pool);
  add_column_sums(rows, 0, rows.rows, into.edge_bias);
  if (input_gradient)
    positions_ = transposed_positions(*set_.forward, set_.rows,
                                      *set_.transposed, set_.pool);
}

void edge_relu_pass::add_input_gradient(std::int64_t begin, std::int64_t end,
                                        std::int64_t filled, matrix x) {
  const auto self = 1 + *set_.epsilon;
  const auto& indptr = set_.transposed->indptr;
  for (auto j = begin; j < end; ++j) {
    auto* row = x.row(j - begin);
    if (j >= filled)
      std::fill(row, row + x.columns, 0.0f);
    for (auto t = indptr[j]; t < indptr[j + 1]; ++t) {
      const auto* edge = edges_.view().row(positions_[t]);
      for (std::int64_t c = 0; c < x.columns; ++c)
        row[c] += edge[c];
    }
    if (j >= set_.rows)
      continue;
    const auto* own = upstream_.view().row(j);
    for (std::int64_t c = 0; c < x.columns; ++c)
      row[c] += self * own[c];
  }
}

} // namespace graphmill
