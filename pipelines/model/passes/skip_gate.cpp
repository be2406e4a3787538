#include "pipelines/model/passes/skip_gate.hpp"

#include "pipelines/model/passes/gemm.hpp"

#include <cmath>

namespace graphmill {

namespace {

/// x = share x + other own
void add_shares(float share, float other, const_matrix own, matrix x) {
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data[i] = share * x.data[i] + other * own.data[i];
}

} // namespace

skip_gate::skip_gate(float learnt)
  : share_(static_cast<float>(1 / (1 + std::exp(-double(learnt))))) {}

void skip_gate::blend(const layer_input& own, std::int64_t begin,
                      std::int64_t end, const_matrix weight, matrix x,
                      const std::shared_ptr<buffer_pool>& pool) const {
  if (weight.data == nullptr)
    return add_shares(share_, 1 - share_, own.rows.slice(begin, end), x);
  owned_matrix product{x.rows, x.columns, pool};
  own.multiply(begin, end, weight, 0, product.view());
  add_shares(share_, 1 - share_, product.view(), x);
}

void skip_gate::add_own_gradient(
  const_matrix gradient, const_matrix weight, matrix into,
  const std::shared_ptr<buffer_pool>& pool) const {
  if (weight.data == nullptr)
    return add_shares(1, 1 - share_, gradient, into);
  owned_matrix product{into.rows, into.columns, pool};
  multiply_nt(gradient, weight, 0, product.view());
  add_shares(1, 1 - share_, product.view(), into);
}

} // namespace graphmill
