#include "partition/importers/csv/csv_nodes.hpp"

#include "messages/words/number_text.hpp"
#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"
#include "partition/writing/memory_needs.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

/// Ids that take less than this are not worth a look at the memory.
constexpr std::uint64_t least_checked = std::uint64_t{16} << 20;

result<double> parse_time(const csv_reader& rows, std::string_view text) {
  const auto time = number_from<double>(trim_blanks(text));
  if (!time || !std::isfinite(*time))
    return rows.wrong(fmt::format("the time \"{}\" is no finite number; make "
                                  "dates numbers, such as seconds",
                                  text));
  return *time;
}

result<node_id> add_id(csv_node_type& type, const csv_reader& rows,
                       std::string_view id) {
  if (id.empty() || id.find_first_of("\r\n") != id.npos)
    return rows.wrong("an id is empty or has a line break");
  GRAPHMILL_TRY(const auto added,
                add_csv_id(type, id, type.table->file, rows.line()));
  const auto [number, fresh] = added;
  if (!fresh)
    return rows.wrong(fmt::format("id \"{}\" is there already", id));
  return number;
}

} // namespace

result<std::pair<node_id, bool>> add_csv_id(csv_node_type& type,
                                            std::string_view id,
                                            const std::filesystem::path& file,
                                            std::int64_t line) {
  const auto added = type.ids.insert(id);
  // The system is asked for the memory that is left whenever ids have grown by
  // a quarter, and not for each of them.
  const auto bytes = type.ids.bytes();
  if (bytes < least_checked || bytes < type.checked_bytes / 4 * 5)
    return added;
  type.checked_bytes = bytes;
  const auto short_of =
    memory_shortage(fmt::format("going on with the {} ids of {} so far",
                                type.ids.size(), type.name),
                    bytes);
  if (short_of)
    return fail(ec::out_of_memory,
                "{}:{}: {}; give it more, or number the nodes and take "
                "graphmill import npy, which keeps no ids",
                file.string(), line, *short_of);
  return added;
}

result<csv_node_type> read_node_table(const csv_table& table, csv_layout layout,
                                      const known_classes& known,
                                      const csv_import_options& options) {
  GRAPHMILL_TRY(auto rows, open_csv_table(table, layout, options.separator));
  csv_node_type type{.name = table.type, .table = table};
  GRAPHMILL_TRY(const auto none, no_label_values::of(options.no_label));
  label_texts texts{none};
  label_numbers numbers{"--regression", none};
  std::vector<csv_set_reader> sets;
  for (const auto& columns : layout.label_sets)
    sets.emplace_back(
      columns, std::ranges::count(options.regression_sets, columns.name) != 0,
      none);
  for (;;) {
    GRAPHMILL_TRY(const auto there, next_csv_row(rows, layout));
    if (!there)
      break;
    const auto& fields = rows.fields();
    GRAPHMILL_TRY(const auto node,
                  add_id(type, rows, trim_blanks(fields[*layout.id])));
    if (layout.label && options.regression) {
      GRAPHMILL_TRYV(numbers.add(rows, fields[*layout.label]));
    } else if (layout.label) {
      texts.add(fields[*layout.label]);
    }
    for (auto& set : sets)
      GRAPHMILL_TRYV(set.add(rows, node));
    if (layout.time) {
      GRAPHMILL_TRY(const auto time, parse_time(rows, fields[*layout.time]));
      type.times.push_back(time);
    }
    if (!layout.split)
      continue;
    GRAPHMILL_TRY(const auto which,
                  parse_csv_split(rows, fields[*layout.split]));
    if (which)
      type.splits[static_cast<std::size_t>(*which)].push_back(node);
  }
  tell_comments(table, rows, options.on_note);
  csv_labels own;
  if (options.regression) {
    own = numbers.finish();
  } else {
    GRAPHMILL_TRY(own, texts.finish(known.find(type.name, {}), type.name));
  }
  const auto place = table.file.filename().string();
  note_unlabelled(own.unlabelled, place, options.on_note);
  type.unlabelled = own.unlabelled;
  if (!none.empty() && layout.label)
    note_dropped_seeds(drop_unlabelled(type.splits, own.labels), place,
                       options.on_note);
  for (auto& set : sets) {
    GRAPHMILL_TRY(auto read, set.finish(own, rows, known, type.name));
    type.label_sets.push_back(std::move(read));
  }
  type.labels = std::move(own.labels);
  type.values = std::move(own.values);
  type.class_names = std::move(own.names);
  type.layout = std::move(layout);
  return type;
}

} // namespace graphmill
