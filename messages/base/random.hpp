#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace graphmill {

/// The use of a stream of random numbers. It is part of the key, so streams of
/// different purposes never overlap. Values are part of the contract: append
/// only.
enum class purpose : std::uint8_t {
  permutation = 1,
  train,
  validation,
  test,
  dropout,
  initialisation,
  split,           ///< Importers assign nodes to splits.
  generate,        ///< The R-MAT generator and its planted labels.
  partition,       ///< Partitioning deals nodes to parts.
  train_negatives, ///< Wrong ends of the edges of a task of links.
  validation_negatives,
  test_negatives,
};

/// Finaliser of MurmurHash3 (Appleby) in the variant of SplitMix64 (Steele et
/// al., OOPSLA'14): a bijection of 64-bit words that mixes all bits.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// The key of a stream: a mix of the four values of the exactness contract.
constexpr std::uint64_t stream_key(std::uint64_t run_seed, purpose stream,
                                   std::uint64_t epoch, std::uint64_t step) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ull;
  auto key = mix64(run_seed + golden);
  key = mix64(key ^ (static_cast<std::uint64_t>(stream) * golden));
  key = mix64(key + golden * (epoch + 1));
  return mix64(key + golden * (step + 1));
}

/// Four 32-bit words.
using words4 = std::array<std::uint32_t, 4>;

/// The common part of all forms of Philox4x32-10 (Salmon, Moraes, Dror, Shaw:
/// "Parallel random numbers: as easy as 1, 2, 3", SC'11): `philox4x32` below,
/// `philox4x32_lanes` of random_lanes.hpp, and the form on tensors in
/// pipelines/model/torch/torch_operations.cpp. Holds the key of a round.
struct philox {
  static constexpr int rounds = 10;
  static constexpr std::uint32_t multiplier0 = 0xD2511F53u; ///< Of word 0.
  static constexpr std::uint32_t multiplier2 = 0xCD9E8D57u; ///< Of word 2.
  static constexpr std::uint32_t step0 = 0x9E3779B9u;       ///< Between rounds.
  static constexpr std::uint32_t step1 = 0xBB67AE85u;

  std::uint32_t key0;
  std::uint32_t key1;

  /// Of the first round.
  constexpr explicit philox(std::uint64_t key)
    : key0(static_cast<std::uint32_t>(key)),
      key1(static_cast<std::uint32_t>(key >> 32)) {}

  /// One round of one block. It is always inlined, so it is compiled for the
  /// instruction set of its caller.
  [[gnu::always_inline]] constexpr void mix(std::uint32_t& c0,
                                            std::uint32_t& c1,
                                            std::uint32_t& c2,
                                            std::uint32_t& c3) const {
    const auto p0 = std::uint64_t{multiplier0} * c0;
    const auto p1 = std::uint64_t{multiplier2} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ key0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ key1;
    c3 = static_cast<std::uint32_t>(p0);
  }

  /// Continues with the next round.
  [[gnu::always_inline]] constexpr void advance() {
    key0 += step0;
    key1 += step1;
  }
};

/// Philox4x32-10: a block of 128 random bits as a pure function of a 128-bit
/// counter and a 64-bit key.
constexpr words4 philox4x32(words4 counter, std::uint64_t key) {
  philox round{key};
  for (int i = 0; i < philox::rounds; ++i, round.advance())
    round.mix(counter[0], counter[1], counter[2], counter[3]);
  return counter;
}

/// A counter made of a 64-bit index and two 32-bit ones. For sampling: original
/// node id; hop and edge type; block of draws.
constexpr words4 counter_of(std::uint64_t index, std::uint32_t middle,
                            std::uint32_t block) {
  return {static_cast<std::uint32_t>(index),
          static_cast<std::uint32_t>(index >> 32), middle, block};
}

/// Draws 32-bit words from consecutive blocks of one stream. The words depend
/// only on key, index and middle, so streams may be made anywhere and in any
/// order. The stream repeats after 2^32 blocks. Value type.
class random_stream {
public:
  constexpr random_stream(std::uint64_t key, std::uint64_t index,
                          std::uint32_t middle = 0)
    : key_(key), index_(index), middle_(middle) {}

  constexpr std::uint32_t next() {
    if (used_ == 4) {
      words_ = philox4x32(counter_of(index_, middle_, block_++), key_);
      used_ = 0;
    }
    return words_[used_++];
  }

  /// Uniform in [0, bound), without bias (Lemire, "Fast random integer
  /// generation in an interval", 2019). `bound` must be above 0.
  constexpr std::uint32_t below(std::uint32_t bound) {
    auto product = std::uint64_t{next()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const auto threshold = (0u - bound) % bound;
      while (static_cast<std::uint32_t>(product) < threshold)
        product = std::uint64_t{next()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  /// Uniform in [0, 1) with 24 bits.
  constexpr float uniform() {
    return static_cast<float>(next() >> 8) * 0x1p-24f;
  }

private:
  std::uint64_t key_;
  std::uint64_t index_;
  std::uint32_t middle_;
  std::uint32_t block_ = 0;
  words4 words_{};
  std::uint32_t used_ = 4;
};

/// Uniform in [0, bound), for bounds beyond 32 bits, too. These are drawn by
/// rejection: values of as many bits as the bound has, until one is below it,
/// which takes two attempts on average at the most. `bound` must be above 0.
constexpr std::uint64_t draw_below(random_stream& draws, std::uint64_t bound) {
  if (bound <= UINT32_MAX)
    return draws.below(static_cast<std::uint32_t>(bound));
  const auto mask = std::bit_ceil(bound) - 1;
  while (true) {
    const auto high = std::uint64_t{draws.next()} << 32;
    const auto value = (high | draws.next()) & mask;
    if (value < bound)
      return value;
  }
}

} // namespace graphmill
