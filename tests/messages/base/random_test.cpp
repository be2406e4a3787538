#include "messages/base/random_lanes.hpp"
#include "tests/support/catch.hpp"

#include <set>

using namespace graphmill;

// Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
CATCH_TEST_CASE("philox gives the published answers", "[messages][random]") {
  CATCH_CHECK(philox4x32({0, 0, 0, 0}, 0)
              == words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const auto ones = 0xffffffffu;
  CATCH_CHECK(philox4x32({ones, ones, ones, ones}, ~0ull)
              == words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CATCH_CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         0x299f31d0a4093822ull)
              == words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

CATCH_TEST_CASE("sixteen lanes give what one by one gives",
                "[messages][random]") {
  for (std::uint64_t round = 0; round < 100; ++round) {
    const auto key = round == 0 ? 0 : mix64(round);
    alignas(64) lane_words words[4];
    std::array<words4, random_lanes> expected;
    for (int l = 0; l < random_lanes; ++l) {
      // The first lane is that of the published answer for zeros.
      const auto any = round == 0 && l == 0 ? 0 : mix64(100 * round + l);
      const words4 counter{static_cast<std::uint32_t>(any),
                           static_cast<std::uint32_t>(any >> 32),
                           static_cast<std::uint32_t>(any >> 7),
                           static_cast<std::uint32_t>(any >> 23)};
      for (int w = 0; w < 4; ++w)
        words[w][l] = counter[w];
      expected[l] = philox4x32(counter, key);
    }
    philox4x32_lanes(words, key);
    for (int l = 0; l < random_lanes; ++l)
      CATCH_CHECK(words4{words[0][l], words[1][l], words[2][l], words[3][l]}
                  == expected[l]);
    if (round == 0)
      CATCH_CHECK(words[0][0] == 0x6627e8d5);
  }
}

CATCH_TEST_CASE("streams of different keys differ", "[messages][random]") {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    for (std::uint64_t epoch = 0; epoch < 8; ++epoch)
      for (std::uint64_t step = 0; step < 8; ++step)
        for (auto what : {purpose::train, purpose::test, purpose::dropout})
          keys.insert(stream_key(seed, what, epoch, step));
  CATCH_CHECK(keys.size() == 8 * 8 * 8 * 3);
}

CATCH_TEST_CASE("below is uniform", "[messages][random]") {
  // Chi-square with 9 degrees of freedom: 27.9 is the 0.1 % point.
  std::array<int, 10> counts{};
  random_stream draws{stream_key(1, purpose::train, 0, 0), 42};
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i)
    ++counts[draws.below(10)];
  double chi = 0;
  for (auto c : counts)
    chi += (c - n / 10.0) * (c - n / 10.0) / (n / 10.0);
  CATCH_CHECK(chi < 27.9);
}
