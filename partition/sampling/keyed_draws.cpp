#include "partition/sampling/keyed_draws.hpp"

#include "messages/base/random_lanes.hpp"
#include "partition/sampling/neighbour_lists.hpp"
#include "partition/sampling/vector_clones.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace graphmill {

namespace {

__extension__ using wide_word = unsigned __int128;

/// (a * b) / 2^63: the product of two numbers in units of 2^-63.
constexpr std::uint64_t product63(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((wide_word{a} * b) >> 63);
}

constexpr std::uint64_t one63 = std::uint64_t{1} << 63;
constexpr int step_bits = 8;
constexpr std::size_t steps = std::size_t{1} << step_bits;

/// log2 of a number from 1 to below 2, bit by bit: squaring it doubles the
/// logarithm. Both in units of 2^-63.
constexpr std::uint64_t slow_log2(std::uint64_t value) {
  std::uint64_t out = 0;
  for (int bit = 62; bit >= 0; --bit) {
    const auto square = wide_word{value} * value;
    if ((square >> 127) != 0) {
      out |= std::uint64_t{1} << bit;
      value = static_cast<std::uint64_t>(square >> 64);
    } else {
      value = static_cast<std::uint64_t>(square >> 63);
    }
  }
  return out;
}

struct log_step {
  std::uint64_t log2 = 0;    ///< Of 1 + i / 256, in units of 2^-63.
  std::uint64_t inverse = 0; ///< 1 / (1 + i / 256), likewise.
};

constexpr std::array<log_step, steps> log_table() {
  std::array<log_step, steps> out{};
  for (std::size_t i = 0; i < steps; ++i) {
    const auto value = one63 + (std::uint64_t{i} << (63 - step_bits));
    out[i] = {slow_log2(value),
              static_cast<std::uint64_t>((wide_word{1} << 126) / value)};
  }
  return out;
}

constexpr auto logs = log_table();

/// log2(1 + r) for r below 2^-8, in units of 2^-63.
constexpr std::uint64_t log2_of_one_and(std::uint64_t r) {
  constexpr std::uint64_t per_natural = 0xb8aa3b295c17f0bc; // 2^63 / log(2)
  std::uint64_t sum = one63 / 7;
  for (std::uint64_t n = 6; n > 0; --n)
    sum = one63 / n - product63(r, sum);
  return product63(product63(r, sum), per_natural);
}

constexpr std::uint64_t joined(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

/// Greater than the keys of all edges with weights: those are below 2^212.
constexpr double weightless = 0x1p+300;

/// The bits of numbers above 0 are in the order of the numbers.
std::uint64_t weight_key(std::uint64_t u, float weight) {
  const auto log = static_cast<double>(minus_log2(u));
  return std::bit_cast<std::uint64_t>(
    weight > 0 ? log / static_cast<double>(weight) : log * weightless);
}

/// Edges whose keys are drawn at once: a block has two.
constexpr std::size_t at_once = 2 * random_lanes;

constexpr std::size_t least_filter_bits = 12; ///< As a power of 2.

/// For how long a float is a safe stand-in: what rounding may add is far less.
constexpr float slack = 1 - 0x1p-16F;

/// What a weight is multiplied with in `draw_weighted`: keys above that of the
/// limit are in excess of it. Infinite where a float has no such number, or
/// rounds it by more than `slack`, as limits of weights beyond 10^34 are.
float float_limit(std::uint64_t limit) {
  constexpr double per_one = 0x1p+57 * 1.44269504; // Rounded down.
  const auto share = std::bit_cast<double>(limit) / per_one;
  return share > 1e-37 && share < 1e+38
           ? static_cast<float>(share)
           : std::numeric_limits<float>::infinity();
}

/// Which edges of a group may have small keys: of edge 2 l, bit l of the first.
struct edge_bits {
  std::uint32_t even = 0;
  std::uint32_t odd = 0;
};

/// Draws the words of 32 edges: those of edge 2 l + i are words 2 i and 2 i + 1
/// of lane l. It is plain without a logarithm that most keys are larger than a
/// limit, for -log(x) is at least 1 - x.
/// @param weights Of 32 edges.
/// @param limit `float_limit`; infinite: there is none.
GRAPHMILL_CLONES edge_bits draw_weighted(
  std::uint64_t original, std::uint32_t block, std::uint32_t middle,
  std::uint64_t key, const float* weights, float limit, lane_words* words) {
  for (int l = 0; l < random_lanes; ++l) {
    words[0][l] = static_cast<std::uint32_t>(original);
    words[1][l] = static_cast<std::uint32_t>(original >> 32);
    words[2][l] = middle;
    words[3][l] = block + static_cast<std::uint32_t>(l);
  }
  philox4x32_lanes(words, key);
  edge_bits out;
#pragma GCC unroll 1
  for (int l = 0; l < random_lanes; ++l) {
    const auto even =
      static_cast<float>(static_cast<std::int32_t>(~words[0][l] >> 8))
      * (0x1p-24F * slack);
    const auto odd =
      static_cast<float>(static_cast<std::int32_t>(~words[2][l] >> 8))
      * (0x1p-24F * slack);
    out.even |= (even > limit * weights[2 * l] ? 0u : 1u) << l;
    out.odd |= (odd > limit * weights[2 * l + 1] ? 0u : 1u) << l;
  }
  return out;
}

/// The first two words of the blocks of sixteen sources.
GRAPHMILL_CLONES void draw_of_sources(const std::uint64_t* index,
                                      std::uint32_t middle, std::uint64_t key,
                                      std::uint64_t* keys) {
  alignas(64) lane_words words[4];
  for (int l = 0; l < random_lanes; ++l) {
    words[0][l] = static_cast<std::uint32_t>(index[l]);
    words[1][l] = static_cast<std::uint32_t>(index[l] >> 32);
    words[2][l] = middle;
    words[3][l] = 0;
  }
  philox4x32_lanes(words, key);
#pragma GCC unroll 1
  for (int l = 0; l < random_lanes; ++l)
    keys[l] = std::uint64_t{words[1][l]} << 32 | words[0][l];
}

/// Whether one of 64 keys is not above a limit.
GRAPHMILL_CLONES bool any_up_to(const std::uint64_t* keys,
                                std::uint64_t limit) {
  std::uint64_t found = 0;
#pragma GCC unroll 1
  for (int i = 0; i < 64; ++i)
    found |= keys[i] <= limit ? 1 : 0;
  return found != 0;
}

/// A key that more than `count` of `degree` random ones are most likely below.
/// A wrong guess costs time alone.
std::uint64_t likely_limit(std::size_t count, std::size_t degree) {
  const auto wanted = static_cast<double>(count);
  const auto share =
    (wanted + 4 * std::sqrt(wanted) + 4) / static_cast<double>(degree);
  return share < 0.5 ? static_cast<std::uint64_t>(share * 0x1p+64)
                     : std::numeric_limits<std::uint64_t>::max();
}

} // namespace

std::uint64_t minus_log2(std::uint64_t u) {
  if (u == std::numeric_limits<std::uint64_t>::max())
    return 1;
  const auto value = u + 1;
  const auto zeros = std::countl_zero(value);
  const auto mantissa = value << zeros; // From 1 to below 2.
  const auto step = (mantissa - one63) >> (63 - step_bits);
  const auto rest =
    mantissa - one63 - (step << (63 - step_bits)); // Above the step.
  const auto log =
    logs[step].log2 + log2_of_one_and(product63(rest, logs[step].inverse));
  const auto whole = static_cast<std::uint64_t>(zeros + 1) << 57;
  return std::max<std::uint64_t>(whole - std::min(log, one63) / 64, 1);
}

std::int64_t source_list::at(std::uint32_t j) const {
  return begin_ + (skips_.empty() ? j : whole_position(skips_, j));
}

bool source_list::read(std::uint32_t from, std::span<std::uint64_t> out) const {
  if (indices_.wide || !skips_.empty())
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::uint64_t>(
        indices_[at(from + static_cast<std::uint32_t>(i))]);
  else
    std::copy_n(reinterpret_cast<const std::int32_t*>(indices_.data) + begin_
                  + from,
                out.size(), out.begin());
  auto sound = true;
  for (auto& id : out) // Negative ones are huge when unsigned.
    if (id >= static_cast<std::uint64_t>(nodes_)) {
      sound = false;
      id = 0;
    }
  if (originals_.size != 0)
    for (auto& id : out)
      id =
        static_cast<std::uint64_t>(originals_[static_cast<std::int64_t>(id)]);
  return sound;
}

void keyed_draws::begin(std::size_t count) {
  count_ = count;
  candidates_.clear();
  candidates_.reserve(2 * count + 1);
  limited_ = false;
}

void keyed_draws::offer(std::uint64_t key, std::uint32_t position) {
  // An equal key further back is not among the smallest either.
  if (limited_ && key >= limit_)
    return;
  candidates_.push_back({key, position});
  if (candidates_.size() > 2 * count_)
    shrink();
}

void keyed_draws::shrink() {
  const auto last =
    candidates_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
  std::nth_element(candidates_.begin(), last, candidates_.end());
  limited_ = true;
  limit_ = last->key;
  candidates_.resize(count_);
}

void keyed_draws::take(std::span<std::uint32_t> positions) {
  if (candidates_.size() > count_)
    shrink();
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = candidates_[i].position;
  std::sort(positions.begin(), positions.end());
}

void keyed_draws::by_weight(std::uint64_t key, std::uint64_t original,
                            std::uint32_t middle,
                            std::span<const float> weights,
                            std::span<std::uint32_t> positions) {
  begin(positions.size());
  alignas(64) lane_words words[4];
  for (std::size_t from = 0; from < weights.size(); from += at_once) {
    const auto count = std::min(at_once, weights.size() - from);
    const auto* some = weights.data() + from;
    float last[at_once]{};
    if (count < at_once) {
      std::copy_n(some, count, last);
      some = last;
    }
    const auto limit =
      limited_ ? float_limit(limit_) : std::numeric_limits<float>::infinity();
    auto [even, odd] =
      draw_weighted(original, static_cast<std::uint32_t>(from / 2), middle, key,
                    some, limit, words);
    for (auto lanes = even | odd; lanes != 0; lanes &= lanes - 1) {
      const auto l = static_cast<std::size_t>(std::countr_zero(lanes));
      for (std::size_t i = 0; i < 2; ++i) {
        const auto j = 2 * l + i;
        if (((i == 0 ? even : odd) >> l & 1) == 0 || j >= count)
          continue;
        offer(weight_key(joined(words[2 * i][l], words[2 * i + 1][l]), some[j]),
              static_cast<std::uint32_t>(from + j));
      }
    }
  }
  take(positions);
}

void keyed_draws::by_weight_repeatedly(std::uint64_t key,
                                       std::uint64_t original,
                                       std::uint32_t middle,
                                       std::span<const float> weights,
                                       std::span<std::uint32_t> positions) {
  random_stream draws{key, original, middle};
  sums_.resize(weights.size());
  double sum = 0;
  for (std::size_t j = 0; j < weights.size(); ++j)
    sums_[j] = sum += static_cast<double>(weights[j]);
  if (!(sum > 0)) {
    for (auto& position : positions)
      position = draws.below(static_cast<std::uint32_t>(weights.size()));
    return;
  }
  // The last edge with a weight, where a product was rounded up to the sum. A
  // broken file may have what is no weight, and no such edge.
  const auto last = std::min<std::ptrdiff_t>(
    std::lower_bound(sums_.begin(), sums_.end(), sum) - sums_.begin(),
    std::ssize(sums_) - 1);
  for (auto& position : positions) {
    const auto high = draws.next();
    const auto bits = joined(high, draws.next()) >> 11;
    const auto wanted = static_cast<double>(bits) * 0x1p-53 * sum;
    const auto found =
      std::upper_bound(sums_.begin(), sums_.end(), wanted) - sums_.begin();
    position = static_cast<std::uint32_t>(std::min(found, last));
  }
}

void keyed_draws::offer_up_to(std::uint64_t limit) {
  constexpr std::size_t group = 64;
  for (std::size_t from = 0; from < keys_.size(); from += group) {
    const auto to = std::min(from + group, keys_.size());
    if (limited_)
      limit = std::min(limit, limit_);
    if (to - from == group && !any_up_to(keys_.data() + from, limit))
      continue;
    for (auto j = from; j < to; ++j)
      if (keys_[j] <= limit)
        offer(keys_[j], static_cast<std::uint32_t>(j));
  }
}

void keyed_draws::begin_filter(std::size_t keys, std::size_t bits_each) {
  const auto bits = std::max<std::size_t>(
    least_filter_bits, std::bit_width(keys) + std::bit_width(bits_each) - 1);
  filter_shift_ = static_cast<int>(64 - bits);
  filter_.assign(std::size_t{1} << (bits - 6), 0);
}

bool keyed_draws::is_marked(std::uint64_t key) const {
  const auto at = key >> filter_shift_;
  return (filter_[at >> 6] >> (at & 63) & 1) != 0;
}

void keyed_draws::mark(std::uint64_t key) {
  const auto at = key >> filter_shift_;
  filter_[at >> 6] |= std::uint64_t{1} << (at & 63);
}

void keyed_draws::find_suspects() {
  // So many bits that few keys meet one that is set.
  begin_filter(keys_.size(), 32);
  suspects_.resize(std::max(suspects_.size(), keys_.size()));
  std::size_t found = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    suspects_[found] = static_cast<std::uint32_t>(j);
    found += is_marked(keys_[j]) ? 1 : 0;
    mark(keys_[j]);
  }
  suspected_ = found;
  if (found == 0)
    return;
  // All edges that may have a key in common with one of those.
  begin_filter(found, std::min<std::size_t>(128, 32 * keys_.size() / found));
  for (std::size_t i = 0; i < found; ++i)
    mark(keys_[suspects_[i]]);
  found = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    suspects_[found] = static_cast<std::uint32_t>(j);
    found += is_marked(keys_[j]) ? 1 : 0;
  }
  suspected_ = found;
}

void keyed_draws::part_repeats(std::uint64_t key, std::uint32_t middle,
                               const source_list& sources) {
  find_suspects();
  const std::span all{suspects_.data(), suspected_};
  std::sort(all.begin(), all.end(), [this](auto a, auto b) {
    return std::pair{keys_[a], a} < std::pair{keys_[b], b};
  });
  const auto source = [&sources](std::uint32_t j) {
    std::uint64_t id = 0;
    sources.read(j, {&id, 1});
    return id;
  };
  for (std::size_t i = 0, end = 0; i < all.size(); i = end) {
    const auto own = keys_[all[i]];
    while (end < all.size() && keys_[all[end]] == own)
      ++end;
    if (end - i == 1)
      continue;
    const auto first = source(all[i]);
    auto others = false;
    for (auto at = i + 1; at < end; ++at) {
      const auto id = source(all[at]);
      auto before = static_cast<std::uint32_t>(at - i);
      // Sources with equal keys are a miracle, but no error.
      if (others |= id != first; others)
        before = static_cast<std::uint32_t>(
          std::count_if(all.begin() + static_cast<std::ptrdiff_t>(i),
                        all.begin() + static_cast<std::ptrdiff_t>(at),
                        [&](auto j) { return source(j) == id; }));
      if (before == 0)
        continue;
      const auto words = philox4x32(counter_of(id, middle, before), key);
      keys_[all[at]] = joined(words[1], words[0]);
    }
  }
}

bool keyed_draws::by_source(std::uint64_t key, std::uint32_t middle,
                            std::uint32_t degree, const source_list& sources,
                            std::span<std::uint32_t> positions) {
  alignas(64) std::uint64_t index[random_lanes]{};
  alignas(64) std::uint64_t drawn[random_lanes];
  bool sound = true;
  all_keys_.resize(std::max<std::size_t>(all_keys_.size(), degree));
  keys_ = std::span{all_keys_}.first(degree);
  for (std::uint32_t from = 0; from < degree; from += random_lanes) {
    const auto count = std::min<std::uint32_t>(random_lanes, degree - from);
    sound &= sources.read(from, {index, count});
    const auto whole = count == random_lanes;
    draw_of_sources(index, middle, key, whole ? keys_.data() + from : drawn);
    if (!whole)
      std::copy_n(drawn, count, keys_.data() + from);
  }
  part_repeats(key, middle, sources);
  begin(positions.size());
  offer_up_to(likely_limit(positions.size(), degree));
  if (candidates_.size() < positions.size()) {
    begin(positions.size());
    offer_up_to(std::numeric_limits<std::uint64_t>::max());
  }
  take(positions);
  return sound;
}

} // namespace graphmill
