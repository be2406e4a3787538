#include "actors/commands/top/top_screen.hpp"

#include "actors/commands/text/health_text.hpp"
#include "actors/commands/top/top_log.hpp"
#include "actors/commands/top/top_tables.hpp"
#include "actors/commands/top/top_writer.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/words/field_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>

namespace graphmill {

namespace {

/// From here on a screen is high enough for the verdict's evidence, and for the
/// lines at its foot.
constexpr int rows_for_evidence = 30;
constexpr int rows_for_foot = 6;
constexpr std::size_t most_evidence = 2;
/// Lines that a sentence about one actor, or a piece of evidence, may take.
constexpr std::size_t most_sentence_lines = 4;
constexpr std::size_t most_evidence_lines = 2;
/// What the most urgent sentence may take of the rows of a screen, and what the
/// sentence above the keys may: of a low one, a line. The tables have the rest.
constexpr std::size_t rows_by_verdict_line = 5;
constexpr std::size_t rows_by_foot_line = 8;
/// Lines of the run's progress; where there is none, the verdict may have them.
constexpr std::size_t progress_rows = 2;
/// Cells of "verdict   ", under which its other lines do not begin.
constexpr std::size_t label_cells = 10;
/// From then on figures are called old. A question to a coordinator that is
/// frozen fails only after many more seconds.
constexpr double old_seconds = 5;

constexpr std::array<std::string_view, 8> bars{"▁", "▂", "▃", "▄",
                                               "▅", "▆", "▇", "█"};
constexpr std::string_view plain_bars = "_.-:=+*#";

/// Which attempt of the run is on, if it is not the first one, and by how many
/// trainers.
std::string attempt_text(const top_data& data) {
  if (!data.health || data.health->attempt == 0)
    return {};
  const auto& now = *data.health;
  return fmt::format(
    "{}, {}", now.attempt > 1 ? fmt::format(", attempt {}", now.attempt) : "",
    pluralized(now.trainers, "trainer"));
}

void write_title(top_writer& out, const top_data& data) {
  const auto what = data.run
                      ? fmt::format("graphmill top  {} {}{}{}", data.run->id,
                                    to_string(data.run->state),
                                    attempt_text(data), turn_text(data))
                      : std::string{"graphmill top  no run yet"};
  const auto where = "  at " + data.address;
  out.line();
  out.add(what, top_style::title);
  // Half an address leads nowhere.
  if (what.size() + where.size() <= out.columns())
    out.add(where, top_style::title);
  out.pad(out.columns(), top_style::title);
}

/// A sentence on the screen, over several lines if need be.
struct top_sentence {
  std::string text;
  top_style style = top_style::plain;
  std::size_t indent = 0; ///< Of its lines after the first.
};

/// What is most urgent: that nobody answers, or what limits the run.
top_sentence urgent_sentence(const top_data& data, double silence) {
  if (!data.trouble.empty())
    return {fmt::format("nothing new for {:.0f} s, trying again: {}", silence,
                        data.trouble),
            top_style::bad};
  if (silence >= old_seconds)
    return {fmt::format("nothing new for {:.0f} s", silence), top_style::bad};
  if (data.health)
    return {"verdict   " + data.health->verdict.sentence, top_style::heading,
            label_cells};
  if (data.run && !data.run->message.empty())
    return {fmt::format("state     {}: {}", to_string(data.run->state),
                        data.run->message),
            top_style::plain, label_cells};
  return {};
}

bool has_progress(const top_data& data) {
  return data.health && data.health->progress;
}

/// @returns how many lines it has taken, one at the least.
std::size_t write_verdict(top_writer& out, const top_data& data,
                          std::size_t rows, double silence) {
  const auto before = out.used();
  const auto most = std::max<std::size_t>(rows / rows_by_verdict_line, 1)
                    + (has_progress(data) ? 0 : progress_rows);
  const auto sentence = urgent_sentence(data, silence);
  out.lines_of(sentence.text, most, sentence.style, sentence.indent);
  if (out.used() == before)
    out.line();
  return out.used() - before;
}

/// @param taken Lines that the verdict has, of which all but the first may
/// stand in the place of these where there is no progress.
void write_progress(top_writer& out, const top_data& data, std::size_t taken) {
  if (!has_progress(data)) {
    for (auto i = taken; i <= progress_rows; ++i)
      out.line();
    return;
  }
  const auto text = health_progress(*data.health->progress);
  std::string_view rest = text;
  for (std::size_t i = 0; i < progress_rows; ++i) {
    const auto end = std::min(rest.find('\n'), rest.size());
    out.line_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

/// Up to a column, with a blank before it. Where there is no room for a curve,
/// the value stays rather than its title.
void write_curve(top_writer& out, const top_canvas& canvas,
                 std::string_view title, const std::vector<double>& values,
                 int decimals, std::size_t end) {
  const auto latest = values.empty()
                        ? std::string{"-"}
                        : fmt::format("{:.{}f}", values.back(), decimals);
  const auto begin = end - out.columns() / 3;
  const auto room = end > begin ? end - begin - 1 : 0;
  const auto words = title.size() + 1 + latest.size();
  const auto curve =
    top_curve(values, room > words + 1 ? room - words - 1 : 0, canvas.unicode);
  const auto left = room > latest.size() + 1 ? room - latest.size() - 1 : 0;
  const auto shown = first_cells(title, left);
  out.add(shown, top_style::faint);
  if (!shown.empty())
    out.add(" ");
  out.add_cells(curve, top_style::good);
  if (!curve.empty())
    out.add(" ");
  out.add(first_cells(latest, room));
  out.pad(end);
}

void write_curves(top_writer& out, const top_data& data,
                  const top_canvas& canvas) {
  const auto third = out.columns() / 3;
  out.line();
  write_curve(out, canvas, "seeds/s", data.rates, 0, third);
  write_curve(out, canvas, "loss", data.losses, 4, 2 * third);
  write_curve(out, canvas, data.metric, data.validations, 4, 3 * third);
}

std::string question_about(const top_command& asked) {
  switch (asked.what) {
  case top_command::kind::drain:
    return fmt::format("press y to drain daemon {}: no new runs for it; other "
                       "keys: no",
                       asked.name);
  case top_command::kind::serve_again:
    return fmt::format("press y to take daemon {} into service again; other "
                       "keys: no",
                       asked.name);
  default:
    return fmt::format("press y to cancel run {}: it ends after this step; "
                       "other keys: no",
                       asked.name);
  }
}

/// Who has been at one piece of work for too long: the first one that any
/// daemon tells of; empty: nobody.
std::string long_work_text(const top_data& data) {
  if (data.health)
    for (const auto& daemon : data.health->daemons)
      if (!daemon.long_work.empty())
        return fmt::format("{}: {}", daemon.daemon, daemon.long_work.front());
  return {};
}

/// What the line above the keys says when nobody has pressed one.
std::string standing_message(const top_data& data, const top_view& view) {
  if (pane_in_hand(data, view) == top_pane::daemons) {
    const auto daemons = top_daemons(data);
    const auto at = selected_daemon(daemons, view);
    if (at < daemons.size() && daemons[at].status != nullptr
        && !daemons[at].status->note.empty())
      return fmt::format("{}: {}", daemons[at].name, daemons[at].status->note);
  }
  if (data.cluster && !data.cluster->note.empty())
    return data.cluster->note;
  if (auto work = long_work_text(data); !work.empty())
    return work;
  auto out = fmt::format("sorted by {}{}", top_sorts().at(view.sort),
                         view.reversed ? ", reversed" : "");
  if (!view.only.empty())
    out += fmt::format("; of daemon {}", view.only);
  if (!view.filter.empty())
    out += fmt::format("; only \"{}\"", view.filter);
  if (data.health && data.health->left_out != 0)
    out += fmt::format("; {} more daemons did not fit in the answer",
                       data.health->left_out);
  return out;
}

/// What stands above the keys.
top_sentence foot_sentence(const top_data& data, const top_view& view) {
  if (view.asked)
    return {question_about(*view.asked), top_style::warning};
  if (view.typing)
    return {fmt::format("filter: {}_", view.filter), top_style::warning};
  if (!view.message.empty())
    return {view.message, top_style::warning};
  return {standing_message(data, view), top_style::faint};
}

/// The lines at the foot of a screen, of which the keys are the last.
std::vector<top_line> foot_lines(const top_data& data, const top_view& view,
                                 const top_canvas& canvas) {
  top_writer out{canvas};
  const auto sentence = foot_sentence(data, view);
  const auto most = std::size_t(canvas.rows) / rows_by_foot_line;
  out.lines_of(sentence.text, std::max<std::size_t>(most, 1), sentence.style);
  out.line_of(runs_that_are_on(data).size() > 1
                ? "q end  n run  s, r sort  / filter  tab  enter open  l log  "
                  "d drain  c cancel"
                : "q end  s, r sort  / filter  tab table  enter open  l log  "
                  "d drain  c cancel",
              top_style::faint);
  return out.take();
}

/// An actor's figures by the names of their fields, as pieces of text. Its
/// batch is longer than they are, and stands by itself.
struct figure_list {
  std::vector<std::string>* out;
  std::string* batch;

  static std::string text_of(const std::string& from) {
    return from.empty() ? "-" : from;
  }
  /// Of a part or rank, where there is none.
  static std::string text_of(std::int32_t from) {
    return from < 0 ? "-" : fmt::format("{}", from);
  }
  template <class T>
  static std::string text_of(const T& from) {
    if constexpr (std::is_enum_v<T>)
      return std::string{to_string(from)};
    else if constexpr (std::is_floating_point_v<T>)
      return fmt::format("{:.4g}", from);
    else
      return fmt::format("{}", from);
  }

  template <class T>
  void operator()(const char* name, const T& from) const {
    out->push_back(fmt::format("{:<16} {}", user_name(name), text_of(from)));
  }
  void operator()(const char* name,
                  const std::optional<batch_place>& from) const {
    if (!from) {
      (*this)(name, std::string{});
      return;
    }
    *batch =
      fmt::format("{:<16} {}, epoch {}, step {}, rank {}", user_name(name),
                  to_string(from->phase), std::int64_t{from->epoch} + 1,
                  from->step + 1, from->rank);
  }
};

/// In columns that cut no number. Says how many pieces there is no room for.
void write_grid(top_writer& out, const std::vector<std::string>& pieces,
                std::size_t rows) {
  if (rows == 0 || pieces.empty())
    return;
  constexpr std::size_t least_width = 26; // A name, and nine digits.
  const auto columns =
    std::min(std::max<std::size_t>(1, out.columns() / least_width),
             (pieces.size() + rows - 1) / rows);
  const auto deep = std::min(rows, (pieces.size() + columns - 1) / columns);
  const auto shown = std::min(pieces.size(), columns * deep);
  const auto width = out.columns() / columns;
  for (std::size_t row = 0; row < deep; ++row) {
    out.line();
    for (std::size_t at = row, column = 0; at < shown; at += deep, ++column) {
      out.pad(column * width);
      const auto is_last = at + 1 == shown && shown < pieces.size();
      const auto cells = out.cells_of(
        is_last ? fmt::format("and {} more figures", pieces.size() - at)
                : pieces[at]);
      out.add_cells(first_cells(cells, width == 0 ? 0 : width - 1),
                    top_style::plain);
    }
  }
}

void write_actor(top_writer& out, const top_data& data, const top_view& view,
                 std::size_t end) {
  const auto rows = top_actors(data, {});
  const auto found = std::ranges::find_if(
    rows, [&view](const top_actor& row) { return row.id == view.actor; });
  if (found == rows.end()) {
    out.line_of("this actor is not there any more: escape goes back",
                top_style::warning);
    return;
  }
  out.line_of(fmt::format("{} of daemon {}", found->id.label, found->id.daemon),
              top_style::heading);
  out.line_of("times in seconds, shares from 0 to 1, sizes in bytes; escape "
              "goes back",
              top_style::faint);
  const auto& figures = *found->figures;
  out.lines_of(figures.why, most_sentence_lines, top_style::plain);
  out.lines_of(figures.last_error, most_sentence_lines, top_style::bad);
  std::vector<std::string> pieces;
  std::string batch;
  actor_health::fields(figures, figure_list{&pieces, &batch});
  out.lines_of(batch, most_sentence_lines, top_style::plain);
  write_grid(out, pieces, end > out.used() ? end - out.used() : 0);
}

} // namespace

std::string top_curve(const std::vector<double>& values, std::size_t width,
                      bool unicode) {
  const auto count = std::min(width, values.size());
  const auto first = values.size() - count;
  auto least = std::numeric_limits<double>::infinity();
  auto most = -least;
  for (auto i = first; i < values.size(); ++i)
    if (std::isfinite(values[i])) {
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
    }
  std::string out;
  for (auto i = first; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      out += ' ';
      continue;
    }
    // Halves, for the whole of it may be more than a number can be.
    const auto range = most / 2 - least / 2;
    const auto share = range > 0 ? (values[i] / 2 - least / 2) / range : 0.5;
    const auto level = std::min<std::size_t>(
      static_cast<std::size_t>(share * double(bars.size())), bars.size() - 1);
    if (unicode)
      out += bars[level];
    else
      out += plain_bars[level];
  }
  return out;
}

std::vector<top_line> top_screen(const top_data& data, const top_view& view,
                                 const top_canvas& canvas, double silence) {
  top_writer out{canvas};
  const auto rows = static_cast<std::size_t>(std::max(canvas.rows, 0));
  auto foot = canvas.rows >= rows_for_foot ? foot_lines(data, view, canvas)
                                           : std::vector<top_line>{};
  const auto end = rows - foot.size();
  write_title(out, data);
  const auto taken = write_verdict(out, data, rows, silence);
  if (data.health && canvas.rows >= rows_for_evidence)
    for (std::size_t i = 0;
         i < std::min(most_evidence, data.health->verdict.evidence.size()); ++i)
      out.lines_of(std::string(label_cells, ' ')
                     + data.health->verdict.evidence[i],
                   most_evidence_lines, top_style::plain, label_cells);
  write_progress(out, data, taken);
  write_curves(out, data, canvas);
  out.line();
  if (view.followed)
    write_log(out, data, view, end);
  else if (view.opened)
    write_actor(out, data, view, end);
  else
    write_tables(out, data, view, end);
  out.resize(end);
  auto lines = out.take();
  std::ranges::move(foot, std::back_inserter(lines));
  return lines;
}

} // namespace graphmill
