#pragma once

#include "messages/base/draw_rule.hpp"
#include "messages/base/random.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// The middle word of the counter of a sampling draw: hop in the upper 8 bits,
/// edge type in the lower 24. Part of the exactness contract.
constexpr std::uint32_t draw_middle(std::int32_t hop, std::int32_t edge_type) {
  return (static_cast<std::uint32_t>(hop) << 24)
         | static_cast<std::uint32_t>(edge_type);
}
inline constexpr std::int32_t max_hops = 255;

/// Positions in a list of `degree` neighbours, the definition that every faster
/// form must equal. Without replacement: a uniform subset by Floyd's algorithm
/// (Bentley and Floyd, "A sample of brilliance", CACM 1987), ascending; with
/// it: `random_stream::below(degree)` per position, in draw order.
/// @param degree At least the number of positions, or 1 with replacement.
/// @param positions Receives them; its size is the number to draw.
void draw_positions(random_stream draws, std::uint32_t degree, draw_kind kind,
                    std::span<std::uint32_t> positions);

/// How many nodes `draw_lanes` serves at once, and the most positions of each.
inline constexpr std::int32_t lane_count = 16;
inline constexpr std::int32_t max_lane_fanout = 32;

/// `draw_positions` for 16 nodes at once: one node per lane of the vector unit.
struct lane_draws {
  std::uint64_t key = 0;
  std::uint32_t middle = 0;
  draw_rule rule; ///< The fanout is at most `max_lane_fanout`.
  alignas(64) std::uint64_t originals[lane_count]{}; ///< Counter's first half.
  alignas(64) std::uint32_t degrees[lane_count]{};   ///< As `draw_positions`.
  /// Receives position j of lane l at [j][l].
  alignas(64) std::uint32_t positions[max_lane_fanout][lane_count];

  void draw();
};

} // namespace graphmill
