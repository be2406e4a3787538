#include "actors/http/api/query_fields.hpp"

#include <charconv>
#include <cstddef>

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

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out.push_back(text[at]);
      continue;
    }
    unsigned char byte = 0;
    const auto digits = text.substr(at + 1, 2);
    const auto* end = digits.data() + digits.size();
    if (digits.size() != 2
        || std::from_chars(digits.data(), end, byte, 16).ptr != end)
      return std::nullopt;
    out.push_back(static_cast<char>(byte));
    at += 2;
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
