#include "actors/commands/text/figure_columns.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

/// How numbers of a unit are shown.
struct unit_look {
  std::string_view unit{};
  double scale = 1;
  int decimals = 0;
  std::size_t width = 7;
};

unit_look look_of(figure_unit unit) {
  switch (unit) {
  case figure_unit::processors:
    return {"", 1, 1, 6};
  case figure_unit::bytes:
    return {" MB", 1e-6, 0, 8};
  case figure_unit::bytes_per_second:
    return {" MB/s", 1e-6, 1, 8};
  case figure_unit::per_second:
    return {"/s", 1, 1, 8};
  case figure_unit::latency:
    return {" ms", 1e3, 1, 8};
  case figure_unit::ratio:
    return {"%", 100, 0, 5};
  case figure_unit::loss:
  case figure_unit::number:
    return {"", 1, 4, 8};
  default:
    return {};
  }
}

std::string number_text(const unit_look& look, double value) {
  const auto shown = look.scale * value;
  return std::abs(shown) < 1e5 ? fmt::format("{:.{}f}", shown, look.decimals)
                               : fmt::format("{:.3g}", shown);
}

} // namespace

std::string figure_text(figure_unit unit, figure_value value) {
  return value ? number_text(look_of(unit), *value) : "-";
}

std::string listed_text(std::string_view column, figure_unit unit,
                        double value) {
  auto look = look_of(unit);
  // A list has room for what a table rounds to 0.
  if (unit == figure_unit::bytes || unit == figure_unit::bytes_per_second)
    ++look.decimals;
  return fmt::format("{} {}{}", column, number_text(look, value), look.unit);
}

std::string column_title(std::string_view column, figure_unit unit) {
  return fmt::format("{}{}", column, look_of(unit).unit);
}

std::size_t column_width(std::string_view column, figure_unit unit) {
  return std::max(look_of(unit).width, column_title(column, unit).size());
}

} // namespace graphmill
