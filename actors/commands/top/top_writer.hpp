#pragma once

#include "actors/commands/top/top_screen.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// Writes lines onto a canvas and cuts off what is too wide.
class top_writer {
public:
  explicit top_writer(const top_canvas& canvas);

  /// Begins a line.
  void line();
  /// Adds to the line; text that others may have chosen, too.
  void add(std::string_view text, top_style style = top_style::plain);
  /// Adds what is made of such cells already, as curves are.
  void add_cells(std::string_view cells, top_style style);
  /// A line of one style.
  void line_of(std::string_view text, top_style style = top_style::plain);
  /// The same, over as many lines as `wrapped` gives.
  void lines_of(std::string_view text, std::size_t most, top_style style,
                std::size_t indent = 0);
  /// Blanks up to a column, or none.
  void pad(std::size_t column, top_style style = top_style::plain);

  /// Text as cells: printable, each character in one cell.
  std::string cells_of(std::string_view text) const;

  std::size_t columns() const { return columns_; }
  /// Lines so far, and how many are left.
  std::size_t used() const { return lines_.size(); }
  std::size_t left() const {
    return lines_.size() < rows_ ? rows_ - lines_.size() : 0;
  }
  /// Exactly so many lines: cut off, or with empty ones behind.
  void resize(std::size_t lines);
  std::vector<top_line> take() { return std::move(lines_); }

private:
  std::size_t rows_;
  std::size_t columns_;
  bool unicode_;
  std::size_t at_ = 0; ///< Cells of the last line.
  std::vector<top_line> lines_;
};

/// How many cells such text takes.
std::size_t cell_count(std::string_view cells);
/// As many of its first cells as there is room for.
std::string_view first_cells(std::string_view cells, std::size_t most);
/// Such text in lines of at most `width` cells, broken at blanks where there
/// are any. Lines after the first begin with `indent` blanks, unless those were
/// a quarter of the width. At most `most` lines; "..." at the end of the last
/// one says that there is more.
std::vector<std::string> wrapped(std::string_view cells, std::size_t width,
                                 std::size_t most, std::size_t indent = 0);
/// Exactly so many cells: cut off, or with blanks behind or before it.
std::string cells_in(std::string_view cells, std::size_t width,
                     bool to_the_left);

} // namespace graphmill
