#include "partition/sampling/draws.hpp"

#include "messages/base/random_lanes.hpp"
#include "partition/sampling/vector_clones.hpp"

#include <algorithm>
#include <vector>

namespace graphmill {

namespace {

constexpr auto lanes = lane_count;
static_assert(lanes == random_lanes);

/// Floyd's algorithm with a set that answers `insert(value)` with false when
/// the value was there already. The last element of the range that is drawn
/// from stands in for such a value: it was in no range before, so it is new.
template <class Insert>
void floyd(random_stream& draws, std::uint32_t degree,
           std::span<std::uint32_t> positions, Insert insert) {
  const auto first = degree - static_cast<std::uint32_t>(positions.size());
  for (std::uint32_t j = 0; j < positions.size(); ++j) {
    auto drawn = draws.below(first + j + 1);
    if (!insert(drawn)) {
      drawn = first + j;
      insert(drawn);
    }
    positions[j] = drawn;
  }
}

/// A set of 32-bit values, for many positions: open addressing with at least
/// half of the slots free. The first slot is taken from the upper bits of the
/// product with 2^64 divided by the golden ratio, which spreads values that
/// follow each other.
class value_set {
public:
  explicit value_set(std::size_t values) {
    while ((std::size_t{1} << bits_) < 2 * values)
      ++bits_;
    slots_.resize(std::size_t{1} << bits_, 0);
  }

  bool insert(std::uint32_t value) {
    const auto entry = std::uint64_t{value} + 1;
    auto slot = (entry * 0x9e3779b97f4a7c15ull) >> (64 - bits_);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
      if (slots_[slot] == entry)
        return false;
    slots_[slot] = entry;
    return true;
  }

private:
  int bits_ = 4;
  std::vector<std::uint64_t> slots_; ///< value + 1; 0 = free.
};

// The functions below are always inlined into `fill_lanes`, so that they are
// compiled for its vector unit. Their loops over lanes must stay loops:
// unrolled completely, gcc 12 would not make vectors of them any more (see
// messages/base/random_lanes.hpp).

/// Draws four words per lane; row q of `out` receives the q-th of each.
__attribute__((always_inline)) inline void
draw_block(const std::uint64_t* index, std::uint32_t middle,
           std::uint32_t block, std::uint64_t key, lane_words* out) {
  auto& a = out[0];
  auto& b = out[1];
  auto& c = out[2];
  auto& d = out[3];
  for (int l = 0; l < lanes; ++l) {
    a[l] = static_cast<std::uint32_t>(index[l]);
    b[l] = static_cast<std::uint32_t>(index[l] >> 32);
    c[l] = middle;
    d[l] = block;
  }
  philox4x32_lanes(out, key);
}

/// Brings the words of all lanes into their bounds, as `random_stream::below`
/// does: the upper halves of the products with the bounds go to `out`. In rare
/// cases `below` draws again, which shifts all later draws of its stream. Lanes
/// in which it might have done so are marked in `doubtful`. The exact test
/// would need a division, which vector units lack.
__attribute__((always_inline)) inline void scale_lanes(const lane_words& words,
                                                       const lane_words& bounds,
                                                       lane_words& out,
                                                       lane_words& doubtful) {
#pragma GCC unroll 1
  for (int l = 0; l < lanes; ++l) {
    const auto product = std::uint64_t{words[l]} * bounds[l];
    out[l] = static_cast<std::uint32_t>(product >> 32);
    doubtful[l] |= static_cast<std::uint32_t>(product) < bounds[l] ? 1u : 0u;
  }
}

/// A step of Floyd's algorithm in all lanes: puts row j into the ascending rows
/// 0..j-1, or `last` in its place if its value is among them. Rows are kept in
/// order by exchanges, without a branch, since every lane would take another
/// way.
__attribute__((always_inline)) inline void
insert_lanes(lane_words* rows, int j, const lane_words& last) {
  alignas(64) lane_words value;
  alignas(64) lane_words twice{};
  for (int i = 0; i < j; ++i)
#pragma GCC unroll 1
    for (int l = 0; l < lanes; ++l)
      twice[l] |= rows[i][l] == rows[j][l] ? ~0u : 0u;
#pragma GCC unroll 1
  for (int l = 0; l < lanes; ++l)
    value[l] = (rows[j][l] & ~twice[l]) | (last[l] & twice[l]);
  for (int i = j; i > 0; --i)
#pragma GCC unroll 1
    for (int l = 0; l < lanes; ++l) {
      const auto below = rows[i - 1][l];
      rows[i][l] = std::max(below, value[l]);
      value[l] = std::min(below, value[l]);
    }
#pragma GCC unroll 1
  for (int l = 0; l < lanes; ++l)
    rows[0][l] = value[l];
}

/// Fills `draws.positions`, and marks in `doubtful` the lanes that are to be
/// drawn again.
GRAPHMILL_CLONES void fill_lanes(lane_draws& draws, lane_words& doubtful) {
  const auto fanout = draws.rule.fanout;
  const auto replace = draws.rule.kind == draw_kind::with_replacement;
  alignas(64) lane_words words[max_lane_fanout + 4];
  for (int j = 0; j < fanout; j += 4)
    draw_block(draws.originals, draws.middle, static_cast<std::uint32_t>(j / 4),
               draws.key, words + j);
  for (int j = 0; j < fanout; ++j) {
    alignas(64) lane_words bounds;
    alignas(64) lane_words last;
    const auto less = replace ? 0 : fanout - j - 1;
    for (int l = 0; l < lanes; ++l) {
      bounds[l] = draws.degrees[l] - static_cast<std::uint32_t>(less);
      last[l] = bounds[l] - 1;
    }
    scale_lanes(words[j], bounds, draws.positions[j], doubtful);
    if (!replace)
      insert_lanes(draws.positions, j, last);
  }
}

/// Floyd's algorithm, with the set that suits the number of positions: a few
/// are searched faster than hashed.
void draw_subset(random_stream& draws, std::uint32_t degree,
                 std::span<std::uint32_t> positions) {
  if (positions.size() <= max_lane_fanout) {
    std::size_t known = 0;
    floyd(draws, degree, positions, [&known, positions](std::uint32_t value) {
      const auto there = positions.first(known);
      if (std::find(there.begin(), there.end(), value) != there.end())
        return false;
      positions[known++] = value;
      return true;
    });
  } else {
    value_set there{positions.size()};
    floyd(draws, degree, positions,
          [&there](std::uint32_t value) { return there.insert(value); });
  }
  std::sort(positions.begin(), positions.end());
}

} // namespace

void draw_positions(random_stream draws, std::uint32_t degree, draw_kind kind,
                    std::span<std::uint32_t> positions) {
  switch (kind) {
  case draw_kind::without_replacement:
    draw_subset(draws, degree, positions);
    break;
  case draw_kind::with_replacement:
    for (auto& position : positions)
      position = draws.below(degree);
    break;
  case draw_kind::weighted_without_replacement:
  case draw_kind::weighted_with_replacement:
  case draw_kind::labor:
    break; // keyed_draws.hpp
  }
}

void lane_draws::draw() {
  alignas(64) lane_words doubtful{};
  // A kind of drawing that has no form for all lanes would mark every one of
  // them as doubtful here, and be drawn lane by lane below.
  switch (rule.kind) {
  case draw_kind::without_replacement:
  case draw_kind::with_replacement:
    fill_lanes(*this, doubtful);
    break;
  case draw_kind::weighted_without_replacement:
  case draw_kind::weighted_with_replacement:
  case draw_kind::labor:
    break;
  }
  for (int l = 0; l < lanes; ++l) {
    if (doubtful[l] == 0)
      continue;
    std::uint32_t exact[max_lane_fanout];
    draw_positions(random_stream{key, originals[l], middle}, degrees[l],
                   rule.kind, {exact, static_cast<std::size_t>(rule.fanout)});
    for (int j = 0; j < rule.fanout; ++j)
      positions[j][l] = exact[j];
  }
}

} // namespace graphmill
