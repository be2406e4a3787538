#include "actors/http/api/query_fields.hpp"

#include <charconv>

namespace graphmill {

std::optional<std::string_view> field_in(std::string_view query,
                                         std::string_view name) {
  while (!query.empty()) {
    const auto end = query.find('&');
    if (const auto field = query.substr(0, end);
        field.starts_with(name) && field.substr(name.size()).starts_with('='))
      return field.substr(name.size() + 1);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  return std::nullopt;
}

std::optional<std::string> decoded_field(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned letter = 0;
    const auto digits = text.substr(i + 1, 2);
    const auto read =
      std::from_chars(digits.data(), digits.data() + digits.size(), letter, 16);
    if (digits.size() != 2 || read.ptr != digits.data() + 2)
      return std::nullopt;
    out += static_cast<char>(letter);
    i += 2;
  }
  return out;
}

std::optional<std::uint64_t> decimal_in(std::string_view text) {
  std::uint64_t out = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  if (read.ec != std::errc{} || read.ptr != end)
    return std::nullopt;
  return out;
}

std::optional<std::uint64_t> number_in(std::string_view query,
                                       std::string_view name) {
  const auto said = field_in(query, name);
  return said ? decimal_in(*said) : std::uint64_t{0};
}

} // namespace graphmill
