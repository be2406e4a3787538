#include "pipelines/kernels/gather_max.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>

namespace graphmill {

GRAPHMILL_CLONES
void run(const gather_max& task, std::int64_t begin, std::int64_t end,
         matrix out, local_id* winners) {
  const auto width = task.x.columns;
  for (auto i = begin; i < end; ++i) {
    auto* best = out.row(i);
    auto* winner = winners + i * width;
    const auto from = task.indptr[i];
    const auto to = task.indptr[i + 1];
    if (from == to) {
      std::fill(best, best + width, 0.0f);
      std::fill(winner, winner + width, no_winner);
      continue;
    }
    const auto first = task.columns[from];
    std::copy(task.x.row(first), task.x.row(first) + width, best);
    std::fill(winner, winner + width, first);
    for (auto e = from + 1; e < to; ++e) {
      const auto j = task.columns[e];
      const auto* row = task.x.row(j);
      for (std::int64_t c = 0; c < width; ++c) {
        const auto wins = row[c] > best[c] || row[c] != row[c];
        best[c] = wins ? row[c] : best[c];
        winner[c] = wins ? j : winner[c];
      }
    }
  }
}

GRAPHMILL_CLONES
void run(const winner_sum& task, std::int64_t begin, std::int64_t end,
         std::int64_t accumulate, matrix out) {
  const auto width = task.gradient.columns;
  for (auto j = begin; j < end; ++j) {
    auto* sum = out.row(j);
    if (j >= accumulate)
      std::fill(sum, sum + width, 0.0f);
    for (auto e = task.indptr[j]; e < task.indptr[j + 1]; ++e) {
      const auto i = task.columns[e];
      if (e > task.indptr[j] && task.columns[e - 1] == i)
        continue;
      const auto* gradient = task.gradient.row(i);
      const auto* winner = task.winners + i * width;
      for (std::int64_t c = 0; c < width; ++c)
        sum[c] += winner[c] == j ? gradient[c] : 0.0f;
    }
  }
}

} // namespace graphmill
