#include "pipelines/kernels/table_gradient.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace graphmill {

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

} // namespace graphmill
