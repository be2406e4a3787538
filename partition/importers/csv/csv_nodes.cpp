#include "partition/importers/csv/csv_nodes.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/importers/csv/csv_edge_reader.hpp"
#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/csv/csv_rows.hpp"
#include "partition/importers/exact_number.hpp"
#include "partition/writing/memory_needs.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace graphmill {

namespace {

/// Of an id in a note.
constexpr std::size_t most_bytes_of_id = 60;

/// Ids that take less than this are not worth a look at the memory.
constexpr std::uint64_t least_checked = std::uint64_t{16} << 20;

/// @param decimal_comma Whether one stands before a fraction.
result<double> parse_time(const csv_reader& rows, std::string_view text,
                          bool decimal_comma) {
  std::string number{trim_blanks(text)};
  if (decimal_comma) {
    auto replaced = with_decimal_point(number);
    if (!replaced)
      return rows.wrong("the time " + replaced.error().message);
    number = *std::move(replaced);
  }
  const auto time = number_from<double>(number);
  if (!time || !std::isfinite(*time))
    return rows.wrong(fmt::format("the time \"{}\" is no finite number; make "
                                  "dates numbers, such as seconds",
                                  text));
  return *time;
}

/// Reads the columns of a node table but for its features.
class node_table_reader {
public:
  node_table_reader(const csv_table& table, const csv_layout& layout,
                    const csv_import_options& options,
                    const no_label_values& none, const known_classes& known)
    : layout_(layout), skips_(options.skip_bad_rows > 0),
      regression_(options.regression), decimal_commas_(options.decimal_commas),
      ticks_(time_reader_of(options, table.type)),
      drops_unlabelled_(!none.empty() && layout.label),
      on_note_(options.on_note), type_{.name = table.type, .table = table},
      texts_(none, known.find(table.type, {}), table.type),
      numbers_("--regression", none, options.decimal_commas) {
    for (const auto& columns : layout.label_sets)
      sets_.emplace_back(columns, options, none, known, table.type);
  }

  /// Reads the cells of a row, also behind one that is wrong.
  result<void> add(csv_rows& rows);

  result<void> begin(const csv_import_options& options) {
    return read_earlier_ids(type_, options);
  }

  result<csv_node_type> finish(const csv_reader& rows);

  /// The ids alone.
  csv_node_type ids() { return std::move(type_); }

private:
  result<void> add_id(csv_rows& rows);
  result<void> add_cells(csv_rows& rows, node_id node);
  result<void> add_label(csv_rows& rows);
  result<void> add_time(csv_rows& rows);
  result<void> add_split(csv_rows& rows, node_id node);
  result<void> add_masks(csv_rows& rows, node_id node);

  const csv_layout& layout_;
  bool skips_; ///< Rows that are wrong are left out.
  bool regression_;
  bool decimal_commas_; ///< In times.
  time_text_reader ticks_;
  bool drops_unlabelled_; ///< From splits.
  const note_callback& on_note_;
  csv_node_type type_;
  label_texts texts_;
  label_numbers numbers_;
  std::vector<csv_set_reader> sets_;
};

result<void> node_table_reader::add(csv_rows& rows) {
  const auto node = type_.ids.size();
  // The id of a row that is left out is free for a later one.
  if (skips_) {
    GRAPHMILL_TRYV(add_cells(rows, node));
    if (rows.is_sound())
      GRAPHMILL_TRYV(add_id(rows));
  } else {
    GRAPHMILL_TRYV(add_id(rows));
    GRAPHMILL_TRYV(add_cells(rows, node));
  }
  if (layout_.node_time && rows.is_sound())
    ticks_.keep();
  return ok();
}

result<void> node_table_reader::add_id(csv_rows& rows) {
  const auto id = trim_blanks(rows.fields()[*layout_.id]);
  if (!is_csv_id(id))
    return rows.reject(layout_.id, "an id is empty or has a line break");
  GRAPHMILL_TRY(const auto added, add_csv_id(type_, id, rows.reader()));
  return added.second
           ? ok()
           : rows.reject(layout_.id,
                         fmt::format("id \"{}\" is there already", id));
}

/// Reads the other cells of the row of a node.
result<void> node_table_reader::add_cells(csv_rows& rows, node_id node) {
  GRAPHMILL_TRYV(add_label(rows));
  for (auto& set : sets_)
    GRAPHMILL_TRYV(set.add(rows, node));
  GRAPHMILL_TRYV(add_time(rows));
  return add_split(rows, node);
}

result<void> node_table_reader::add_label(csv_rows& rows) {
  if (!layout_.label)
    return ok();
  const auto field = rows.fields()[*layout_.label];
  if (regression_)
    return rows.check(*layout_.label, numbers_.add(rows.reader(), field));
  return rows.check(*layout_.label, texts_.add(rows.reader(), field));
}

result<void> node_table_reader::add_time(csv_rows& rows) {
  if (layout_.node_time) {
    const auto time =
      csv_time_in(trim_blanks(rows.fields()[*layout_.node_time]), ticks_,
                  rows.reader(), decimal_commas_);
    GRAPHMILL_TRYV(rows.check(*layout_.node_time, time));
    type_.node_times.push_back(time ? time.value() : 0);
  }
  if (!layout_.time)
    return ok();
  const auto time =
    parse_time(rows.reader(), rows.fields()[*layout_.time], decimal_commas_);
  if (!time)
    return rows.reject(layout_.time, time.error());
  type_.times.push_back(time.value());
  return ok();
}

/// Puts a node into the split whose mask marks it.
result<void> node_table_reader::add_masks(csv_rows& rows, node_id node) {
  std::optional<std::size_t> in;
  for (std::size_t s = 0; s < layout_.masks.size(); ++s) {
    const auto column = layout_.masks[s];
    if (!column)
      continue;
    const auto marked = parse_csv_mask(rows.reader(), rows.fields()[*column]);
    GRAPHMILL_TRYV(rows.check(*column, marked));
    if (!marked || !marked.value())
      continue;
    if (in)
      return rows.reject(column,
                         fmt::format("the node is marked in {} and in {}",
                                     column_text(layout_, *layout_.masks[*in]),
                                     column_text(layout_, *column)));
    in = s;
  }
  if (in)
    type_.splits[*in].push_back(node);
  return ok();
}

result<void> node_table_reader::add_split(csv_rows& rows, node_id node) {
  if (!layout_.split)
    return add_masks(rows, node);
  const auto which =
    parse_csv_split(rows.reader(), rows.fields()[*layout_.split]);
  if (!which)
    return rows.reject(layout_.split, which.error());
  if (const auto in = which.value())
    type_.splits[static_cast<std::size_t>(*in)].push_back(node);
  return ok();
}

result<csv_node_type> node_table_reader::finish(const csv_reader& rows) {
  auto own = regression_ ? numbers_.finish() : texts_.finish();
  const auto place = type_.table->file.filename().string();
  if (const auto told = ticks_.told(); !told.empty())
    tell_note(on_note_, "{}: times of {} are {}", place, type_.name, told);
  GRAPHMILL_TRYV(ticks_.check_unit());
  type_.form_of_times = ticks_.form();
  note_unlabelled(own.unlabelled, place, on_note_);
  if (drops_unlabelled_)
    note_dropped_seeds(drop_unlabelled(type_.splits, own.labels), place,
                       on_note_);
  for (auto& set : sets_) {
    GRAPHMILL_TRY(auto read, set.finish(own, rows));
    type_.label_sets.push_back(std::move(read));
  }
  type_.labels = std::move(own.labels);
  type_.values = std::move(own.values);
  type_.class_names = std::move(own.names);
  type_.unlabelled = std::move(own.unlabelled);
  return std::move(type_);
}

} // namespace

result<std::pair<node_id, bool>>
add_csv_id(csv_node_type& type, const hashed_id& id, const csv_reader& rows) {
  if (type.before.size() > 0)
    if (const auto old = type.before.find(id))
      return std::pair{*old, false};
  auto added = type.ids.insert(id);
  added.first += type.before.size();
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
                rows.path().string(), rows.line(), *short_of);
  return added;
}

result<csv_node_type> read_node_table(const csv_table& table, csv_layout layout,
                                      csv_features features,
                                      const known_classes& known,
                                      const csv_import_options& options,
                                      row_errors& errors) {
  // Before the ids: a row that is left out has no node.
  if (errors.skips())
    GRAPHMILL_TRYV(
      check_csv_features(table, layout, options.separator, features, errors));
  GRAPHMILL_TRY(const auto none, no_label_values::of(options.no_label));
  for (;;) {
    const auto rejected_before = errors.rejected_rows();
    GRAPHMILL_TRY(auto rows,
                  csv_rows::open(table, layout, options.separator, errors));
    node_table_reader reader{table, layout, options, none, known};
    GRAPHMILL_TRYV(reader.begin(options));
    for (;;) {
      GRAPHMILL_TRY(const auto there, rows.next());
      if (!there)
        break;
      GRAPHMILL_TRYV(reader.add(rows));
    }
    const auto sound = errors.rejected_rows() == rejected_before;
    if (!sound && errors.skips())
      continue; // Once more, without those rows.
    csv_node_type type;
    rows.tell_notes(options.on_note);
    if (sound) {
      GRAPHMILL_TRY(type, reader.finish(rows.reader()));
    } else {
      type = reader.ids();
    }
    const auto& split = options.changes.split;
    if (split && split->order == split_order::time && type.times.empty())
      type.times.assign(type.node_times.begin(), type.node_times.end());
    type.layout = std::move(layout);
    type.features = std::move(features);
    type.table_rows = type.ids.size();
    return type;
  }
}

result<void> read_earlier_ids(csv_node_type& type,
                              const csv_import_options& options) {
  if (options.after.empty())
    return ok();
  type.tabled_before =
    std::ranges::find(options.tabled, type.name) != options.tabled.end();
  GRAPHMILL_TRY(const auto info, read_dataset_info(options.after));
  const auto there = info.find_node_type(type.name);
  if (!there)
    return fail(ec::invalid_argument, "{} has no node type \"{}\"",
                options.after.string(), type.name);
  const auto path = node_folder(options.after, info, *there) / ids_file;
  std::ifstream file{path};
  for (std::string id; std::getline(file, id);)
    type.before.insert(id);
  const auto count = info.node_types[static_cast<std::size_t>(*there)].count;
  if (file.bad() || type.before.size() != count)
    return fail(ec::invalid_data,
                "{} has {} distinct ids, and there are {} nodes: it is missing "
                "or damaged, so new rows cannot be told from old ones",
                path.string(), type.before.size(), count);
  return ok();
}

bool is_csv_id(std::string_view id) {
  return !id.empty() && std::ranges::none_of(id, [](char c) {
    return c == '\r' || c == '\n';
  });
}

void complete_added_nodes(csv_node_type& type, const note_callback& on_note) {
  const auto added = type.ids.size() - type.table_rows;
  if (!type.table || added == 0)
    return;
  const auto count = static_cast<std::size_t>(type.ids.size());
  const auto complete = [count, added](std::vector<std::int64_t>& labels,
                                       std::vector<std::uint8_t>& values) {
    if (!labels.empty())
      labels.resize(count, -1);
    for (node_id i = 0; !values.empty() && i < added; ++i)
      append_value(values, std::numeric_limits<float>::quiet_NaN());
  };
  complete(type.labels, type.values);
  for (auto& set : type.label_sets)
    complete(set.labels, set.rows);
  if (!type.times.empty())
    type.times.resize(count, 0); // A split is of nodes with labels alone.
  tell_note(
    on_note,
    "{}: {} added that only edges name, such as \"{}\", without "
    "labels{}",
    type.name, pluralized(added, "node"),
    shortened(printable(type.ids.name(type.table_rows)), most_bytes_of_id),
    type.features.fields.empty() ? "" : "; all of their features are 0");
  if (!type.has_known_ends && type.table_rows > 0)
    tell_note(on_note,
              "{}: no edge names a node of the table, such as \"{}\"; if they "
              "are the same nodes, write ids alike",
              type.name,
              shortened(printable(type.ids.name(0)), most_bytes_of_id));
}

} // namespace graphmill
