#include "partition/sampling/draws.hpp"

#include "messages/base/random_lanes.hpp"

#include <algorithm>
#include <vector>

// One build of a function per vector unit, chosen when the program is loaded.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)            \
  && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#  define GRAPHMILL_CLONES                                                     \
    __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#  define GRAPHMILL_CLONES
#endif

namespace graphmill {

namespace {

constexpr auto lanes = lane_count;
static_assert(lanes == random_lanes);

/// Floyd's algorithm with a set that answers `insert(value)` with false when
/// the value was there already.
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

/// A set of 32-bit values by open addressing, for many positions.
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

/// Four draws per lane; row q of `out` has the q-th.
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

/// The high halves of words * bounds go to `out`; marks in `doubtful` the lanes
/// in which `below` might have drawn again.
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

/// Puts row j into the ascending rows 0..j-1, or `last` if it is among them.
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

/// Fills `draws.positions`; marks in `doubtful` the lanes to be drawn again.
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

/// Floyd's algorithm, with the set that suits the number of positions.
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
  }
}

void lane_draws::draw() {
  alignas(64) lane_words doubtful{};
  // A kind without a form for all lanes marks every one of them as doubtful.
  switch (rule.kind) {
  case draw_kind::without_replacement:
  case draw_kind::with_replacement:
    fill_lanes(*this, doubtful);
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
