#include "partition/importers/csv/csv_columns.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/closest.hpp"
#include "messages/words/number_text.hpp"
#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/csv/csv_roles.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// Of an id in a note.
constexpr std::size_t most_bytes_shown = 60;
/// Of columns, where one was named that there is not.
constexpr std::size_t most_names_told = 12;

std::vector<std::size_t> all_columns(const csv_layout& layout) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < layout.count(); ++i)
    columns.push_back(i);
  return columns;
}

/// The column of this name, or else number.
std::optional<std::size_t> find_column(const csv_layout& layout,
                                       const std::string& text) {
  for (std::size_t i = 0; layout.header && i < layout.count(); ++i)
    if (lower_name(layout.names[i]) == lower_name(text))
      return i;
  const auto number = number_from<std::size_t>(text);
  if (number && *number >= 1 && *number <= layout.count())
    return *number - 1;
  return std::nullopt;
}

/// Whether edges of a list begin and end at nodes of one type:
/// "source__name__destination".
bool joins_one_type(const csv_table& table) {
  const auto first = table.type.find("__");
  const auto last = table.type.rfind("__");
  return first != std::string::npos && first < last
         && table.type.substr(0, first) == table.type.substr(last + 2);
}

bool is_a_number(const std::string& text) {
  return !text.empty()
         && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether a role has been given already.
bool has(const column_roles& roles, csv_role role) {
  return std::ranges::find(roles, std::optional{role}) != roles.end();
}

/// Gives the columns that usual names tell the roles that are still free.
template <class RoleOf>
void add_by_name(column_roles& roles, const csv_layout& layout,
                 RoleOf role_of) {
  const auto chosen = roles;
  for (std::size_t i = 0; layout.header && i < roles.size(); ++i)
    if (const auto role = role_of(layout.names[i]);
        !roles[i] && role && (may_repeat(*role) || !has(chosen, *role)))
      roles[i] = role;
}

std::vector<std::size_t> columns_without_role(const column_roles& roles) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (!roles[i])
      left.push_back(i);
  return left;
}

/// What is left over becomes the ends that are missing, if it must be those.
result<void> add_ends(column_roles& roles, const csv_table& table,
                      const csv_layout& layout, const csv_reader& rows) {
  auto left = columns_without_role(roles);
  std::vector<csv_role> missing;
  for (auto end : {csv_role::source, csv_role::destination})
    if (!has(roles, end))
      missing.push_back(end);
  if (left.size() == missing.size()) {
    for (std::size_t i = 0; i < left.size(); ++i)
      roles[left[i]] = missing[i];
    return ok();
  }
  if (left.size() < missing.size())
    return rows.wrong(fmt::format(
      "the columns are {}; a source and a destination expected (--source, "
      "--destination)",
      columns_text(layout, all_columns(layout))));
  const auto text = columns_text(layout, left);
  const auto unnamed =
    std::ranges::find_if(left, [&layout](std::size_t column) {
      return layout.header && layout.names[column].empty();
    });
  if (missing.empty())
    return rows.wrong(fmt::format(
      "nothing is known of {}: say which one has the weights of edges with "
      "--weight, make one edge type of each value of one with --relation, or "
      "leave columns out with --ignore{}; edges have no times or features yet",
      text,
      unnamed == left.end()
        ? ""
        : fmt::format(" (--ignore {}={} for the one without a name)",
                      table.file.filename().string(), *unnamed + 1)));
  return rows.wrong(fmt::format(
    "which of the columns {} are source and destination? Say so by {} "
    "(--source, --destination, --relation, --weight), and leave out the others "
    "with --ignore",
    text, layout.header ? "name" : "number"));
}

/// Fails if the name of a column is not of one line.
result<csv_layout> layout_of_row(const std::vector<std::string>& first,
                                 bool header, const csv_reader& rows) {
  for (std::size_t i = 0; header && i < first.size(); ++i)
    if (printable(first[i]) != first[i])
      return rows.wrong(fmt::format(
        "the name of column {} has a line break or control character: {}",
        i + 1, shortened(printable(first[i]), most_bytes_shown)));
  csv_layout layout;
  layout.header = header;
  layout.names = header ? first : std::vector<std::string>(first.size());
  return layout;
}

} // namespace

csv_chooser::csv_chooser(const csv_import_options& options)
  : options_(options) {
  const auto is_table = [&options](const std::string& name) {
    const auto named = [&name](const csv_table& table) {
      return names_table(name, table);
    };
    return std::ranges::any_of(options.edges, named)
           || std::ranges::any_of(options.nodes, named);
  };
  const auto add = [&](csv_role role, const std::string& text) {
    const auto equals = text.find('=');
    const auto table = text.substr(0, equals);
    if (equals != std::string::npos && is_table(table))
      choices_.push_back({role, table, text.substr(equals + 1)});
    else
      choices_.push_back({role, {}, text});
  };
  for (const auto& choice : options.choices)
    add(choice.role, choice.column);
  for (const auto& text : options.ignore)
    add(csv_role::ignore, text);
  used_.resize(choices_.size());
}

std::optional<bool> csv_chooser::said_header(const csv_table& table) const {
  const auto named = [&table](const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [&table](const std::string& name) {
      return names_table(name, table);
    });
  };
  if (named(options_.with_header))
    return true;
  if (named(options_.without_header))
    return false;
  return std::nullopt;
}

result<bool>
csv_chooser::edge_header(const csv_table& table, const csv_reader& rows,
                         const std::vector<std::string>& first,
                         const std::vector<std::string>& second) const {
  if (const auto said = said_header(table))
    return *said;
  if (!options_.edge_header)
    return looks_like_header(first, second);
  if (*options_.edge_header && looks_like_edge(first))
    return rows.wrong(fmt::format(
      "--header says that the first row is a header, and it looks like an edge "
      "({}, {}); name the tables that have one (--header=NAME)",
      first[0], first[1]));
  return *options_.edge_header;
}

result<std::vector<std::optional<csv_role>>>
csv_chooser::apply(const csv_table& table, const csv_reader& rows,
                   const csv_layout& layout, bool edges) {
  column_roles roles(layout.count());
  for (std::size_t c = 0; c < choices_.size(); ++c) {
    const auto& choice = choices_[c];
    const auto named = !choice.table.empty();
    if (named ? !names_table(choice.table, table) : !is_for(choice.role, edges))
      continue;
    if (!is_for(choice.role, edges))
      return rows.wrong(fmt::format(
        "{} {}={}: {} has no such column", flag_of(choice.role), choice.table,
        choice.column, edges ? "an edge list" : "a node table"));
    // A bare number of a column to be left out would hit all tables.
    if (!named && choice.role == csv_role::ignore && layout.header
        && is_a_number(choice.column)
        && std::ranges::find(layout.names, choice.column) == layout.names.end())
      continue;
    const auto column = find_column(layout, choice.column);
    if (!column && !named)
      continue;
    if (!column)
      return rows.wrong(
        fmt::format("{} {}={}: there is no such column; there are {}",
                    flag_of(choice.role), choice.table, choice.column,
                    columns_text(layout, all_columns(layout))));
    used_[c] = true;
    if (roles[*column] && *roles[*column] != choice.role)
      return rows.wrong(fmt::format(
        "column {} cannot be both {} and {}", column_text(layout, *column),
        flag_of(*roles[*column]).substr(2), flag_of(choice.role).substr(2)));
    roles[*column] = choice.role;
  }
  return roles;
}

std::string csv_chooser::choices_missed(const csv_layout& layout,
                                        bool edges) const {
  std::string out;
  for (std::size_t c = 0; c < choices_.size(); ++c) {
    const auto& choice = choices_[c];
    if (!used_[c] && choice.table.empty() && is_for(choice.role, edges)
        && !find_column(layout, choice.column))
      out += fmt::format("; {} {} names none of its columns",
                         flag_of(choice.role), choice.column);
  }
  return out;
}

result<csv_layout> csv_chooser::edge_columns(const csv_table& table) {
  GRAPHMILL_TRY(auto rows, csv_reader::open(table.file, options_.separator));
  GRAPHMILL_TRY(const auto there, rows.next());
  if (!there) {
    tell_note(options_.on_note, "{}: is empty", table.file.filename().string());
    return csv_layout{};
  }
  const auto first = trimmed_fields(rows);
  GRAPHMILL_TRY(auto peek, csv_reader::open(table.file, options_.separator));
  std::vector<std::string> second;
  GRAPHMILL_TRYV(peek.next());
  GRAPHMILL_TRY(const auto more, peek.next());
  if (more)
    second = trimmed_fields(peek);
  if (first.size() < 2)
    return rows.wrong(one_csv_field);
  GRAPHMILL_TRY(const auto header, edge_header(table, rows, first, second));
  GRAPHMILL_TRY(auto layout, layout_of_row(first, header, rows));
  if (layout.header)
    seen_.insert(seen_.end(), layout.names.begin(), layout.names.end());
  GRAPHMILL_TRY(auto roles, apply(table, rows, layout, true));
  add_by_name(roles, layout, edge_role_of);
  if (auto added = add_ends(roles, table, layout, rows); !added) {
    auto failure = std::move(added).error();
    failure.message += choices_missed(layout, true);
    return failure;
  }
  GRAPHMILL_TRYV(fill_in(layout, roles, rows));
  tell_note(options_.on_note, "{}", layout_text(table, layout));
  if (header && joins_one_type(table)
      && !edge_role_of(layout.names[*layout.source])
      && !edge_role_of(layout.names[*layout.destination]))
    tell_note(options_.on_note,
              "{0}: \"{1}\" and \"{2}\" have ids of the same nodes, those of "
              "type {3}; if they are of two kinds, give each a type: --edges "
              "SOURCE__NAME__DESTINATION={0}",
              table.file.filename().string(), layout.names[*layout.source],
              layout.names[*layout.destination],
              table.type.substr(0, table.type.find("__")));
  if (!header && !options_.edge_header && !said_header(table)
      && !looks_like_edge(first))
    tell_note(options_.on_note,
              "{}: its first row is taken for an edge ({}, {}); if it is a "
              "header, say --header",
              table.file.filename().string(),
              shortened(first[*layout.source], most_bytes_shown),
              shortened(first[*layout.destination], most_bytes_shown));
  return layout;
}

result<csv_layout> csv_chooser::node_columns(const csv_table& table) {
  GRAPHMILL_TRY(auto rows, csv_reader::open(table.file, options_.separator));
  GRAPHMILL_TRY(const auto there, rows.next());
  if (!there)
    return rows.wrong("the table is empty; a header with a column \"id\" "
                      "expected");
  GRAPHMILL_TRY(auto layout,
                layout_of_row(trimmed_fields(rows),
                              said_header(table).value_or(true), rows));
  if (layout.header)
    seen_.insert(seen_.end(), layout.names.begin(), layout.names.end());
  GRAPHMILL_TRY(auto roles, apply(table, rows, layout, false));
  add_by_name(roles, layout, node_role_of);
  if (!has(roles, csv_role::id))
    return rows.wrong(fmt::format(
      "no column \"id\" in the header of a node table; say which it is with "
      "--id: {}",
      columns_text(layout, all_columns(layout))));
  for (auto column : columns_without_role(roles)) {
    if (layout.header && layout.names[column].empty())
      return rows.wrong(fmt::format(
        "column {0} has no name, as the index that pandas writes, and would "
        "become a feature; leave it out with --ignore {1}={0}, or take it with "
        "--feature {1}={0}",
        column + 1, table.file.filename().string()));
    // Beside labels of the usual name, "y" is a coordinate.
    const auto is_coordinate =
      lower_name(layout.names[column]) == "y" && has(roles, csv_role::label);
    const auto role = suspected_role_of(layout.names[column]);
    if (role && !is_coordinate)
      return rows.wrong(fmt::format(
        "column {0} looks like {1}s and would become a feature; say {2} {3}, "
        "{5}--ignore {3}, or --feature {3} if it is one{4}",
        column_text(layout, column),
        *role == csv_role::label ? "label" : "split", flag_of(*role),
        layout.names[column], choices_missed(layout, false),
        *role == csv_role::label ? fmt::format(
          "--label-set {} if there are several labels, ", layout.names[column])
                                 : ""));
    roles[column] = csv_role::feature;
  }
  GRAPHMILL_TRYV(fill_in(layout, roles, rows));
  tell_note(options_.on_note, "{}", layout_text(table, layout));
  return layout;
}

std::string csv_chooser::columns_meant(const std::string& column) const {
  if (const auto near = closest(column, seen_); !near.empty())
    return fmt::format("; did you mean \"{}\"?", near);
  std::string listed;
  for (std::size_t i = 0; i < seen_.size() && i < most_names_told; ++i)
    listed += fmt::format("{}\"{}\"", i == 0 ? "; there are " : ", ", seen_[i]);
  return seen_.size() > most_names_told ? fmt::format(
           "{} and {} more", listed, seen_.size() - most_names_told)
                                        : listed;
}

result<void> csv_chooser::expect_all_used() const {
  for (std::size_t c = 0; c < choices_.size(); ++c)
    if (!used_[c])
      return fail(ec::invalid_argument,
                  "{} {}{}{}: no table has such a column{}",
                  flag_of(choices_[c].role), choices_[c].table,
                  choices_[c].table.empty() ? "" : "=", choices_[c].column,
                  columns_meant(choices_[c].column));
  return ok();
}

} // namespace graphmill
