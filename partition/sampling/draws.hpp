#pragma once

#include "messages/base/draw_rule.hpp"
#include "messages/base/random.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// The middle word of the counter of a sampling draw: hop in the upper 8 bits,
/// edge type in the lower 24. It decides what is drawn, so it must not change.
constexpr std::uint32_t draw_middle(std::int32_t hop, std::int32_t edge_type) {
  return (static_cast<std::uint32_t>(hop) << 24)
         | static_cast<std::uint32_t>(edge_type);
}
inline constexpr std::int32_t max_hops = 255;

/// Draws positions in a list of `degree` neighbours. This is the definition
/// that every faster form must equal. Without replacement, it is a uniform
/// subset by Floyd's algorithm (Bentley and Floyd, "A sample of brilliance",
/// CACM 1987), ascending. With replacement, each position is the next
/// `random_stream::below(degree)`, in the order of the draws. Of kinds that
/// read lists it draws nothing: see keyed_draws.hpp.
/// @param kind Not one that `reads_lists`.
/// @param degree At least the number of positions; with replacement at least 1.
/// @param positions Receives them; its size is the number to draw.
void draw_positions(random_stream draws, std::uint32_t degree, draw_kind kind,
                    std::span<std::uint32_t> positions);

/// How many nodes `lane_draws` serves at once, and the most positions of each.
inline constexpr std::int32_t lane_count = 16;
inline constexpr std::int32_t max_lane_fanout = 32;

/// `draw_positions` for 16 nodes at once: one node per lane of the vector unit.
/// The caller fills in key, middle, rule, and every lane's original id and
/// degree, for lanes that it does not need, too; `draw` fills `positions`. It
/// may be used again and again. Not thread-safe.
struct lane_draws {
  std::uint64_t key = 0;
  std::uint32_t middle = 0;
  /// The fanout is at most `max_lane_fanout`, and the kind does not read lists.
  draw_rule rule;
  /// Original node ids: the first half of each lane's counter.
  alignas(64) std::uint64_t originals[lane_count]{};
  /// Lengths of the lists, as `draw_positions` demands them.
  alignas(64) std::uint32_t degrees[lane_count]{};
  /// Receives position j of lane l at [j][l].
  alignas(64) std::uint32_t positions[max_lane_fanout][lane_count];

  void draw();
};

} // namespace graphmill
