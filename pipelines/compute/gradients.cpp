#include "pipelines/compute/gradients.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace graphmill {

namespace {

using sparse = gradient_set::sparse;

/// Merges two ascending lists of rows; rows in both are added.
sparse merge(const sparse& a, const sparse& b, std::size_t width) {
  sparse out;
  out.rows.reserve(a.rows.size() + b.rows.size());
  out.values.reserve(a.values.size() + b.values.size());
  const auto take = [&out, width](const sparse& from, std::size_t i) {
    out.rows.push_back(from.rows[i]);
    out.values.append({from.values.data() + i * width, width});
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.rows.size() || j < b.rows.size()) {
    const auto only_a =
      j == b.rows.size() || (i < a.rows.size() && a.rows[i] < b.rows[j]);
    const auto only_b =
      !only_a && (i == a.rows.size() || b.rows[j] < a.rows[i]);
    if (only_b) {
      take(b, j++);
      continue;
    }
    take(a, i++);
    if (only_a)
      continue;
    auto* sum = out.values.end() - width;
    for (std::size_t c = 0; c < width; ++c)
      sum[c] += b.values[j * width + c];
    ++j;
  }
  return out;
}

} // namespace

void set_table_gradient(const_matrix gradient, std::span<const node_id> ids,
                        gradient_set::sparse& out) {
  const auto width = static_cast<std::size_t>(gradient.columns);
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&ids](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
  out.rows.reserve(order.size());
  out.values.resize(order.size() * width);
  for (std::size_t k = 0; k < order.size(); ++k) {
    out.rows.push_back(ids[order[k]]);
    std::copy_n(gradient.row(static_cast<std::int64_t>(order[k])), width,
                out.values.data() + k * width);
  }
}

void add_tables(std::vector<sparse>& into, const std::vector<sparse>& from) {
  for (std::size_t t = 0; t < into.size(); ++t) {
    const auto& other = from[t];
    if (other.rows.empty())
      continue;
    const auto width = other.values.size() / other.rows.size();
    into[t] = merge(into[t], other, width);
  }
}

void add(gradient_set& into, const gradient_set& from) {
  for (std::size_t i = 0; i < into.dense.size(); ++i)
    into.dense[i] += from.dense[i];
  add_tables(into.tables, from.tables);
}

batch_metrics& batch_metrics::operator+=(const batch_metrics& other) {
  loss_sum += other.loss_sum;
  correct += other.correct;
  seeds += other.seeds;
  return *this;
}

} // namespace graphmill
