#include "pipelines/kernels/links/link_panels.hpp"

#include "pipelines/kernels/simd.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace graphmill {

namespace {

/// Half a panel: CPUs without wider registers hold more sums this way.
using narrow = float __attribute__((vector_size(32)));
using wide = float __attribute__((vector_size(64)));
static_assert(panel_nodes * sizeof(float) == sizeof(wide));

template <class Vector>
constexpr int panel_lanes = sizeof(Vector) / sizeof(float);

/// sum + x times the nodes, each rounded once.
template <class Vector>
GRAPHMILL_INLINE Vector with_product(float x, Vector nodes, Vector sum) {
  Vector out;
  for (int i = 0; i < panel_lanes<Vector>; ++i)
    out[i] = __builtin_fmaf(x, nodes[i], sum[i]);
  return out;
}

/// Sums of twelve registers.
/// @param rows [rows, width] @param out Of the first row, as wide as `stride`.
template <class Vector, std::size_t... Rows>
GRAPHMILL_INLINE void
multiply_panel(const float* rows, std::int64_t width, const float* panel,
               float* out, std::int64_t stride, std::index_sequence<Rows...>) {
  constexpr auto lanes = panel_lanes<Vector>;
  constexpr auto parts = panel_nodes / lanes;
  Vector sums[parts][sizeof...(Rows)] = {};
  for (std::int64_t c = 0; c < width; ++c) {
    const auto* at = panel + c * panel_nodes;
    const auto first = simd::load<Vector>(at);
    ((sums[0][Rows] = with_product<Vector>(rows[std::int64_t(Rows) * width + c],
                                           first, sums[0][Rows])),
     ...);
    if constexpr (parts == 2) {
      const auto second = simd::load<Vector>(at + lanes);
      ((sums[1][Rows] = with_product<Vector>(
          rows[std::int64_t(Rows) * width + c], second, sums[1][Rows])),
       ...);
    }
  }
  for (std::int64_t part = 0; part < parts; ++part)
    (simd::store(sums[part][Rows],
                 out + std::int64_t(Rows) * stride + part * lanes),
     ...);
}

template <class Vector, int RowsAtOnce>
GRAPHMILL_INLINE void multiply_all(const_matrix rows, const float* panels,
                                   std::int64_t count, matrix out) {
  const auto width = rows.columns;
  for (std::int64_t at = 0; at < count * panel_nodes; at += panel_nodes) {
    const auto* panel = panels + at * width;
    std::int64_t i = 0;
    for (; i + RowsAtOnce <= rows.rows; i += RowsAtOnce)
      multiply_panel<Vector>(rows.row(i), width, panel, out.row(i) + at,
                             out.columns,
                             std::make_index_sequence<RowsAtOnce>{});
    for (; i < rows.rows; ++i)
      multiply_panel<Vector>(rows.row(i), width, panel, out.row(i) + at,
                             out.columns, std::make_index_sequence<1>{});
  }
}

GRAPHMILL_WIDE
void multiply_wide(const_matrix rows, const float* panels, std::int64_t count,
                   matrix out) {
  multiply_all<wide, 12>(rows, panels, count, out);
}

GRAPHMILL_NARROW
void multiply_narrow(const_matrix rows, const float* panels, std::int64_t count,
                     matrix out) {
  multiply_all<narrow, 6>(rows, panels, count, out);
}

} // namespace

void make_panels(const_matrix nodes, std::int64_t begin, std::int64_t end,
                 float* out) {
  const auto width = nodes.columns;
  for (auto panel = begin; panel < end; ++panel) {
    auto* to = out + panel * width * panel_nodes;
    const auto first = panel * panel_nodes;
    const auto count = std::min(panel_nodes, nodes.rows - first);
    if (count < panel_nodes)
      std::fill(to, to + width * panel_nodes, 0.0f);
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t c = 0; c < width; ++c)
        to[c * panel_nodes + j] = nodes.row(first + j)[c];
  }
}

void multiply_panels(const_matrix rows, const float* panels, std::int64_t count,
                     matrix out) {
  (simd::has_wide_registers() ? multiply_wide : multiply_narrow)(rows, panels,
                                                                 count, out);
}

} // namespace graphmill
