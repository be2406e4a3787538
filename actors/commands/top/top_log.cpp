#include "actors/commands/top/top_log.hpp"

#include "actors/commands/options/time_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace graphmill {

namespace {

/// Lines of the screen that a line of a log may take.
constexpr std::size_t most_lines_of_one = 3;
/// Under its time, which "2026-11-23 " stands before.
constexpr std::size_t log_indent = 9;
constexpr std::size_t date_cells = 11;

top_style style_of_line(log_level level) {
  switch (level) {
  case log_level::warn:
    return top_style::warning;
  case log_level::error:
  case log_level::critical:
    return top_style::bad;
  default:
    return top_style::plain;
  }
}

std::string text_of_line(const log_line& line) {
  const auto time = time_text(line.time);
  return fmt::format("{} {:<5} {}",
                     time.size() > date_cells ? time.substr(date_cells) : time,
                     to_string(line.level), line.text);
}

} // namespace

void write_log(top_writer& out, const top_data& data, const top_view& view,
               std::size_t end) {
  const auto& wish = *view.followed;
  out.line_of(wish.run.empty() ? fmt::format("log of daemon {}", wish.daemon)
                               : fmt::format("log of daemon {} about run {}",
                                             wish.daemon, wish.run),
              top_style::heading);
  out.line_of("the latest last; l or escape goes back", top_style::faint);
  if (data.followed != view.followed) {
    out.line_of("asking for it ...", top_style::faint);
    return;
  }
  if (data.log.empty()) {
    out.line_of("the coordinator knows no line of it", top_style::faint);
    return;
  }
  struct piece {
    std::string cells;
    top_style style;
  };
  std::vector<piece> pieces; // The last one first.
  const auto room = end > out.used() ? end - out.used() : 0;
  for (auto line = data.log.rbegin();
       line != data.log.rend() && pieces.size() < room; ++line) {
    auto parts = wrapped(out.cells_of(text_of_line(*line)), out.columns(),
                         most_lines_of_one, log_indent);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      pieces.push_back({std::move(*part), style_of_line(line->level)});
  }
  pieces.resize(std::min(pieces.size(), room));
  for (auto one = pieces.rbegin(); one != pieces.rend(); ++one) {
    out.line();
    out.add_cells(one->cells, one->style);
  }
}

} // namespace graphmill
