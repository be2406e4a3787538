#pragma once

#include "pipelines/kernels/matrix.hpp"

#include <cstdint>

namespace graphmill {

// Products of rows with all nodes of a type, for ranks. Nodes with the same
// outputs must get the same score, wherever they are: or a tie would be broken
// by the place of a node. Libraries do not promise that of a product of
// matrices, and some break it. So each score is one sum here, from the first
// column to the last, for any place, any block and any instruction set.

/// Nodes of a panel: they lie side by side, [width, panel_nodes].
inline constexpr std::int64_t panel_nodes = 16;

constexpr std::int64_t panels_of(std::int64_t nodes) {
  return (nodes + panel_nodes - 1) / panel_nodes;
}

/// Lays out nodes for panels [begin, end). What the last panel lacks is zeros.
/// @param nodes [nodes, width] @param out [panels, width, panel_nodes]
void make_panels(const_matrix nodes, std::int64_t begin, std::int64_t end,
                 float* out);

/// out[i][j] = the product of row i with node j of the panels.
/// @param count Of panels. @param out [rows, at least their nodes]
void multiply_panels(const_matrix rows, const float* panels, std::int64_t count,
                     matrix out);

} // namespace graphmill
