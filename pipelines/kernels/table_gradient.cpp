#include "pipelines/kernels/table_gradient.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace graphmill {

void set_table_gradient(const_matrix gradient, std::span<const node_id> ids,
                        gradient_set::sparse& out) {
  const auto width = static_cast<std::size_t>(gradient.columns);
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&ids](std::size_t a, std::size_t b) {
    return std::pair{ids[a], a} < std::pair{ids[b], b};
  });
  out.rows.reserve(order.size());
  out.values.resize(order.size() * width);
  for (const auto from : order) {
    const auto* row = gradient.row(static_cast<std::int64_t>(from));
    if (!out.rows.empty() && out.rows.back() == ids[from]) {
      auto* sum = out.values.data() + (out.rows.size() - 1) * width;
      for (std::size_t c = 0; c < width; ++c)
        sum[c] += row[c];
      continue;
    }
    std::copy_n(row, width, out.values.data() + out.rows.size() * width);
    out.rows.push_back(ids[from]);
  }
  out.values.resize(out.rows.size() * width);
}

} // namespace graphmill
