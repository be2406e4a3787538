#include "partition/importers/csv/csv_edge_reader.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/importers/exact_number.hpp"

#include <utility>

namespace graphmill {

namespace {

constexpr std::size_t most_bytes_of_dropped = 200;

/// The weight of an edge in a file that has weights.
result<std::optional<float>> weight_in(const csv_edge_file& file,
                                       const csv_edge& edge,
                                       const csv_reader& rows) {
  if (!file.layout.weight)
    return std::optional<float>{};
  const auto value = number_from<double>(edge.weight);
  if (!value)
    return rows.wrong(
      fmt::format("the weight \"{}\" is no number", edge.weight));
  if (is_rounded_integer(edge.weight))
    return rows.wrong(
      fmt::format("the weight is {}; write it with a point if it may be "
                  "rounded, or make it smaller",
                  rounded_integer_text(edge.weight)));
  const auto weight = edge_weight_from(*value);
  if (!weight)
    return no_edge_weight(
      *value, fmt::format("{}:{}", rows.path().string(), rows.line()));
  return weight;
}

} // namespace

csv_edge_reader::end csv_edge_reader::source(const csv_edge& edge) const {
  return {graph_.nodes[file_.source], "source", edge.source,
          *file_.layout.source};
}

csv_edge_reader::end csv_edge_reader::destination(const csv_edge& edge) const {
  return {graph_.nodes[file_.destination], "destination", edge.destination,
          *file_.layout.destination};
}

/// Whether the end that was not found makes the edge one to be dropped.
bool csv_edge_reader::is_to_drop(const end& of) const {
  return unknown_ == unknown_nodes::drop
         && (of.id.empty() || (of.nodes.table && is_csv_id(of.id)));
}

void csv_edge_reader::count_dropped(const end& of, const csv_reader& rows) {
  ++(of.id.empty() ? without_end_ : to_unknown_);
  if (first_dropped_.empty())
    first_dropped_ = shortened(
      printable(fmt::format("{}:{}: {} \"{}\"", rows.path().filename().string(),
                            rows.line(), of.name, of.id)),
      most_bytes_of_dropped);
}

/// @param ids_are_known Also of types without a table.
result<std::optional<csv_edge_values>>
csv_edge_reader::values(const csv_edge& edge, csv_rows& rows,
                        bool ids_are_known) {
  csv_edge_values out;
  auto good = true;
  for (const auto& [of, number] :
       {std::pair{source(edge), &out.source},
        std::pair{destination(edge), &out.destination}}) {
    if (const auto found = of.nodes.ids.find(of.id)) {
      *number = *found;
      continue;
    }
    if (is_to_drop(of)) {
      count_dropped(of, rows.reader());
      return std::optional<csv_edge_values>{};
    }
    const auto sound = is_csv_id(of.id);
    const auto is_added = !of.nodes.table || unknown_ == unknown_nodes::add;
    if (is_added && sound && !ids_are_known)
      continue;
    good = false;
    if (is_added && ids_are_known)
      continue; // It was rejected when ids were read.
    GRAPHMILL_TRYV(rows.reject(
      of.column, sound ? fmt::format("{} \"{}\" is not in the table of {}",
                                     of.name, of.id, of.nodes.name)
                       : "an id is empty or has a line break"));
  }
  const auto weight = weight_in(file_, edge, rows.reader());
  GRAPHMILL_TRYV(rows.check(file_.layout.weight.value_or(0), weight));
  if (!good || !weight)
    return std::optional<csv_edge_values>{};
  out.weight = weight.value();
  return std::optional{out};
}

result<std::optional<csv_edge_values>>
csv_edge_reader::read(const csv_edge& edge, csv_rows& rows) {
  auto read = values(edge, rows, true);
  kept_ += read && read.value() ? 1 : 0;
  return read;
}

result<bool> csv_edge_reader::makes_edge(const csv_edge& edge, csv_rows& rows) {
  GRAPHMILL_TRY(const auto read, values(edge, rows, false));
  return read.has_value();
}

bool csv_edge_reader::drops(const csv_edge& edge) const {
  const auto is_dropped = [this](const end& of) {
    return is_to_drop(of) && !of.nodes.ids.find(of.id);
  };
  return is_dropped(source(edge)) || is_dropped(destination(edge));
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
