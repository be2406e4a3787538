#include "partition/sampling/keyed_draws.hpp"

#include "messages/base/random_lanes.hpp"
#include "partition/sampling/neighbour_lists.hpp"
#include "partition/sampling/vector_clones.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

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

/// Blocks of sixteen counters with one middle; words[w][l] is word w of lane l.
GRAPHMILL_CLONES void draw_keys(const std::uint64_t* index,
                                const std::uint32_t* block,
                                std::uint32_t middle, std::uint64_t key,
                                lane_words* words) {
  for (int l = 0; l < random_lanes; ++l) {
    words[0][l] = static_cast<std::uint32_t>(index[l]);
    words[1][l] = static_cast<std::uint32_t>(index[l] >> 32);
    words[2][l] = middle;
    words[3][l] = block[l];
  }
  philox4x32_lanes(words, key);
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

/// Whether it is plain without a logarithm that the key of an edge is larger:
/// for -log(x) is at least 1 - x. Factor and difference are on the safe side of
/// what is rounded.
bool is_larger(std::uint64_t u, float weight, std::uint64_t key) {
  constexpr double per_one = 0x1p+57 * 1.44269504; // Rounded down.
  const auto least = static_cast<double>(~u >> 11) * (0x1p-53 * per_one) - 8;
  return weight > 0
         && least > std::bit_cast<double>(key) * static_cast<double>(weight);
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

node_id source_list::operator[](std::uint32_t j) const {
  const auto id =
    indices_[begin_ + (skips_.empty() ? j : whole_position(skips_, j))];
  if (id < 0 || id >= nodes_)
    return -1;
  return originals_.size == 0 ? id : originals_[id];
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
  alignas(64) std::uint64_t index[random_lanes];
  alignas(64) std::uint32_t block[random_lanes];
  alignas(64) lane_words words[4];
  std::fill_n(index, random_lanes, original);
  constexpr std::size_t at_once = 2 * random_lanes; // Two keys in a block.
  for (std::size_t from = 0; from < weights.size(); from += at_once) {
    for (std::uint32_t l = 0; l < random_lanes; ++l)
      block[l] = static_cast<std::uint32_t>(from / 2) + l;
    draw_keys(index, block, middle, key, words);
    const auto count = std::min(at_once, weights.size() - from);
    for (std::size_t j = 0; j < count; ++j) {
      const auto word = 2 * (j % 2);
      const auto u = joined(words[word][j / 2], words[word + 1][j / 2]);
      const auto weight = weights[from + j];
      if (limited_ && is_larger(u, weight, limit_))
        continue;
      offer(weight_key(u, weight), static_cast<std::uint32_t>(from + j));
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

void keyed_draws::begin_sources(std::uint32_t degree) {
  const auto least = std::uint64_t{degree} + degree / 2 + 1;
  slot_bits_ = std::max(4, static_cast<int>(std::bit_width(least - 1)));
  slots_.assign(std::size_t{1} << slot_bits_, {});
}

std::uint32_t keyed_draws::earlier(const source_list& sources, std::uint32_t j,
                                   node_id original, std::uint64_t key) {
  auto at = static_cast<std::size_t>(key >> (64 - slot_bits_));
  for (; slots_[at].place != 0; at = (at + 1) & (slots_.size() - 1))
    if (sources[slots_[at].place - 1] == original)
      return slots_[at].edges++;
  slots_[at] = {j + 1, 1};
  return 0;
}

bool keyed_draws::by_source(std::uint64_t key, std::uint32_t middle,
                            std::uint32_t degree, const source_list& sources,
                            std::span<std::uint32_t> positions) {
  begin(positions.size());
  begin_sources(degree);
  alignas(64) std::uint64_t index[random_lanes]{};
  alignas(64) std::uint32_t block[random_lanes]{};
  alignas(64) lane_words words[4];
  bool sound = true;
  for (std::uint32_t from = 0; from < degree; from += random_lanes) {
    const auto count = std::min<std::uint32_t>(random_lanes, degree - from);
    for (std::uint32_t l = 0; l < count; ++l) {
      const auto original = sources[from + l];
      sound &= original >= 0;
      index[l] = static_cast<std::uint64_t>(original);
    }
    draw_keys(index, block, middle, key, words);
    for (std::uint32_t l = 0; l < count; ++l) {
      auto own = joined(words[1][l], words[0][l]);
      const auto before =
        earlier(sources, from + l, static_cast<node_id>(index[l]), own);
      if (before > 0) {
        const auto more = philox4x32(counter_of(index[l], middle, before), key);
        own = joined(more[1], more[0]);
      }
      offer(own, from + l);
    }
  }
  take(positions);
  return sound;
}

} // namespace graphmill
