#include "pipelines/model/passes/layer_mean.hpp"

#include <algorithm>

namespace graphmill {

layer_mean::layer_mean(std::int64_t seeds, std::int64_t width, int layers,
                       const std::shared_ptr<buffer_pool>& pool)
  : share_(1 / static_cast<float>(layers + 1)), pool_(pool),
    mean_(seeds, width, pool) {
  const auto all = mean_.view();
  std::fill(all.data, all.data + all.size(), 0.0f);
}

void layer_mean::add(const_matrix rows) {
  const auto mean = mean_.view();
  for (std::int64_t i = 0; i < mean.size(); ++i)
    mean.data[i] += share_ * rows.data[i];
}

void layer_mean::backward(const_matrix gradient) {
  gradient_ = {gradient.rows, gradient.columns, pool_};
  for (std::int64_t i = 0; i < gradient.size(); ++i)
    gradient_.data()[i] = share_ * gradient.data[i];
}

void layer_mean::add_gradient(std::int64_t begin, std::int64_t end,
                              matrix x) const {
  const const_matrix each = gradient_.view();
  for (auto i = begin; i < std::min(end, each.rows); ++i)
    for (std::int64_t c = 0; c < x.columns; ++c)
      x.row(i - begin)[c] += each.row(i)[c];
}

} // namespace graphmill
