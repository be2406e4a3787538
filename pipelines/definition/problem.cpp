#include "pipelines/definition/problem.hpp"
#include "messages/base/printable.hpp"

#include <algorithm>
#include <cctype>

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

std::string to_string(const problem& found) {
  if (found.where.line == 0)
    return fmt::format("{}: {}", found.where.origin, found.text);
  return fmt::format("{}:{}:{}: {}", found.where.origin, found.where.line,
                     found.where.column, found.text);
}

error to_error(std::span<const problem> problems) {
  std::string text;
  for (const auto& found : problems) {
    if (!text.empty())
      text += '\n';
    text += printable(to_string(found));
  }
  return error{ec::invalid_argument, std::move(text)};
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out = "`";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  if (text.size() > longest) {
    // Do not end in the middle of a UTF-8 sequence.
    while (text.size() > longest && out.size() > 1
           && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80)
      out.pop_back();
    if (static_cast<unsigned char>(out.back()) >= 0xc0)
      out.pop_back();
    out += "...";
  }
  return out + '`';
}

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

std::string suggestion(std::string_view word,
                       std::span<const std::string> candidates) {
  const auto best = closest(word, candidates);
  return best.empty() ? "" : fmt::format("; did you mean `{}`?", best);
}

} // namespace graphmill
