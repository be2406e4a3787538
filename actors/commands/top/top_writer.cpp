#include "actors/commands/top/top_writer.hpp"

#include "messages/base/printable.hpp"

#include <algorithm>

namespace graphmill {

namespace {

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

/// Of the letters of Latin alphabets we know that they take one cell each:
/// U+00C0 to U+023F, whose two bytes begin with 0xc3 to 0xc8.
bool takes_one_cell(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  return first < 0x80U || (first >= 0xc3U && first <= 0xc8U);
}

} // namespace

std::size_t cell_count(std::string_view cells) {
  return static_cast<std::size_t>(
    std::ranges::count_if(cells, begins_character));
}

std::string_view first_cells(std::string_view cells, std::size_t most) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (begins_character(cells[i]) && ++seen > most)
      return cells.substr(0, i);
  return cells;
}

std::string cells_in(std::string_view cells, std::size_t width,
                     bool to_the_left) {
  std::string out{first_cells(cells, width)};
  const std::string blanks(width - cell_count(out), ' ');
  return to_the_left ? out + blanks : blanks + out;
}

top_writer::top_writer(const top_canvas& canvas)
  : rows_(static_cast<std::size_t>(std::max(canvas.rows, 0))),
    columns_(static_cast<std::size_t>(std::max(canvas.columns, 0))),
    unicode_(canvas.unicode) {}

std::string top_writer::cells_of(std::string_view text) const {
  const auto shown = printable(text);
  std::string out;
  out.reserve(shown.size());
  for (std::string_view rest = shown; !rest.empty();) {
    const auto length = std::max<std::size_t>(utf8_length(rest), 1);
    const auto character = rest.substr(0, length);
    if (length == 1 || (unicode_ && takes_one_cell(character)))
      out += character;
    else
      out += '?';
    rest.remove_prefix(length);
  }
  return out;
}

void top_writer::line() {
  lines_.emplace_back();
  at_ = 0;
}

void top_writer::add_cells(std::string_view cells, top_style style) {
  const auto fits = first_cells(cells, columns_ - at_);
  if (fits.empty())
    return;
  at_ += cell_count(fits);
  lines_.back().push_back({std::string{fits}, style});
}

void top_writer::add(std::string_view text, top_style style) {
  add_cells(cells_of(text), style);
}

void top_writer::line_of(std::string_view text, top_style style) {
  line();
  add(text, style);
}

void top_writer::lines_of(std::string_view text, std::size_t most,
                          top_style style) {
  const auto cells = cells_of(text);
  std::string_view rest = cells;
  for (std::size_t i = 0; i < most && !rest.empty() && columns_ != 0; ++i) {
    const auto part = first_cells(rest, columns_);
    line();
    add_cells(part, style);
    rest.remove_prefix(part.size());
  }
}

void top_writer::pad(std::size_t column, top_style style) {
  if (column > at_)
    add_cells(std::string(std::min(column, columns_) - at_, ' '), style);
}

void top_writer::resize(std::size_t lines) {
  lines_.resize(lines);
}

} // namespace graphmill
