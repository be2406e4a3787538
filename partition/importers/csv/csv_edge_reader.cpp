#include "partition/importers/csv/csv_edge_reader.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/importers/csv/near_ids.hpp"
#include "partition/importers/exact_number.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

constexpr std::size_t most_bytes_of_dropped = 200;

/// Of so many ids that are not there, one is looked for that looks the same,
/// among so many at the most: each takes a look at all.
constexpr std::int64_t most_looked_for = 3;
constexpr node_id most_looked_at = 5'000'000;

/// The weight of an edge in a file that has weights.
/// @param decimal_comma Whether one stands before a fraction.
result<float> weight_in(const csv_edge& edge, const csv_reader& rows,
                        bool decimal_comma) {
  auto text = edge.weight;
  std::string with_point;
  if (decimal_comma) {
    auto replaced = with_decimal_point(text);
    if (!replaced)
      return rows.wrong("the weight " + replaced.error().message);
    text = with_point = *std::move(replaced);
  }
  const auto value = number_from<double>(text);
  if (!value)
    return rows.wrong(
      fmt::format("the weight \"{}\" is no number{}", edge.weight,
                  number_hint(edge.weight, decimal_comma ? "" : decimal_flag)));
  if (is_rounded_integer(text))
    return rows.wrong(
      fmt::format("the weight is {}; write it with a point if it may be "
                  "rounded, or make it smaller",
                  rounded_integer_text(text)));
  const auto weight = edge_weight_from(*value);
  if (!weight)
    return no_edge_weight(
      *value, fmt::format("{}:{}", rows.path().string(), rows.line()));
  return *weight;
}

/// Whether a task has columns that may reject rows once ids are known.
bool has_task_columns(const csv_edge_file& file) {
  return std::ranges::any_of(file.layout.tasks,
                             [](const csv_task_columns& task) {
                               return task.label || task.split || task.time
                                      || task.weight || task.negatives;
                             });
}

} // namespace

result<std::int64_t> csv_time_in(std::string_view text, time_text_reader& times,
                                 const csv_reader& rows, bool decimal_comma) {
  std::string with_point{text};
  if (decimal_comma && text.find(':') == text.npos) {
    auto replaced = with_decimal_point(text);
    if (!replaced)
      return rows.wrong("the time " + replaced.error().message);
    with_point = *std::move(replaced);
  }
  auto time = times.check(with_point);
  if (!time)
    return rows.wrong("the time " + time.error().message);
  return time;
}

/// The ends of an edge, which are about to be looked for.
std::array<csv_edge_reader::end, 2>
csv_edge_reader::ends(const csv_edge& edge) const {
  const auto& sources = graph_.nodes[file_.source];
  const auto& destinations = graph_.nodes[file_.destination];
  const std::array out{
    end{sources, "source", edge.source, *file_.layout.source},
    end{destinations, "destination", edge.destination,
        *file_.layout.destination}};
  for (const auto& of : out)
    of.nodes.ids.prefetch(of.id);
  return out;
}

/// Whether the end that was not found makes the edge one to be dropped.
bool csv_edge_reader::is_to_drop(const end& of) const {
  return unknown_ == unknown_nodes::drop
         && (of.id.text.empty()
             || (of.nodes.has_table() && is_csv_id(of.id.text)));
}

std::string csv_edge_reader::near_hint(const end& of) {
  if (of.id.text.empty() || of.nodes.ids.size() > most_looked_at
      || ++looked_for_ > most_looked_for)
    return {};
  return near_id_hint(of.nodes.ids, of.id.text);
}

void csv_edge_reader::count_dropped(const end& of, const csv_reader& rows) {
  ++(of.id.text.empty() ? without_end_ : to_unknown_);
  if (!first_dropped_.empty())
    return;
  const auto hint = near_hint(of);
  first_dropped_ = shortened(
    printable(fmt::format("{}:{}: {} \"{}\"{}", rows.path().filename().string(),
                          rows.line(), of.name, of.id.text,
                          hint.empty() ? "" : " is not in the table" + hint)),
    most_bytes_of_dropped);
}

/// @param ids_are_known Also of types without a table.
result<std::optional<csv_edge_values>>
csv_edge_reader::values(const csv_edge& edge, csv_rows& rows,
                        bool ids_are_known) {
  csv_edge_values out;
  auto good = true;
  read_time_ = false;
  auto* number = &out.source;
  for (const auto& of : ends(edge)) {
    auto& to = *std::exchange(number, &out.destination);
    if (const auto found = of.nodes.find(of.id)) {
      to = *found;
      continue;
    }
    if (is_to_drop(of)) {
      count_dropped(of, rows.reader());
      return std::optional<csv_edge_values>{};
    }
    const auto sound = is_csv_id(of.id.text);
    const auto is_added =
      !of.nodes.has_table() || unknown_ == unknown_nodes::add;
    if (is_added && sound && !ids_are_known)
      continue;
    good = false;
    if (is_added && ids_are_known)
      continue; // It was rejected when ids were read.
    GRAPHMILL_TRYV(rows.reject(
      of.column,
      sound ? fmt::format("{} \"{}\" is not in the table of {}{}", of.name,
                          of.id.text, of.nodes.name, near_hint(of))
            : "an id is empty or has a line break"));
  }
  if (const auto column = file_.layout.weight) {
    const auto weight = weight_in(edge, rows.reader(), decimal_commas_);
    GRAPHMILL_TRYV(rows.check(*column, weight));
    good = good && weight;
    out.weight = good ? weight.value() : 0;
  }
  if (const auto column = file_.layout.edge_time) {
    auto& times = !ids_are_known && has_task_columns(file_) ? alone_ : times_;
    const auto time =
      csv_time_in(edge.edge_time, times, rows.reader(), decimal_commas_);
    GRAPHMILL_TRYV(rows.check(*column, time));
    read_time_ = time && &times == &times_;
    good = good && time;
    out.time = good ? time.value() : 0;
  }
  if (!good)
    return std::optional<csv_edge_values>{};
  return std::optional{out};
}

result<std::optional<csv_edge_values>>
csv_edge_reader::read(const csv_edge& edge, csv_rows& rows) {
  return values(edge, rows, true);
}

void csv_edge_reader::keep() {
  ++kept_;
  if (read_time_)
    times_.keep();
}

result<bool> csv_edge_reader::makes_edge(const csv_edge& edge, csv_rows& rows) {
  GRAPHMILL_TRY(const auto read, values(edge, rows, false));
  return read.has_value();
}

bool csv_edge_reader::drops(const csv_edge& edge) const {
  return unknown_ == unknown_nodes::drop
         && std::ranges::any_of(ends(edge), [this](const end& of) {
              return is_to_drop(of) && !of.nodes.find(of.id);
            });
}

result<void> csv_edge_reader::note_times(const note_callback& on_note) const {
  if (const auto told = times_.told(); !told.empty())
    tell_note(on_note, "{}: times of edges are {}",
              file_.table.file.filename().string(), told);
  return times_.check_unit();
}

void csv_edge_reader::note_dropped(const note_callback& on_note) const {
  if (without_end_ + to_unknown_ == 0)
    return;
  tell_note(on_note,
            "{}: {} to nodes without a row and {} without an end dropped; the "
            "first: {}",
            file_.table.file.filename().string(),
            pluralized(to_unknown_, "edge"), pluralized(without_end_, "edge"),
            first_dropped_);
  if (kept_ == 0)
    tell_note(
      on_note,
      "{}: no edge is left; if its nodes are those of the tables, write "
      "ids alike",
      file_.table.file.filename().string());
}

} // namespace graphmill
