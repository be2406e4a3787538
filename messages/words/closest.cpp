#include "messages/words/closest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Longer words are not compared: nobody misspells those.
constexpr std::size_t longest_word = 200;

std::string folded(std::string_view word) {
  std::string out;
  for (const char c : word)
    out += c == '-'
             ? '_'
             : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> older(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto change = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], older[j - 2] + 1);
    }
    std::swap(older, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

} // namespace

std::string closest(std::string_view word,
                    std::span<const std::string> candidates) {
  if (word.size() > longest_word)
    return {};
  const auto meant = folded(word);
  std::string best;
  auto least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    if (candidate.size() > longest_word)
      continue;
    const auto distance = edit_distance(meant, folded(candidate));
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace graphmill
