#pragma once

#include "partition/sampling/keyed_draws.hpp"
#include "partition/sampling/sampling.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// What sampling reads of a shard for each destination, and does not believe. Of
// the files beside it alone.

namespace graphmill {

// Sampling mostly waits for memory: destinations are spread over all of a part,
// so that accesses to `indptr` and to the index array miss the caches. Loops
// therefore ask for the memory of later elements before they work on one.
constexpr std::size_t row_ahead = 16; ///< Lists between prefetch and use.

/// Where the list of a destination lies in the shard's index array.
struct list_place {
  std::int64_t begin = 0;
  /// What the request sees of it: without the edges that are excluded from it,
  /// those of higher levels, and those of other times. `begin` is where that
  /// begins.
  std::uint32_t degree = 0;
  /// Its number among the lists from which edges are excluded, and behind
  /// these, among `list_task::mixed`; -1: no edge is taken out.
  std::int32_t excluded = -1;
};

/// Leads from a list without some edges to the whole one. Element j is where
/// the j-th excluded edge stands, less j: how many edges that are left stand
/// before it. Ascends, perhaps with repetitions. Empty: nothing is excluded.
using edge_skips = std::span<const std::uint32_t>;

/// The position in the whole list of the edge at `position` of what is left.
inline std::int64_t whole_position(edge_skips skips, std::uint32_t position) {
  constexpr std::size_t few =
    8; // As most lists have: counted without a branch.
  std::int64_t before = 0;
  if (skips.size() <= few)
    for (const auto skip : skips)
      before += skip <= position ? 1 : 0;
  else
    before =
      std::upper_bound(skips.begin(), skips.end(), position) - skips.begin();
  return std::int64_t{position} + before;
}

/// A request, and the lists of its destinations.
struct list_task {
  const edge_shard& edges;
  const node_shard& nodes; ///< Of the destination type.
  const neighbour_request& request;
  pod_vector<list_place> places;
  std::vector<std::uint32_t> skips{}; ///< Of all lists that have some.
  const node_shard& sources;          ///< Of the source type.
  node_type_id source_type = 0;
  std::int64_t source_count = 0; ///< Nodes of that type in the whole graph.
  /// Where the skips of each mixed list begin, and one past the last. A list is
  /// mixed if its levels overlap in time.
  std::vector<std::size_t> mixed{};

  edge_skips skips_of(const list_place& place) const {
    if (place.excluded < 0)
      return {};
    if (std::cmp_greater_equal(place.excluded, request.excluded.size())) {
      const auto* ends = mixed.data() + place.excluded
                         - static_cast<std::ptrdiff_t>(request.excluded.size());
      return {skips.data() + ends[0], ends[1] - ends[0]};
    }
    const auto* begins = request.excluded.begins.data() + place.excluded;
    const auto first = begins[0] - request.excluded.begins.front();
    return {skips.data() + first,
            static_cast<std::size_t>(begins[1] - begins[0])};
  }
};

/// The edges of a list that a request sees, without regard to exclusions.
struct seen_edges {
  std::int64_t degree = 0; ///< As far as the level is seen.
  std::int64_t first = 0;  ///< Of these the first one of the right time.
  /// Those of the right time. Unless `sorted`, as many as lie from the first to
  /// the last of them.
  std::int64_t count = 0;
  bool sorted = true; ///< Whether times ascend over all levels seen.
  /// Unless `sorted`: those of the right time of each level, from the first
  /// seen one on.
  std::array<time_limits::range, all_levels + 1> levels{};
};

/// Looks at levels and times. A list of which the files cannot be right has a
/// degree below 0.
/// @param degree Of the whole list, which is sound and begins at `begin`.
/// @param i Its number in the request.
seen_edges seen_of(const edge_shard& edges, const neighbour_request& request,
                   std::size_t i, std::size_t row, std::int64_t begin,
                   std::int64_t degree);

/// Where the edges to exclude stand among the seen ones of the list of a
/// destination of the part. Edges that are in the list but not seen are none.
/// @param ids Ascending.
/// @param skips Receives them: [ids] Behind the last, none begins.
/// @returns how many of them are seen; -1 if not all are in the list.
std::int64_t find_skips(const edge_shard& edges, const node_shard& nodes,
                        node_id id, const seen_edges& seen,
                        std::span<const edge_id> ids, std::uint32_t* skips);

/// Leaves the last `count` of the edges that are left.
/// @param skips Those of the list, which change.
/// @returns by how much the list begins later.
std::int64_t keep_last(std::uint32_t count, std::uint32_t degree,
                       std::span<std::uint32_t> skips);

/// Draws positions in what is left of the lists of a task, by any kind. It
/// keeps memory between them. Borrows the task. Not thread-safe.
class list_drawer {
public:
  explicit list_drawer(const list_task& work);

  /// The positions of a list that is not taken whole.
  /// @param id Its node, a global id.
  void draw(const list_place& place, node_id id,
            std::span<std::uint32_t> positions);

  /// Fails with `invalid_data` if a list led to no node.
  result<void> check() const;

private:
  std::span<const float> weights_of(const list_place& place);

  const list_task& work_;
  draw_kind kind_;
  keyed_draws keyed_;
  std::vector<float> weights_; ///< Of what is left of a list.
  node_id broken_ = -1;        ///< The node with a broken list; -1: none.
};

/// Whether a shard can answer a request.
result<void> check_lists(const shard& graph, const neighbour_request& request);

/// How many edges of a list are seen at a level; -1 if the file cannot be
/// right.
/// @param degree Of the whole list, which is sound.
inline std::int64_t seen_degree(const edge_shard& edges, std::size_t row,
                                std::int64_t degree, edge_level level) {
  if (!edges.hides(level))
    return degree;
  const auto seen = edges.seen(row, level);
  return seen >= 0 && seen <= degree ? seen : -1;
}

/// Looks up every list, takes out what is excluded, and counts what it gives.
/// Fails with `invalid_argument` on excluded edges that are not in their lists.
/// @returns the number of sources of all lists.
///
/// The file is not believed: with a list that lies outside of the index array,
/// or is longer than the dataset says any list is, later loops would read
/// elsewhere, and the batch exceed the credit that was reserved for it. Such a
/// list counts as empty and is reported in the end. A file that was truncated
/// while it was mapped reads as zeros, which look like broken lists. That is no
/// error here, for whoever asks looks at `mapped_file::first_fault`, too, and
/// reports it by the file's name.
result<std::int64_t> find_lists(list_task& work, std::int64_t max_degree,
                                pod_vector<std::int32_t>& counts);

/// From places in this shard's index array to places in the original graph's.
/// @param edges Of the original graph: the file is not believed here, either.
result<void> to_original_edges(const list_task& work, std::int64_t edges,
                               neighbour_reply& out);

} // namespace graphmill
