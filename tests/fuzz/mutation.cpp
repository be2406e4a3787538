#include "tests/fuzz/mutation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace graphmill::fuzz {

namespace {

/// What formats are made of.
constexpr std::array<std::string_view, 24> words{"\"",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ",",
                                                 ":",
                                                 "\n",
                                                 "\n%%%%\n",
                                                 "0",
                                                 "-1",
                                                 "1e999",
                                                 "9223372036854775807",
                                                 "18446744073709551616",
                                                 "null",
                                                 "true",
                                                 "\\u0000",
                                                 "..",
                                                 "/",
                                                 "\xff",
                                                 "\xe2\x80\xae",
                                                 "\x1b[2J",
                                                 "%s",
                                                 " "};

constexpr std::array<std::uint64_t, 14> numbers{0,
                                                1,
                                                2,
                                                8,
                                                0x7f,
                                                0xff,
                                                0x7fff,
                                                0xffff,
                                                0x7fffffff,
                                                0x80000000,
                                                0xffffffff,
                                                0x7fffffffffffffff,
                                                0x8000000000000000,
                                                0xffffffffffffffff};

} // namespace

std::size_t mutator::below(std::size_t count) {
  return count == 0 ? 0 : static_cast<std::size_t>(random_() % count);
}

/// In little-endian order, in 1 to 8 bytes.
std::string mutator::number() {
  auto value = numbers[below(numbers.size())];
  std::string out;
  for (auto size = std::size_t{1} << below(4); size != 0; --size) {
    out.push_back(static_cast<char>(value & 0xff));
    value >>= 8;
  }
  return out;
}

void mutator::change(std::string& input, const std::vector<std::string>& pool) {
  const auto at = below(input.size());
  const auto left = input.size() - at;
  switch (below(input.empty() ? 3 : 10)) {
  case 0:
    input.insert(at, number());
    return;
  case 1:
    input.insert(at, words[below(words.size())]);
    return;
  case 2: { // The rest of another one.
    const auto& other = pool[below(pool.size())];
    input = input.substr(0, at) + other.substr(below(other.size() + 1));
    return;
  }
  case 3:
    input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
    return;
  case 4:
    input[at] = static_cast<char>(random_());
    return;
  case 5: {
    const auto value = number();
    input.replace(at, std::min(left, value.size()), value);
    return;
  }
  case 6: { // A whole number of words, as codecs have them.
    const auto place = at / 8 * 8;
    const auto value = number();
    input.replace(place, std::min(input.size() - place, value.size()), value);
    return;
  }
  case 7:
    input.resize(at);
    return;
  case 8:
    input.erase(at, 1 + below(std::min<std::size_t>(left, 32)));
    return;
  default: { // A piece once more, somewhere else.
    const auto piece =
      input.substr(at, 1 + below(std::min<std::size_t>(left, 64)));
    input.insert(below(input.size()), piece);
  }
  }
}

std::string mutator::next(const std::vector<std::string>& pool) {
  auto out = pool[below(pool.size())];
  for (auto changes = 1 + below(4); changes != 0; --changes)
    change(out, pool);
  if (out.size() > longest_input)
    out.resize(longest_input);
  return out;
}

} // namespace graphmill::fuzz
