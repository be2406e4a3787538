#include "actors/commands/top/top_tables.hpp"

#include "actors/commands/text/figure_columns.hpp"
#include "pipelines/figures/figure_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

namespace {

/// A screen of so many columns shows more of each row.
constexpr std::size_t wide_columns = 140;

struct table_cell {
  std::string title; ///< Of its column.
  std::size_t width = 0;
  bool to_the_left = false;
  std::string text;
  top_style style = top_style::plain;
};
using table_row = std::vector<table_cell>;

table_cell number_cell(std::string_view column, figure_unit unit,
                       figure_value value) {
  return {column_title(column, unit), column_width(column, unit), false,
          figure_text(unit, value)};
}

/// @param of Null: nothing is known.
template <class T, std::size_t Rows>
void add_columns(table_row& to, const figure<T> (&table)[Rows], bool wide,
                 const T* of) {
  for_each_column(
    table, wide ? column_room::wide : column_room::screen,
    [&to, of](const auto& row) {
      to.push_back(
        number_cell(row.column, row.unit, of ? row.value(*of) : std::nullopt));
    });
}

table_cell text_cell(std::string title, std::size_t width, std::string text,
                     top_style style = top_style::plain) {
  return {std::move(title), width, true, std::move(text), style};
}

top_style style_of(actor_state state) {
  switch (state) {
  case actor_state::running:
    return top_style::good;
  case actor_state::restarting:
    return top_style::warning;
  case actor_state::failed:
    return top_style::bad;
  default:
    return top_style::plain;
  }
}

table_cell state_cell(const top_daemon& daemon) {
  if (daemon.silent)
    return text_cell("state", 9, "silent", top_style::bad);
  if (daemon.status == nullptr)
    return text_cell("state", 9, "-");
  const auto state = daemon.status->state;
  return text_cell("state", 9, std::string{to_string(state)},
                   state == daemon_state::ready      ? top_style::good
                   : state == daemon_state::draining ? top_style::warning
                                                     : top_style::bad);
}

table_row row_of_daemon(const top_daemon& daemon, bool wide) {
  table_row out{text_cell("daemon", wide ? 24 : 16, daemon.name),
                state_cell(daemon)};
  static const daemon_status nowhere;
  const auto& known = daemon.status == nullptr ? nowhere : *daemon.status;
  add_columns(out, figures::load, wide, known.load ? &*known.load : nullptr);
  figure_value queued;
  if (daemon.health != nullptr) {
    queued = 0;
    for (const auto& actor : daemon.health->actors)
      *queued += double(actor.queue);
  }
  out.push_back(number_cell("queue", figure_unit::count, queued));
  if (wide) {
    out.push_back(text_cell("host", 14, known.host));
    out.push_back(text_cell("note", 24, known.note));
  }
  return out;
}

/// Cells of the names in the table of actors.
struct name_widths {
  std::size_t actor = 0;
  std::size_t daemon = 0;
};

/// Where the screen is narrow, actors get cells that the names of daemons leave
/// free, if their own names are long.
name_widths names_beside(const std::vector<top_actor>& actors, bool wide) {
  if (wide)
    return {30, 16};
  constexpr name_widths usual{21, 8};
  constexpr std::size_t least_daemon = 6; // Its title.
  std::size_t actor = 0;
  auto daemon = least_daemon;
  for (const auto& one : actors) {
    actor = std::max(actor, cell_count(one.id.label));
    daemon = std::max(daemon, cell_count(one.id.daemon));
  }
  if (actor <= usual.actor || daemon >= usual.daemon)
    return usual;
  actor = std::min(actor, usual.actor + usual.daemon - daemon);
  return {actor, usual.actor + usual.daemon - actor};
}

table_row row_of_actor(const top_actor& row, name_widths names, bool wide) {
  const auto& now = *row.figures;
  table_row out{text_cell("actor", names.actor, row.id.label),
                text_cell("daemon", names.daemon, row.id.daemon),
                text_cell("state", 10, std::string{to_string(now.state)},
                          style_of(now.state))};
  const auto names_end = out.size();
  add_columns(out, figures::actor, wide, &now);
  if (!wide) // Behind the first one, busy%.
    out.insert(out.begin() + std::ptrdiff_t(names_end) + 1,
               number_cell("wait", figure_unit::ratio,
                           now.starved + now.stalled + now.waiting));
  return out;
}

/// The rows of a table that are shown.
struct row_window {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// So many of `count` rows, with the selected one in their midst where that
/// can be.
row_window window_around(std::size_t selected, std::size_t count,
                         std::size_t room) {
  const auto shown = std::min(count, room);
  const auto before = std::min(selected, shown / 2);
  const auto first = std::min(selected - before, count - shown);
  return {first, first + shown};
}

/// @param in_hand The keys are for this table, of which the first title shows
/// it, for a selected row may not be there.
void write_titles(top_writer& out, const table_row& row, row_window shown,
                  std::size_t count, bool in_hand) {
  out.line();
  for (const auto& cell : row)
    out.add_cells(cells_in(cell.title, cell.width, cell.to_the_left) + " ",
                  in_hand && &cell == &row.front() ? top_style::title
                                                   : top_style::heading);
  if (shown.end - shown.first < count)
    out.add(fmt::format(" {}-{} of {}", shown.first + 1, shown.end, count),
            top_style::faint);
}

void write_row(top_writer& out, const table_row& row, bool selected) {
  out.line();
  for (const auto& cell : row) {
    const auto cells =
      cells_in(out.cells_of(cell.text), cell.width, cell.to_the_left);
    out.add_cells(cells, selected ? top_style::selected : cell.style);
    out.add(" ", selected ? top_style::selected : top_style::plain);
  }
  if (selected)
    out.pad(out.columns(), top_style::selected);
}

/// What is left of a run, where its actors were.
void write_result(top_writer& out, std::string_view lines) {
  constexpr std::size_t most_lines = 2; // Of a long digest or path.
  constexpr std::size_t indent = 2;
  out.line_of("result", top_style::heading);
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    out.lines_of(lines.substr(0, end), most_lines, top_style::plain, indent);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

} // namespace

void write_tables(top_writer& out, const top_data& data, const top_view& view,
                  std::size_t end) {
  const auto wide = out.columns() >= wide_columns;
  const auto room = end > out.used() ? end - out.used() : 0;
  const auto of_daemons = pane_in_hand(data, view) == top_pane::daemons;
  const auto daemons = top_daemons(data);
  const auto daemon_at = selected_daemon(daemons, view);
  // A third of the room for daemons, but one of them in any case.
  const auto upper = window_around(daemon_at, daemons.size(),
                                   std::max<std::size_t>(room / 3, 1));
  write_titles(out, row_of_daemon(top_daemon{}, wide), upper, daemons.size(),
               of_daemons);
  for (auto i = upper.first; i < upper.end; ++i)
    write_row(out, row_of_daemon(daemons[i], wide),
              of_daemons && i == daemon_at);
  out.line();
  if (!data.result.empty()) {
    write_result(out, data.result);
    return;
  }
  const auto actors = top_actors(data, view);
  const auto actor_at = selected_actor(actors, view);
  const auto left = end > out.used() + 1 ? end - out.used() - 1 : 0;
  const auto lower = window_around(actor_at, actors.size(), left);
  static const actor_health nothing;
  const auto names = names_beside(actors, wide);
  write_titles(out, row_of_actor({{}, &nothing}, names, wide), lower,
               actors.size(), !of_daemons);
  for (auto i = lower.first; i < lower.end; ++i)
    write_row(out, row_of_actor(actors[i], names, wide),
              !of_daemons && i == actor_at);
}

} // namespace graphmill
