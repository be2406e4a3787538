#include "pipelines/definition/yaml/scalar_text.hpp"

#include "messages/words/number_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace graphmill {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 9> byte_units{{
  {"B", 1},
  {"kB", 1e3},
  {"MB", 1e6},
  {"GB", 1e9},
  {"TB", 1e12},
  {"KiB", 0x1p10},
  {"MiB", 0x1p20},
  {"GiB", 0x1p30},
  {"TiB", 0x1p40},
}};

} // namespace

std::optional<whole_number> parse_whole(std::string_view text) {
  whole_number out;
  if (text.starts_with('-') || text.starts_with('+')) {
    out.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const auto magnitude = number_from<std::uint64_t>(text);
  if (!magnitude)
    return std::nullopt;
  out.magnitude = *magnitude;
  return out;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-"))
    text.remove_prefix(1);
  const auto value = number_from<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<bool> parse_bool(std::string_view text) {
  if (text == "true")
    return true;
  if (text == "false")
    return false;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  if (const auto plain = parse_whole(text))
    return plain->negative ? std::nullopt : std::optional{plain->magnitude};
  const auto split = text.find_first_not_of("0123456789.");
  if (split == 0 || split == std::string_view::npos)
    return std::nullopt;
  const auto number = parse_number(text.substr(0, split));
  auto suffix = text.substr(split);
  if (suffix.starts_with(' '))
    suffix.remove_prefix(1);
  for (const auto& [name, factor] : byte_units) {
    if (suffix != name || !number)
      continue;
    const auto bytes = *number * factor;
    if (bytes >= 0x1p63)
      return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(bytes));
  }
  return std::nullopt;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array names{"TiB", "GiB", "MiB", "KiB"};
  auto unit = std::uint64_t{1} << 40;
  for (const auto* name : names) {
    if (bytes != 0 && bytes % unit == 0)
      return fmt::format("{} {}", bytes / unit, name);
    unit >>= 10;
  }
  return fmt::format("{}", bytes);
}

} // namespace graphmill
