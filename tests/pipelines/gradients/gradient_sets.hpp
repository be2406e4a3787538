#pragma once

#include "pipelines/gradients/gradient_set.hpp"

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace graphmill::test {

using shared_set = std::shared_ptr<const gradient_set>;

/// Gradients whose sum depends on the order, and rows of which some are shared.
inline shared_set random_set(std::mt19937_64& random,
                             const gradient_shape& shape, bool empty) {
  std::uniform_real_distribution<float> value{-1, 1};
  std::uniform_int_distribution<int> power{-20, 20};
  const auto draw = [&] { return std::ldexp(value(random), power(random)); };
  auto out = std::make_shared<gradient_set>();
  for (std::int64_t i = 0; i < shape.dense; ++i)
    out->dense.push_back(empty ? 0.0f : draw());
  for (const auto& table : shape.tables) {
    auto& sparse = out->tables.emplace_back();
    for (node_id row = 0; row < table.rows && !empty; ++row) {
      if (random() % 2 == 0)
        continue;
      sparse.rows.push_back(row);
      for (std::int64_t c = 0; c < table.width; ++c)
        sparse.values.push_back(draw());
    }
  }
  return out;
}

template <class T>
bool same(const pod_vector<T>& a, const pod_vector<T>& b) {
  return a.size() == b.size()
         && (a.empty()
             || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline bool same(const gradient_set& a, const gradient_set& b) {
  auto equal = same(a.dense, b.dense) && a.tables.size() == b.tables.size();
  for (std::size_t t = 0; equal && t < a.tables.size(); ++t)
    equal = same(a.tables[t].rows, b.tables[t].rows)
            && same(a.tables[t].values, b.tables[t].values);
  return equal;
}

inline gradient_set copy_of(const gradient_set& from) {
  gradient_set out;
  out.dense.append(from.dense.span());
  for (const auto& table : from.tables) {
    auto& to = out.tables.emplace_back();
    to.rows.append(table.rows.span());
    to.values.append(table.values.span());
  }
  return out;
}

/// What the group of one process gives.
inline gradient_set sum_of(const std::vector<shared_set>& parts) {
  auto out = copy_of(*parts.front());
  for (std::size_t r = 1; r < parts.size(); ++r)
    add(out, *parts[r]);
  return out;
}

} // namespace graphmill::test
