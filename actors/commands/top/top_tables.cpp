#include "actors/commands/top/top_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

namespace {

/// A screen of so many columns shows more of each row.
constexpr std::size_t wide_columns = 140;
/// From here on numbers get an exponent, so that none is cut off.
constexpr double large_figure = 1e5;

struct table_cell {
  std::string title; ///< Of its column.
  std::size_t width = 0;
  bool to_the_left = false;
  std::string text;
  top_style style = top_style::plain;
};
using table_row = std::vector<table_cell>;

std::string figure_text(double value, int decimals) {
  return std::abs(value) < large_figure
           ? fmt::format("{:.{}f}", value, decimals)
           : fmt::format("{:.3g}", value);
}

table_cell number_cell(std::string title, std::size_t width, double value,
                       int decimals = 0) {
  return {std::move(title), width, false, figure_text(value, decimals)};
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
  const auto load = known.load.value_or(daemon_load{});
  const auto add = [&out](bool is_known, table_cell cell) {
    if (!is_known)
      cell.text = "-";
    out.push_back(std::move(cell));
  };
  const auto told = known.load.has_value();
  add(told, number_cell("cpus", 6, load.cores, 1));
  add(told, number_cell("mem MB", 8, double(load.memory_bytes) * 1e-6));
  add(told, number_cell("threads", 7, load.threads));
  double queued = 0;
  if (daemon.health != nullptr)
    for (const auto& actor : daemon.health->actors)
      queued += double(actor.queue);
  add(daemon.health != nullptr, number_cell("queue", 8, queued));
  add(told, number_cell("in MB/s", 8, load.received_per_second * 1e-6, 1));
  add(told, number_cell("out MB/s", 8, load.sent_per_second * 1e-6, 1));
  if (wide) {
    out.push_back(text_cell("host", 16, known.host));
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
  const auto percent = [](const char* title, std::size_t width, double share) {
    return number_cell(title, width, 100 * share);
  };
  table_row out{text_cell("actor", names.actor, row.id.label),
                text_cell("daemon", names.daemon, row.id.daemon),
                text_cell("state", 10, std::string{to_string(now.state)},
                          style_of(now.state))};
  out.push_back(percent("busy%", 5, now.busy));
  if (wide) {
    out.push_back(percent("input%", 6, now.starved));
    out.push_back(percent("credit%", 7, now.stalled));
    out.push_back(percent("reply%", 6, now.waiting));
  } else {
    out.push_back(percent("wait%", 5, now.starved + now.stalled + now.waiting));
  }
  out.push_back(number_cell("queue", 8, double(now.queue)));
  out.push_back(number_cell("items/s", 8, now.items_per_second, 1));
  if (wide)
    out.push_back(number_cell("p50 ms", 8, 1e3 * now.median_latency, 1));
  out.push_back(number_cell("p99 ms", 8, 1e3 * now.p99_latency, 1));
  if (wide) {
    out.push_back(number_cell("workers", 7, now.workers));
    out.push_back(number_cell("restarts", 8, double(now.restarts)));
  }
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
