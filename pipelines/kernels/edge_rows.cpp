#include "pipelines/kernels/edge_rows.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

GRAPHMILL_CLONES
void run(const edge_sum& task, std::int64_t begin, std::int64_t end,
         matrix out) {
  const auto width = task.x.columns;
  for (auto i = begin; i < end; ++i) {
    auto* row = out.row(i);
    std::fill(row, row + width, 0.0f);
    for (auto e = task.indptr[i]; e < task.indptr[i + 1]; ++e) {
      auto scale = task.values == nullptr ? 1.0f : task.values[e];
      if (task.column_scale != nullptr)
        scale *= task.column_scale[task.columns[e]];
      const auto* x = task.x.row(e);
      for (std::int64_t c = 0; c < width; ++c)
        row[c] = simd::fused(scale, x[c], row[c]);
    }
    for (std::int64_t c = 0; c < width; ++c)
      row[c] *= task.row_scale[i];
  }
}

} // namespace graphmill
