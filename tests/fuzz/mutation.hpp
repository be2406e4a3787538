#pragma once

#include "tests/fuzz/harness.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace graphmill::fuzz {

/// Changes sound inputs at random: single bits and bytes, numbers at the ends
/// of their ranges, pieces that go, come twice or come from another input. The
/// same seed gives the same inputs everywhere.
class mutator {
public:
  explicit mutator(std::uint64_t seed) : random_(seed) {}

  /// An input with one to four changes, of at most `longest_input` bytes.
  /// @param pool At least one input.
  std::string next(const std::vector<std::string>& pool);

private:
  std::size_t below(std::size_t count);
  std::string number();
  void change(std::string& input, const std::vector<std::string>& pool);

  std::mt19937_64 random_;
};

} // namespace graphmill::fuzz
