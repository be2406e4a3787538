#include "pipelines/model/passes/edge_relu_pass.hpp"

#include "pipelines/model/passes/attention_pass.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

edge_relu_pass::edge_relu_pass(const setting& options)
  : set_(options), weight_(edge_relu_weight(options.edge_weight,
                                            options.edge_bias, options.pool)),
    sums_(options.rows, options.input.rows.columns, options.pool),
    signs_(options.pool) {
  const auto edges = set_.forward->indptr[set_.rows];
  set_.features = set_.features.slice(0, edges);
  if (set_.training)
    signs_.resize(static_cast<std::size_t>(
      edges * edge_relu_bytes(set_.input.rows.columns)));
}

edge_relu edge_relu_pass::task() {
  return {.indptr = set_.forward->indptr.data(),
          .columns = set_.forward->columns.data(),
          .x = set_.input.rows,
          .features = set_.features,
          .weight = std::as_const(weight_).view(),
          .values = set_.forward->weights_or_null(),
          .self = 1 + *set_.epsilon,
          .signs = signs_.empty() ? nullptr : signs_.data()};
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
  edges_backward(into);
  if (input_gradient)
    positions_ = transposed_positions(*set_.forward, set_.rows,
                                      *set_.transposed, set_.pool);
}

/// The pieces depend on the rows alone, so that their sums are always added up
/// in the same order.
void edge_relu_pass::edges_backward(const targets& into) {
  constexpr std::int64_t most_pieces = 16;
  const auto grain =
    std::max((set_.rows + most_pieces - 1) / most_pieces, chunk_rows / 4);
  const auto pieces = (set_.rows + grain - 1) / grain;
  const auto shape = weight_.view();
  owned_matrix sums{pieces * shape.rows, shape.columns, set_.pool};
  std::fill_n(sums.data(), sums.view().size(), 0.0f);
  const auto work = task();
  set_.team->for_pieces(
    set_.rows, grain,
    [&](std::int64_t piece, std::int64_t begin, std::int64_t end) {
      edge_relu_backward(
        work, upstream_.view(), begin, end,
        sums.view().slice(piece * shape.rows, (piece + 1) * shape.rows));
      if (const auto learnt = into.edge_columns; learnt.columns != 0)
        edge_relu_features_backward(work, upstream_.view(),
                                    set_.features.columns - learnt.columns,
                                    begin, end, learnt);
    });
  for (std::int64_t row = 0; row < sums.view().rows; ++row) {
    const auto f = row % shape.rows;
    auto* to = f + 1 < shape.rows ? into.edge_weight.row(f) : into.edge_bias;
    for (std::int64_t c = 0; c < into.edge_weight.columns; ++c)
      to[c] += sums.view().row(row)[c];
  }
}

void edge_relu_pass::add_input_gradient(std::int64_t begin, std::int64_t end,
                                        std::int64_t filled, matrix x) {
  edge_relu_sources_backward(task(),
                             {set_.transposed->indptr.data(),
                              set_.transposed->columns.data(),
                              positions_.data()},
                             upstream_.view(), begin, end, filled, x);
  const auto self = 1 + *set_.epsilon;
  for (auto j = begin; j < std::min(end, set_.rows); ++j) {
    auto* row = x.row(j - begin);
    const auto* own = upstream_.view().row(j);
    for (std::int64_t c = 0; c < x.columns; ++c)
      row[c] += self * own[c];
  }
}

} // namespace graphmill
