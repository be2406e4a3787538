#include "pipelines/model/passes/maximum_pass.hpp"

#include "pipelines/kernels/activation.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>

namespace graphmill {

maximum_pass::maximum_pass(const setting& options)
  : set_(options), winners_(options.pool) {
  if (pools()) {
    pooled_ = {set_.input.rows.rows, set_.pool_weight.columns, set_.pool};
    const auto rows = pooled_.view();
    set_.team->for_pieces(
      rows.rows, chunk_rows,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        set_.input.multiply(begin, end, set_.pool_weight, 0,
                            rows.slice(begin, end));
        activate(rows, set_.pool_bias, activation::relu, {}, begin, end, rows);
      });
  }
  maxima_ = {set_.rows, sources().columns, set_.pool};
  winners_.resize(static_cast<std::size_t>(maxima_.view().size()));
}

void maximum_pass::add_output(std::int64_t begin, std::int64_t end, float beta,
                              matrix y) {
  const auto maxima = maxima_.view();
  run({.indptr = set_.forward->indptr.data(),
       .columns = set_.forward->columns.data(),
       .x = sources()},
      begin, end, maxima, winners_.data());
  multiply(maxima.slice(begin, end), set_.weight, beta, y);
}

winner_sum maximum_pass::gradient_by_source() const {
  return {.indptr = set_.transposed->indptr.data(),
          .columns = set_.transposed->columns.data(),
          .winners = winners_.data(),
          .gradient = upstream_.view()};
}

void maximum_pass::backward(const_matrix gradient, bool input_gradient,
                            const targets& into) {
  add_product_tn(*set_.team, maxima_.view(), gradient, into.weight, set_.pool);
  if (!input_gradient && !pools())
    return;
  upstream_ = {set_.rows, sources().columns, set_.pool};
  multiply_nt(*set_.team, gradient, set_.weight, upstream_.view());
  if (!pools())
    return;
  pooled_gradient_ = {set_.input.rows.rows, sources().columns, set_.pool};
  const auto below = pooled_gradient_.view();
  const auto task = gradient_by_source();
  set_.team->for_pieces(
    below.rows, chunk_rows,
    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      run(task, begin, end, begin, below);
      activate_backward(pooled_.view(), activation::relu, 1, begin, end, below);
    });
  set_.input.add_product_tn(*set_.team, below, into.pool_weight, set_.pool);
  add_column_sums(below, 0, below.rows, into.pool_bias);
}

void maximum_pass::add_input_gradient(std::int64_t begin, std::int64_t end,
                                      std::int64_t filled, matrix x) {
  if (!pools()) {
    // The kernel numbers rows from the first one of the layer, so it gets a
    // matrix that would begin there; only rows of this chunk are touched.
    const matrix whole{x.data - begin * x.columns, set_.input.rows.rows,
                       x.columns};
    return run(gradient_by_source(), begin, end, filled, whole);
  }
  std::fill(x.row(std::max(begin, filled) - begin), x.data + x.size(), 0.0f);
  multiply_nt(pooled_gradient_.view().slice(begin, end), set_.pool_weight, 1,
              x);
}

} // namespace graphmill
