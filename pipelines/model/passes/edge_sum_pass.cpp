#include "pipelines/model/passes/edge_sum_pass.hpp"

#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>

namespace graphmill {

edge_sum_pass::edge_sum_pass(const setting& options, const_matrix sums)
  : set_(options), sums_(sums.slice(0, options.rows)) {}

void edge_sum_pass::add_output(std::int64_t begin, std::int64_t end, float beta,
                               matrix y) {
  multiply(sums_.slice(begin, end), set_.weight, beta, y);
}

void edge_sum_pass::backward(const_matrix gradient, bool /*input_gradient*/,
                             const targets& into) {
  add_product_tn(*set_.team, sums_, gradient, into.edge_weight, set_.pool);
  if (const auto learnt = into.edge_columns; learnt.columns != 0)
    multiply_nt(
      *set_.team, gradient,
      set_.weight.slice(set_.weight.rows - learnt.columns, set_.weight.rows),
      learnt.slice(0, set_.rows), 1);
}

void edge_sum_pass::add_input_gradient(std::int64_t begin, std::int64_t end,
                                       std::int64_t filled, matrix x) {
  const auto from = std::max(begin, filled);
  if (from < end)
    std::fill(x.row(from - begin), x.row(end - begin), 0.0f);
}

} // namespace graphmill
