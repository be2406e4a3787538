#include "pipelines/model/passes/jumping_head.hpp"

#include "pipelines/kernels/activation.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>

namespace graphmill {

jumping_head::jumping_head(const setting& options)
  : set_(options), joined_(options.seeds, options.weight.rows, options.pool) {}

void jumping_head::add_layer(const_matrix output) {
  for (std::int64_t i = 0; i < set_.seeds; ++i)
    std::copy_n(output.row(i), output.columns, joined_.view().row(i) + filled_);
  filled_ += output.columns;
}

const_matrix jumping_head::forward() {
  logits_ = {set_.seeds, set_.weight.columns, set_.pool};
  const auto out = logits_.view();
  multiply(*set_.team, joined(), set_.weight, out);
  activate(out, set_.bias, activation::none, {}, 0, out.rows, out);
  return out;
}

void jumping_head::backward(const_matrix gradient, matrix weight, float* bias) {
  add_product_tn(*set_.team, joined(), gradient, weight, set_.pool);
  add_column_sums(gradient, 0, gradient.rows, bias);
  gradient_ = {set_.seeds, set_.weight.rows, set_.pool};
  multiply_nt(*set_.team, gradient, set_.weight, gradient_.view());
}

void jumping_head::add_gradient(int layer, std::int64_t begin, std::int64_t end,
                                matrix x) const {
  for (auto i = begin; i < std::min(end, set_.seeds); ++i) {
    const auto* from = gradient_.view().row(i) + layer * x.columns;
    for (std::int64_t c = 0; c < x.columns; ++c)
      x.row(i - begin)[c] += from[c];
  }
}

} // namespace graphmill
