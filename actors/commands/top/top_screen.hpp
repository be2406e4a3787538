#pragma once

#include "actors/commands/top/top_model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// How text is to look. A terminal without colours has bold and reversed ones.
enum class top_style : std::uint8_t {
  plain,
  title,
  heading,
  good,
  warning,
  bad,
  faint,
  selected, ///< The last one.
};

struct top_span {
  std::string text; ///< Printable; each character takes one cell.
  top_style style = top_style::plain;
};
using top_line = std::vector<top_span>;

/// What there is to draw on.
struct top_canvas {
  int rows = 24;
  int columns = 80;
  bool unicode = false; ///< Characters beyond ASCII can be shown.
};

/// The whole screen: at most as many lines as the canvas has rows, none longer
/// than it is wide. What daemons, runs and errors say is shown as printable
/// text; characters that might not take exactly one cell are shown as "?".
/// @param silence Seconds since the cluster has answered; after a few of them
/// the screen says so, whether or not it is known why.
std::vector<top_line> top_screen(const top_data& data, const top_view& view,
                                 const top_canvas& canvas, double silence);

/// A curve of the latest values, one in a cell, between the least and the
/// largest one of them; a blank stands for what is no number.
std::string top_curve(const std::vector<double>& values, std::size_t width,
                      bool unicode);

} // namespace graphmill
