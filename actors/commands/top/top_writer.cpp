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

namespace {

constexpr std::string_view more_mark = "...";

/// What fits into a line, without half a word where it begins with a whole one.
std::string_view line_of_words(std::string_view cells, std::size_t width) {
  const auto fits = first_cells(cells, width);
  if (fits.size() == cells.size() || cells[fits.size()] == ' ')
    return fits;
  const auto blank = fits.rfind(' ');
  const auto word = fits.find_first_not_of(' ');
  return blank == std::string_view::npos || blank < word
           ? fits
           : fits.substr(0, blank);
}

} // namespace

std::vector<std::string> wrapped(std::string_view cells, std::size_t width,
                                 std::size_t most, std::size_t indent) {
  std::vector<std::string> out;
  cells = cells.substr(0, cells.find_last_not_of(' ') + 1); // No more to say.
  if (4 * indent >= width)
    indent = 0;
  while (!cells.empty() && out.size() < most && width != 0) {
    const auto margin = out.empty() ? 0 : indent;
    const auto room = width - margin;
    auto part = line_of_words(cells, room);
    const auto is_cut = out.size() + 1 == most && part.size() < cells.size();
    if (is_cut)
      part = first_cells(cells, room - std::min(room, more_mark.size()));
    out.push_back(std::string(margin, ' ') += part);
    if (is_cut)
      out.back() += first_cells(more_mark, room);
    cells.remove_prefix(part.size());
    cells.remove_prefix(std::min(cells.find_first_not_of(' '), cells.size()));
  }
  return out;
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
                          top_style style, std::size_t indent) {
  for (const auto& part : wrapped(cells_of(text), columns_, most, indent)) {
    line();
    add_cells(part, style);
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
