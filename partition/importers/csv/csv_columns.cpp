#include "partition/importers/csv/csv_columns.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/closest.hpp"
#include "messages/words/number_text.hpp"
#include "partition/importers/csv/csv_ends.hpp"
#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/csv/csv_roles.hpp"
#include "partition/importers/csv/csv_tables.hpp"
#include "partition/importers/csv/csv_task_choices.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// Of an id in a note.
constexpr std::size_t most_bytes_shown = 60;
/// Of columns, where one was named that there is not.
constexpr std::size_t most_names_told = 12;
/// By which it is seen whether the first one is a header.
constexpr std::size_t most_rows_sampled = 1000;
/// In the place of the name of a column: all that have no role.
constexpr std::string_view all_others = "*";

bool is_a_number(const std::string& text) {
  return !text.empty()
         && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Gives the columns that usual names tell the roles that are still free.
template <class RoleOf>
void add_by_name(column_roles& roles, const csv_layout& layout,
                 RoleOf role_of) {
  const auto chosen = roles;
  for (std::size_t i = 0; layout.header && i < roles.size(); ++i)
    if (const auto role = role_of(layout.names[i]);
        !roles[i] && role && (may_repeat(*role) || !has_role(chosen, *role)))
      roles[i] = role;
}

/// What is wrong with a choice for a table of the other kind.
/// @param what The table, and that it is an edge list, or else a node table.
std::string not_for(csv_role role, bool edges, std::string_view what) {
  return fmt::format("{}, and {} is for {}: leave the option out", what,
                     flag_of(role), edges ? "node tables" : "edge lists");
}

/// What a column of an unusual name looks like.
const char* look_of(csv_role role) {
  return role == csv_role::label   ? "labels"
         : role == csv_role::split ? "splits"
                                   : "the mask of a split";
}

std::string cannot_be_both(const csv_layout& layout, std::size_t column,
                           csv_role one, csv_role other) {
  const auto is = [one, other](csv_role role) {
    return role == one || role == other;
  };
  return fmt::format(
    "column {} cannot be both {} and {}{}", column_text(layout, column),
    flag_of(one).substr(2), flag_of(other).substr(2),
    is(csv_role::task_label) && is(csv_role::feature)
      ? ", for each column is read once: repeat it in the table under another "
        "name. A decoder that reads the edge itself (`decoder.edge_features`) "
        "then reads the answer"
      : "");
}

/// A row that begins like a comment may be one.
std::string comment_hint(const std::vector<std::string>& row) {
  const auto begin = row.front().empty() ? '\0' : row.front().front();
  if (begin != '#' && begin != '%')
    return {};
  return fmt::format("; if lines that begin with {0} are comments, say "
                     "--comments '{0}'",
                     begin);
}

/// The first rows of a table, as far as they can be read.
result<std::vector<std::vector<std::string>>>
first_rows(const std::filesystem::path& file, const csv_table& table,
           char separator) {
  GRAPHMILL_TRY(auto rows, csv_reader::open(file, separator, table.comments));
  std::vector<std::vector<std::string>> out;
  while (out.size() < most_rows_sampled) {
    const auto there = rows.next();
    // What is wrong with a row is told when the table is read.
    if (!there || !there.value())
      break;
    out.push_back(trimmed_fields(rows));
  }
  return out;
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
  const auto add = [&](const csv_choice& from) {
    const auto& text = from.column;
    const auto equals = text.find('=');
    const auto table = text.substr(0, equals);
    const auto named = equals != std::string::npos && is_table(table);
    choices_.push_back({from.role, named ? table : std::string{},
                        named ? text.substr(equals + 1) : text, from.if_there,
                        from.task, from.where});
  };
  for (const auto& choice : options.choices)
    add(choice);
  for (const auto& text : options.ignore)
    add({csv_role::ignore, text});
  used_.resize(choices_.size());
}

void csv_chooser::remember(const csv_layout& layout, bool edges) {
  for (std::size_t i = 0; layout.header && i < layout.count(); ++i)
    seen_.push_back({layout.names[i], edges});
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
                         const std::vector<std::vector<std::string>>& first,
                         const node_test& is_node) const {
  const auto& row = first.front();
  if (const auto said = said_header(table)) {
    // Types without a table would get nodes that are called like columns.
    if (!*said && !options_.after.empty()
        && guess_first_row(first, hints_of(table, is_node))
             == first_row::header)
      return rows.wrong(fmt::format(
        "this first row ({}, {}) is a header, and the table that {} was "
        "imported from had none: take it out, or, if it is an edge, put it "
        "behind another one",
        shortened(row[0], most_bytes_shown),
        shortened(row[1], most_bytes_shown), options_.after.string()));
    return *said;
  }
  if (options_.edge_header) {
    if (*options_.edge_header && looks_like_edge(row))
      return rows.wrong(fmt::format(
        "--header says that the first row is a header, and it looks like an "
        "edge ({}, {}); name the tables that have one (--header=NAME)",
        row[0], row[1]));
    return *options_.edge_header;
  }
  const auto guessed = guess_first_row(first, hints_of(table, is_node));
  if (guessed != first_row::unclear)
    return guessed == first_row::header;
  return rows.wrong(fmt::format(
    "is this first row a header or an edge ({}, {})? Say --header or "
    "--no-header, of this table alone --header={} or --no-header={}{}",
    shortened(row[0], most_bytes_shown), shortened(row[1], most_bytes_shown),
    table.file.filename().string(), table.file.filename().string(),
    comment_hint(row)));
}

header_hints csv_chooser::hints_of(const csv_table& table,
                                   const node_test& is_node) const {
  const auto types = two_end_types(table);
  return {names_chosen_for(table), types[0], types[1], is_node};
}

result<void> csv_chooser::expect_no_header(
  const csv_table& table, const std::vector<std::vector<std::string>>& first,
  const node_test& is_node) const {
  const auto appended = !options_.after.empty();
  if ((said_header(table) && !appended) || options_.edge_header)
    return ok();
  const auto hints = hints_of(table, is_node);
  for (const auto& file : table.more) {
    GRAPHMILL_TRY(auto rows, first_rows(file, table, options_.separator));
    if (rows.empty())
      continue;
    rows.insert(rows.end(), first.begin(), first.end());
    const auto& row = rows.front();
    const auto guessed = guess_first_row(rows, hints);
    if (row.size() < 2 || guessed == first_row::edge
        || (appended && guessed == first_row::unclear))
      continue;
    return fail(ec::invalid_data, "{}:1: {}, and {} has none: {}",
                file.string(),
                guessed == first_row::header
                  ? "this is a header"
                  : fmt::format("this first row ({}, {}) may be a header",
                                shortened(row[0], most_bytes_shown),
                                shortened(row[1], most_bytes_shown)),
                table.file.string(),
                guessed == first_row::header
                  ? appended ? "take it out"
                             : "give all files of a table one, or none of them"
                  : fmt::format("if it is an edge, say --no-header={}",
                                table.file.filename().string()));
  }
  return ok();
}

result<void> csv_chooser::expect_header(const csv_table& table,
                                        const csv_reader& rows,
                                        const csv_layout& layout,
                                        const column_roles& roles) const {
  const auto id = static_cast<std::size_t>(
    std::ranges::find(roles, std::optional{csv_role::id}) - roles.begin());
  if (!layout.header && !options_.after.empty()) {
    GRAPHMILL_TRY(const auto sample,
                  first_rows(table.file, table, options_.separator));
    if (node_role_of(sample.front()[id]) == csv_role::id
        || is_above_numbers(sample))
      return rows.wrong(fmt::format(
        "this first row (\"{}\") is a header, and the table that {} was "
        "imported from had none: take it out",
        shortened(printable(sample.front()[id]), most_bytes_shown),
        options_.after.string()));
  }
  const auto& name = layout.names[id];
  const auto is_chosen = [&](const choice& choice) {
    return choice.role == csv_role::id
           && lower_name(choice.column) == lower_name(name);
  };
  if (!layout.header || said_header(table) || name.empty()
      || node_role_of(name) == csv_role::id
      || (!is_a_number(name) && std::ranges::any_of(choices_, is_chosen)))
    return ok();
  GRAPHMILL_TRY(const auto first,
                first_rows(table.file, table, options_.separator));
  if (is_above_numbers(first))
    return ok();
  return rows.wrong(fmt::format(
    "is this first row a header or a node (\"{0}\")? Say --header={1} or "
    "--no-header={1}",
    shortened(name, most_bytes_shown), table.file.filename().string()));
}

std::vector<std::string>
csv_chooser::names_chosen_for(const csv_table& table) const {
  std::vector<std::string> names;
  for (const auto& choice : choices_)
    // What is left out everywhere may be a column of node tables alone.
    if ((choice.table.empty()
           ? is_for(choice.role, true) && choice.role != csv_role::ignore
           : names_table(choice.table, table))
        && choice.column != all_others && !is_a_number(choice.column))
      names.push_back(choice.column);
  return names;
}

std::string csv_chooser::text_of(const choice& choice) {
  if (!choice.where.empty())
    return fmt::format("{}: column \"{}\"{}{}", choice.where, choice.column,
                       choice.table.empty() ? "" : " of ", choice.table);
  return fmt::format("{} {}{}{}{}{}", flag_of(choice.role), choice.task,
                     choice.task.empty() ? "" : "=", choice.table,
                     choice.table.empty() ? "" : "=", choice.column);
}

result<column_roles> csv_chooser::apply(const csv_table& table,
                                        const csv_reader& rows,
                                        csv_layout& layout, bool edges) {
  column_roles roles(layout.count());
  for (const auto& task : options_.changes.tasks)
    if (edges)
      layout.tasks.push_back({.name = name_of(task)});
  for (std::size_t c = 0; c < choices_.size(); ++c) {
    const auto& choice = choices_[c];
    const auto named = !choice.table.empty();
    if (named ? !names_table(choice.table, table) : !is_for(choice.role, edges))
      continue;
    if (!is_for(choice.role, edges))
      return rows.wrong(fmt::format(
        "{}: {}", text_of(choice),
        not_for(choice.role, edges,
                edges ? "this is an edge list" : "this is a node table")));
    if (ignores_others(choice)) {
      used_[c] = true;
      continue;
    }
    // A bare number of a column to be left out would hit all tables.
    if (!named && choice.role == csv_role::ignore && layout.header
        && is_a_number(choice.column)
        && std::ranges::find(layout.names, choice.column) == layout.names.end())
      continue;
    const auto column = find_column(layout, choice.column);
    if (!column && (!named || choice.if_there))
      continue;
    if (!column && !options_.after.empty())
      return rows.wrong(fmt::format(
        "{} was imported with a column \"{}\", which is missing here; there "
        "are {}",
        options_.after.string(), choice.column,
        columns_text(layout, all_columns(layout))));
    if (!column) {
      const auto near = closest(choice.column, layout.names);
      return rows.wrong(fmt::format(
        "{}: there is no such column; {}", text_of(choice),
        near.empty() ? "there are " + columns_text(layout, all_columns(layout))
                     : fmt::format("did you mean \"{}\"?", near)));
    }
    used_[c] = true;
    const auto of_task = task_column(choice.role) != nullptr;
    if (of_task)
      GRAPHMILL_TRYV(set_task_columns(choice, *column, rows, layout));
    // Tasks may share a column.
    if (roles[*column] && *roles[*column] != choice.role
        && !(of_task && task_column(*roles[*column])))
      return rows.wrong(
        cannot_be_both(layout, *column, *roles[*column], choice.role));
    roles[*column] = choice.role;
  }
  return roles;
}

result<void> csv_chooser::expect_known(const column_roles& roles,
                                       const csv_layout& layout,
                                       const csv_reader& rows) const {
  const auto left = columns_without_role(roles);
  if (options_.after.empty() || left.empty())
    return ok();
  return rows.wrong(fmt::format(
    "{} was imported without a column {}: new tables have the columns of the "
    "first import",
    options_.after.string(), columns_text(layout, left)));
}

result<void> csv_chooser::set_task_columns(const choice& choice,
                                           std::size_t column,
                                           const csv_reader& rows,
                                           csv_layout& layout) const {
  const auto& tasks = options_.changes.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!takes_choice(options_, tasks[t], choice.role, choice.task))
      continue;
    auto& columns = layout.tasks[t];
    for (const auto role : task_roles)
      if (role != choice.role && columns.*task_column(role) == column)
        return rows.wrong(cannot_be_both(layout, column, role, choice.role));
    auto& place = columns.*task_column(choice.role);
    if (place && *place != column)
      return rows.wrong(
        fmt::format("columns {} and {} are both {} of the task {}; choose one",
                    column_text(layout, *place), column_text(layout, column),
                    flag_of(choice.role), columns.name));
    place = column;
  }
  return ok();
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

bool csv_chooser::ignores_others(const choice& choice) {
  return choice.role == csv_role::ignore && choice.column == all_others;
}

void csv_chooser::ignore_others(column_roles& roles,
                                const csv_table& table) const {
  if (std::ranges::none_of(choices_, [&table](const choice& choice) {
        return ignores_others(choice)
               && (choice.table.empty() || names_table(choice.table, table));
      }))
    return;
  for (const auto column : columns_without_role(roles))
    roles[column] = csv_role::ignore;
}

result<csv_layout> csv_chooser::edge_columns(const csv_table& table,
                                             const node_test& is_node) {
  // Before the table is open here: a packed one has a window for each reader.
  GRAPHMILL_TRY(const auto sample,
                first_rows(table.file, table, options_.separator));
  GRAPHMILL_TRY(auto rows, csv_reader::open(table.file, options_.separator,
                                            table.comments));
  GRAPHMILL_TRY(const auto there, rows.next());
  if (!there && !table.more.empty())
    return rows.wrong("the file is empty, and the first of several: leave it "
                      "out");
  if (!there) {
    tell_note(options_.on_note, "{}: is empty", table.file.filename().string());
    empty_.push_back(table.file.string());
    return csv_layout{};
  }
  const auto first = trimmed_fields(rows);
  if (first.size() < 2)
    return rows.wrong(one_csv_field);
  GRAPHMILL_TRY(const auto header, edge_header(table, rows, sample, is_node));
  if (!header)
    GRAPHMILL_TRYV(expect_no_header(table, sample, is_node));
  GRAPHMILL_TRY(auto layout, layout_of_row(first, header, rows));
  remember(layout, true);
  GRAPHMILL_TRY(auto roles, apply(table, rows, layout, true));
  add_by_name(roles, layout, edge_role_of);
  GRAPHMILL_TRYV(expect_known(roles, layout, rows));
  add_ends_by_type(roles, table, layout);
  ignore_others(roles, table);
  if (auto added = add_ends(roles, table, layout, rows); !added) {
    auto failure = std::move(added).error();
    failure.message += choices_missed(layout, true) + comment_hint(first);
    return failure;
  }
  GRAPHMILL_TRYV(fill_in(layout, roles, rows));
  tell_note(options_.on_note, "{}", layout_text(table, layout));
  if (options_.after.empty() && header && table.type == usual_edge_type
      && !edge_role_of(layout.names[*layout.source])
      && !edge_role_of(layout.names[*layout.destination]))
    tell_note(options_.on_note,
              "{0}: \"{1}\" and \"{2}\" have ids of the same nodes, those of "
              "type {3}; if they are of two kinds, give each a type: --edges "
              "SOURCE__NAME__DESTINATION={0}",
              table.file.filename().string(), layout.names[*layout.source],
              layout.names[*layout.destination],
              usual_edge_type.substr(0, usual_edge_type.find("__")));
  return layout;
}

result<csv_layout> csv_chooser::node_columns(const csv_table& table) {
  GRAPHMILL_TRY(auto rows, csv_reader::open(table.file, options_.separator,
                                            table.comments));
  GRAPHMILL_TRY(const auto there, rows.next());
  if (!there)
    return rows.wrong("the table is empty; a header with a column \"id\" "
                      "expected");
  GRAPHMILL_TRY(auto layout,
                layout_of_row(trimmed_fields(rows),
                              said_header(table).value_or(true), rows));
  remember(layout, false);
  GRAPHMILL_TRY(auto roles, apply(table, rows, layout, false));
  add_by_name(roles, layout, node_role_of);
  GRAPHMILL_TRYV(expect_known(roles, layout, rows));
  ignore_others(roles, table);
  if (!has_role(roles, csv_role::id))
    return rows.wrong(fmt::format(
      "no column \"id\" in the header of a node table; say which it is with "
      "--id: {}",
      columns_text(layout, all_columns(layout))));
  GRAPHMILL_TRYV(expect_header(table, rows, layout, roles));
  for (auto column : columns_without_role(roles)) {
    if (layout.header && layout.names[column].empty())
      return rows.wrong(fmt::format(
        "column {0} has no name, as the index that pandas writes, and would "
        "become a feature; leave it out with --ignore {1}={0}, or take it with "
        "--feature {1}={0}",
        column + 1, table.file.filename().string()));
    // Beside labels of the usual name, "y" is a coordinate.
    const auto is_coordinate = lower_name(layout.names[column]) == "y"
                               && has_role(roles, csv_role::label);
    const auto role = suspected_role_of(layout.names[column]);
    if (role && !is_coordinate)
      return rows.wrong(fmt::format(
        "column {0} looks like {1} and would become a feature; say {2} {3}, "
        "{5}--ignore {3}, or --feature {3} if it is one{4}",
        column_text(layout, column), look_of(*role), flag_of(*role),
        layout.names[column], choices_missed(layout, false),
        *role == csv_role::label ? fmt::format(
          "--label-set {} if there are several labels, ", layout.names[column])
        : *role == csv_role::split ? "--train-mask, --val-mask or --test-mask "
                                     "if it marks the nodes of one split, "
                                   : ""));
    roles[column] = csv_role::feature;
  }
  GRAPHMILL_TRYV(fill_in(layout, roles, rows));
  tell_note(options_.on_note, "{}", layout_text(table, layout));
  return layout;
}

bool csv_chooser::has_seen(const std::string& column, bool edges) const {
  return std::ranges::any_of(seen_, [&](const seen_column& seen) {
    return seen.edges == edges && lower_name(seen.name) == lower_name(column);
  });
}

std::string csv_chooser::columns_meant(const std::string& column) const {
  std::vector<std::string> names;
  for (const auto& seen : seen_)
    names.push_back(seen.name);
  if (const auto near = closest(column, names); !near.empty())
    return fmt::format("; did you mean \"{}\"?", near);
  std::string listed;
  for (std::size_t i = 0; i < names.size() && i < most_names_told; ++i)
    listed += fmt::format("{}\"{}\"", i == 0 ? "; there are " : ", ", names[i]);
  return seen_.size() > most_names_told ? fmt::format(
           "{} and {} more", listed, seen_.size() - most_names_told)
                                        : listed;
}

result<void> csv_chooser::expect_all_used() const {
  for (std::size_t c = 0; c < choices_.size(); ++c) {
    const auto& choice = choices_[c];
    const auto& role = choice.role;
    const auto& column = choice.column;
    if (used_[c] || choice.if_there)
      continue;
    const auto flag = text_of(choice);
    if (!empty_.empty() && is_for(role, true))
      return fail(
        ec::invalid_data, "{}: no table has such a column, and {} is empty: {}",
        flag, empty_.front(),
        options_.after.empty() ? "give it a header at least, or leave it out"
                               : "leave it out");
    for (const auto edges : {true, false})
      if (!is_for(role, edges) && has_seen(column, edges))
        return fail(
          ec::invalid_argument, "{}: {}", flag,
          not_for(role, edges,
                  fmt::format("only {} has such a column",
                              edges ? "an edge list" : "a node table")));
    return fail(ec::invalid_argument, "{}: no table has such a column{}", flag,
                columns_meant(column));
  }
  return ok();
}

} // namespace graphmill
