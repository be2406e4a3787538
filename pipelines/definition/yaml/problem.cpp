#include "pipelines/definition/yaml/problem.hpp"
#include "messages/base/printable.hpp"

namespace graphmill {

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

std::string suggestion(std::string_view word,
                       std::span<const std::string> candidates) {
  const auto best = closest(word, candidates);
  return best.empty() ? "" : fmt::format("; did you mean `{}`?", best);
}

} // namespace graphmill
