#include "pipelines/gradients/gradient_set.hpp"

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

} // namespace graphmill
