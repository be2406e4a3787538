#pragma once

#include "messages/base/random.hpp"
#include "pipelines/flow/batch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill::test {

/// A row of the models in doubles.
using row = std::vector<double>;

inline row times(const row& x, const row& w, std::int64_t out) {
  row y(out);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::int64_t o = 0; o < out; ++o)
      y[o] += x[i] * w[i * out + o];
  return y;
}

inline void add_to(row& sum, const row& x, double scale = 1) {
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] += scale * x[i];
}

inline double weight_of(const csr& edges, std::int64_t e) {
  return edges.weights.empty() ? 1.0 : double(edges.weights[e]);
}

/// What an element is multiplied by under dropout.
inline double kept(std::uint64_t key, std::uint32_t stream, std::uint64_t i,
                   std::size_t c, std::uint32_t threshold) {
  if (threshold == 0)
    return 1;
  const auto block = std::uint32_t(c / 128 * 16 + c % 16);
  const auto half = c % 128 / 16;
  const auto words = philox4x32(counter_of(i, stream, block), key);
  const auto bits = words[half / 2] >> (half % 2 * 16) & 0xffff;
  return bits < threshold ? 0 : 65536.0 / (65536.0 - threshold);
}

} // namespace graphmill::test
