#include "partition/importers/csv/import/csv_record.hpp"

#include "messages/base/printable.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/meaning/type_name.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "partition/importers/csv/csv_roles.hpp"
#include "partition/importers/edge_split.hpp"
#include "partition/importers/npy/npy_source.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

constexpr auto record_file = "columns.json";
constexpr std::size_t largest_csv_record = std::size_t{1} << 28;
constexpr int record_version = 1;

/// The roles of columns that a table has one of at most, by their words in the
/// record.
struct single_role {
  const char* word;
  csv_role role;
  std::optional<std::size_t> (*column)(const csv_layout&);
};
constexpr auto single_roles = std::to_array<single_role>({
  {"source", csv_role::source, [](const csv_layout& of) { return of.source; }},
  {"destination", csv_role::destination,
   [](const csv_layout& of) { return of.destination; }},
  {"relation", csv_role::relation,
   [](const csv_layout& of) { return of.relation; }},
  {"weight", csv_role::weight, [](const csv_layout& of) { return of.weight; }},
  {"edge_time", csv_role::edge_time,
   [](const csv_layout& of) { return of.edge_time; }},
  {"node_time", csv_role::node_time,
   [](const csv_layout& of) { return of.node_time; }},
  {"id", csv_role::id, [](const csv_layout& of) { return of.id; }},
  {"label", csv_role::label, [](const csv_layout& of) { return of.label; }},
  {"split", csv_role::split, [](const csv_layout& of) { return of.split; }},
  {"train_mask", csv_role::train_mask,
   [](const csv_layout& of) { return of.masks[0]; }},
  {"val_mask", csv_role::val_mask,
   [](const csv_layout& of) { return of.masks[1]; }},
  {"test_mask", csv_role::test_mask,
   [](const csv_layout& of) { return of.masks[2]; }},
  {"time", csv_role::time, [](const csv_layout& of) { return of.time; }},
});

/// The roles of columns of tasks of edges, likewise.
struct task_role {
  const char* word;
  csv_role role;
};
constexpr auto recorded_task_roles =
  std::to_array<task_role>({{"label", csv_role::task_label},
                            {"split", csv_role::task_split},
                            {"time", csv_role::task_time},
                            {"weight", csv_role::task_weight},
                            {"negatives", csv_role::task_negatives}});

/// The name of a column, or its number from 1 where there is no header.
std::string record_name(const csv_layout& layout, std::size_t column) {
  return layout.header && !layout.names[column].empty()
           ? layout.names[column]
           : std::to_string(column + 1);
}

nlohmann::json layout_json(const csv_table& table, const csv_layout& layout,
                           time_form times) {
  auto roles = nlohmann::json::object();
  for (const auto& [word, role, column] : single_roles)
    if (const auto at = column(layout))
      roles[word] = record_name(layout, *at);
  const auto names = [&layout](const std::vector<std::size_t>& columns) {
    std::vector<std::string> out;
    for (const auto column : columns)
      out.push_back(record_name(layout, column));
    return out;
  };
  auto tasks = nlohmann::json::object();
  for (const auto& task : layout.tasks)
    for (const auto& [word, role] : recorded_task_roles)
      if (const auto at = task.*task_column(role))
        tasks[task.name][word] = record_name(layout, *at);
  auto label_sets = nlohmann::json::array();
  auto split_sets = nlohmann::json::array();
  for (const auto& set : layout.label_sets) {
    if (set.label)
      label_sets.push_back(record_name(layout, *set.label));
    if (set.split)
      split_sets.push_back(record_name(layout, *set.split));
  }
  return {{"type", table.type},
          {"times", to_string(times)},
          {"header", layout.header},
          {"roles", std::move(roles)},
          {"label_sets", std::move(label_sets)},
          {"split_sets", std::move(split_sets)},
          {"tasks", std::move(tasks)},
          {"features", names(layout.features)},
          {"ignore", names(layout.ignored)}};
}

nlohmann::json features_json(const csv_features& from) {
  nlohmann::json out{{"columns", from.columns.state()},
                     {"scaled", std::string{to_string(from.norm)}}};
  if (from.scale)
    out["scale"] = {{"means", from.scale->means()},
                    {"deviations", from.scale->deviations()}};
  return out;
}

nlohmann::json changes_json(const csv_import_options& options) {
  const auto& changes = options.changes;
  return {{"reverse", options.reverse},
          {"undirected", changes.undirected},
          {"all_undirected", changes.all_undirected},
          {"drop_self_loops", changes.drop_self_loops},
          {"duplicates", static_cast<int>(changes.duplicates)},
          {"sparse", changes.sparse},
          {"decimal_commas", options.decimal_commas},
          {"regression", options.regression},
          {"no_label", options.no_label},
          {"regression_sets", options.regression_sets},
          {"time_unit", static_cast<int>(options.times)},
          {"separator", static_cast<int>(options.separator)},
          {"comments", static_cast<int>(options.comments)}};
}

error no_csv_record(const csv_import_options& options, std::string_view why) {
  return fail(
    ec::invalid_argument,
    "{}: {}; import that dataset again with import csv, whole and not "
    "in parts",
    like_text(options), why);
}

error damaged_csv_record(const csv_import_options& options) {
  return no_csv_record(options, "its columns.json is damaged");
}

std::vector<std::string> record_texts(const nlohmann::json& in,
                                      const char* key) {
  std::vector<std::string> out;
  if (in.is_object() && in.contains(key) && in[key].is_array())
    for (const auto& item : in[key])
      if (item.is_string())
        out.push_back(item.get<std::string>());
  return out;
}

/// The column that a choice gives a table; nothing: it is for other tables.
std::optional<std::string> column_for(const csv_import_options& options,
                                      const csv_choice& choice,
                                      const csv_table& table) {
  const auto equals = choice.column.find('=');
  const auto name = choice.column.substr(0, equals);
  const auto has_name = [&name](const csv_table& one) {
    return names_table(name, one);
  };
  if (equals == std::string::npos
      || (std::ranges::none_of(options.nodes, has_name)
          && std::ranges::none_of(options.edges, has_name)))
    return choice.column;
  return has_name(table) ? std::optional{choice.column.substr(equals + 1)}
                         : std::nullopt;
}

/// Adds a choice unless the user has made one of this role, or of this column,
/// for the table.
/// @param given How many choices are the user's.
void add_choice(csv_import_options& options, std::size_t given,
                const csv_table& table, csv_role role,
                const std::string& column, bool if_there,
                const std::string& task = {}) {
  const auto is_chosen = [&](const csv_choice& other) {
    const auto chosen = column_for(options, other, table);
    return chosen
           && ((other.role == role && !may_repeat(role)) || *chosen == column);
  };
  if (std::ranges::any_of(std::span{options.choices}.first(given), is_chosen))
    return;
  options.choices.push_back({.role = role,
                             .column = table.type + "=" + column,
                             .if_there = if_there,
                             .task = task,
                             .where = like_text(options)});
}

/// Whether tomorrow's table must have the column, too. It may lack answers.
bool is_needed(csv_role role) {
  constexpr auto needed = std::to_array(
    {csv_role::source, csv_role::destination, csv_role::relation,
     csv_role::weight, csv_role::id, csv_role::edge_time, csv_role::node_time});
  return std::ranges::find(needed, role) != needed.end();
}

/// The columns of tasks, which rows of the same tasks have. Labels, splits and
/// negatives may be missing.
/// @param given As for `add_choice`.
result<void> adopt_task_columns(const nlohmann::json& table,
                                const csv_table& of, std::size_t given,
                                csv_import_options& options) {
  const auto tasks = table.value("tasks", nlohmann::json::object());
  if (!tasks.is_object())
    return damaged_csv_record(options);
  for (const auto& [name, columns] : tasks.items())
    for (const auto& [word, role] : recorded_task_roles) {
      const auto column = columns.is_object()
                            ? columns.value(word, nlohmann::json{})
                            : nlohmann::json(0);
      if (column.is_null())
        continue;
      if (!column.is_string())
        return damaged_csv_record(options);
      add_choice(options, given, of, role, column.get<std::string>(),
                 role != csv_role::task_time && role != csv_role::task_weight,
                 name);
    }
  return ok();
}

/// Older records do not say the form of times.
result<void> adopt_times(const nlohmann::json& table, const std::string& type,
                         csv_import_options& options) {
  const auto phrase = table.value("times", nlohmann::json(""));
  if (phrase == "")
    return ok();
  const auto form = phrase.is_string()
                      ? time_form_of(phrase.get_ref<const std::string&>())
                      : std::nullopt;
  if (!form)
    return damaged_csv_record(options);
  options.time_forms[type] = *form;
  return ok();
}

/// @param tables Those of the kind; one of the type may be missing.
/// @param given As for `add_choice`.
result<void> adopt_roles(const nlohmann::json& table,
                         const std::vector<csv_table>& tables,
                         std::size_t given, csv_import_options& options) {
  const auto type = table.value("type", std::string{});
  const auto at = std::ranges::find(tables, type, &csv_table::type);
  const auto of = at == tables.end() ? csv_table{.type = type} : *at;
  const auto add = [&](csv_role role, const std::string& name, bool if_there) {
    add_choice(options, given, of, role, name, if_there);
  };
  const auto& split = options.changes.split;
  const auto uses_time = split && split->order == split_order::time;
  const auto& roles = table["roles"];
  for (const auto& [word, role, column] : single_roles)
    if (roles.is_object() && roles.contains(word) && roles[word].is_string())
      add(role == csv_role::time && !uses_time ? csv_role::ignore : role,
          roles[word].get<std::string>(), !is_needed(role));
  for (const auto& name : record_texts(table, "label_sets"))
    add(csv_role::label_set, name, true);
  for (const auto& name : record_texts(table, "split_sets"))
    add(csv_role::split_set, name, true);
  for (const auto& name : record_texts(table, "ignore"))
    add(csv_role::ignore, name, true);
  for (const auto& name : record_texts(table, "features"))
    add(csv_role::feature, name, false);
  if (!options.after.empty()) {
    GRAPHMILL_TRYV(adopt_task_columns(table, of, given, options));
    GRAPHMILL_TRYV(adopt_times(table, type, options));
  }
  if (table["header"].get<bool>())
    options.with_header.push_back(type);
  else
    options.without_header.push_back(type);
  return ok();
}

/// Puts tables into the order of the record. Fails if there are others.
result<void> order_tables(const nlohmann::json& recorded, const char* option,
                          const csv_import_options& options,
                          std::vector<csv_table>& tables) {
  std::vector<csv_table> ordered;
  std::string names;
  for (const auto& table : recorded) {
    const auto type = table.value("type", std::string{});
    names += (names.empty() ? "" : ", ") + type;
    const auto at = std::ranges::find_if(
      tables, [&](const csv_table& each) { return each.type == type; });
    if (at == tables.end() && !options.after.empty())
      continue; // Nothing of it is new.
    if (at == tables.end())
      return fail(ec::invalid_argument,
                  "--like {}: it was made of a table {} {}=..., which is not "
                  "given",
                  options.like.string(), option, type);
    ordered.push_back(*at);
    tables.erase(at);
  }
  if (!tables.empty())
    return fail(ec::invalid_argument,
                "{}: it has no table of the type {}{}; leave {} out",
                like_text(options), tables.front().type,
                names.empty() ? "" : ", but of " + names,
                tables.front().file.string());
  tables = std::move(ordered);
  return ok();
}

/// Takes a change over. Fails if another one is asked for.
template <class Value>
result<void> adopt_change(const csv_import_options& options, const char* name,
                          const Value& usual, const Value& recorded,
                          Value& change) {
  if (change != usual && change != recorded)
    return fail(ec::invalid_argument,
                "--like {}: {} is another than that dataset was imported with; "
                "leave it out",
                options.like.string(), name);
  change = recorded;
  return ok();
}

/// A number among the changes of a record, of `least` to `most`. One that an
/// older record lacks is `usual`.
result<std::int64_t> number_in_record(const csv_import_options& options,
                                      const nlohmann::json& changes,
                                      const char* key, std::int64_t usual,
                                      std::int64_t least, std::int64_t most) {
  const auto number = integer_of(changes.value(key, nlohmann::json(usual)));
  if (!number || *number < least || *number > most)
    return damaged_csv_record(options);
  return *number;
}

/// A mark of text tables in a record.
result<char> mark_in_record(const csv_import_options& options,
                            const nlohmann::json& changes, const char* key) {
  using limits = std::numeric_limits<char>;
  GRAPHMILL_TRY(const auto mark,
                number_in_record(options, changes, key, '\0', limits::min(),
                                 limits::max()));
  return static_cast<char>(mark);
}

/// @param recorded The changes of a record, an object.
result<void> adopt_changes(const nlohmann::json& recorded,
                           csv_import_options& options) {
  const auto adopt_flag = [&](const char* option, const char* key,
                              bool& change) -> result<void> {
    const auto flag = recorded.value(key, nlohmann::json(false));
    if (!flag.is_boolean())
      return damaged_csv_record(options);
    return adopt_change(options, option, false, flag.get<bool>(), change);
  };
  for (const auto& text : record_texts(recorded, "no_label"))
    if (std::ranges::find(options.no_label, text) == options.no_label.end())
      options.no_label.push_back(text);
  auto& changes = options.changes;
  constexpr auto usual = duplicate_edges::keep;
  GRAPHMILL_TRY(const auto duplicates,
                number_in_record(options, recorded, "duplicates",
                                 static_cast<int>(usual), 0,
                                 static_cast<int>(duplicate_edges::sum)));
  GRAPHMILL_TRY(const auto unit,
                number_in_record(options, recorded, "time_unit",
                                 static_cast<int>(time_unit::automatic), 0,
                                 static_cast<int>(time_unit::steps)));
  GRAPHMILL_TRYV(adopt_change(options, "--time-unit", time_unit::automatic,
                              static_cast<time_unit>(unit), options.times));
  GRAPHMILL_TRYV(adopt_flag("--reverse", "reverse", options.reverse));
  GRAPHMILL_TRYV(
    adopt_flag("--undirected", "all_undirected", changes.all_undirected));
  GRAPHMILL_TRYV(adopt_change(options, "--undirected", {},
                              record_texts(recorded, "undirected"),
                              changes.undirected));
  GRAPHMILL_TRYV(
    adopt_flag("--self-loops", "drop_self_loops", changes.drop_self_loops));
  GRAPHMILL_TRYV(adopt_change(options, "--duplicates", usual,
                              static_cast<duplicate_edges>(duplicates),
                              changes.duplicates));
  GRAPHMILL_TRYV(adopt_flag("--sparse", "sparse", changes.sparse));
  GRAPHMILL_TRYV(
    adopt_flag("--decimal", "decimal_commas", options.decimal_commas));
  GRAPHMILL_TRYV(adopt_flag("--regression", "regression", options.regression));
  return adopt_change(options, "--regression-set", {},
                      record_texts(recorded, "regression_sets"),
                      options.regression_sets);
}

/// What is appended is written as the tables of the import, for nobody says how
/// else; of a new dataset the user can say it.
/// @param recorded The changes of a record, an object.
result<void> adopt_writing(const nlohmann::json& recorded,
                           csv_import_options& options) {
  GRAPHMILL_TRY(options.separator,
                mark_in_record(options, recorded, "separator"));
  GRAPHMILL_TRY(options.comments,
                mark_in_record(options, recorded, "comments"));
  for (auto* tables : {&options.nodes, &options.edges})
    for (auto& table : *tables)
      table.comments = options.comments;
  return ok();
}

result<void> write_record(const nlohmann::json& record,
                          const std::filesystem::path& folder) {
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  return write_text(folder / record_file,
                    record.dump(-1, ' ', false, replace) + '\n');
}

bool is_table_list(const nlohmann::json& value) {
  return value.is_array()
         && std::all_of(value.begin(), value.end(), [](const auto& table) {
              return table.is_object() && table.contains("roles")
                     && table.contains("type") && table["type"].is_string()
                     && table.contains("header")
                     && table["header"].is_boolean();
            });
}

} // namespace

result<void> write_csv_record(const csv_graph& graph,
                              const csv_import_options& options,
                              const std::filesystem::path& folder) {
  auto nodes = nlohmann::json::array();
  for (const auto& type : graph.nodes) {
    if (!type.table)
      continue;
    nodes.push_back(layout_json(*type.table, type.layout, type.form_of_times));
    nodes.back()["fitted"] = features_json(type.features);
  }
  auto edges = nlohmann::json::array();
  for (const auto& file : graph.edges) {
    edges.push_back(layout_json(file.table, file.layout, file.form_of_times));
    if (file.features.columns.width() > 0)
      edges.back()["fitted"] = features_json(file.features);
    std::vector<std::string> relations;
    for (node_id i = 0; i < file.relations.size(); ++i)
      relations.emplace_back(file.relations.name(i));
    edges.back()["relations"] = std::move(relations);
  }
  const nlohmann::json record{{"format_version", record_version},
                              {"nodes", std::move(nodes)},
                              {"edges", std::move(edges)},
                              {"changes", changes_json(options)}};
  return write_record(record, folder);
}

result<void> continue_csv_record(const csv_graph& graph,
                                 const csv_import_options& options,
                                 const std::filesystem::path& folder) {
  GRAPHMILL_TRY(auto record,
                read_json(options.after / record_file, largest_csv_record));
  const auto note = [&record](const char* kind, const std::string& type,
                              time_form times) {
    for (auto& table : record[kind])
      if (table["type"] == type)
        table["times"] = to_string(times);
  };
  for (const auto& type : graph.nodes)
    if (type.table)
      note("nodes", type.name, type.form_of_times);
  for (const auto& file : graph.edges)
    note("edges", file.table.type, file.form_of_times);
  return write_record(record, folder);
}

namespace {

/// The full names of the edge types of the given tables.
std::set<std::string> types_of_tables(const csv_import_options& options) {
  std::set<std::string> out;
  for (const auto& table : options.edges) {
    const auto relations = options.relations.find(table.type);
    const auto parts = split_edge_type_name(table.type);
    if (!parts || relations == options.relations.end()
        || relations->second.empty()) {
      out.insert(table.type);
      continue;
    }
    for (const auto& value : relations->second)
      out.insert(fmt::format("{}__{}__{}", (*parts)[0], type_name_for(value),
                             (*parts)[2]));
  }
  return out;
}

/// Whether the record says which columns of a table tasks have. Those of older
/// builds do not.
bool knows_task_columns(const nlohmann::json& record, const std::string& type) {
  const auto& tables = record["edges"];
  return std::any_of(tables.begin(), tables.end(),
                     [&type](const nlohmann::json& table) {
                       return table.value("type", std::string{}) == type
                              && table.contains("tasks");
                     });
}

/// Makes tasks of those that a dataset has, as far as edges of their types are
/// given.
result<void> continue_tasks(const nlohmann::json& record,
                            const dataset_info& before,
                            csv_import_options& options) {
  const auto given = types_of_tables(options);
  for (const auto& task : before.tasks) {
    edge_task_request request{.name = task.name, .kind = task.kind};
    for (std::size_t i = 0; i < task.edge_types.size(); ++i) {
      const auto type = task.edge_types[i];
      if (auto name = before.edge_type_name(type); given.contains(name))
        request.edge_types.push_back(std::move(name));
      request.own_reverse =
        request.own_reverse || task.reverse_types[i] == type;
    }
    if (request.edge_types.empty())
      continue;
    // Otherwise rows have the times of edges.
    request.timed = task.timed && !has_edge_times(before, task);
    request.weighted = task.weighted;
    options.changes.tasks.push_back(std::move(request));
  }
  if (options.changes.tasks.empty())
    return ok();
  for (const auto& table : options.edges)
    if (!knows_task_columns(record, table.type))
      return fail(ec::invalid_argument,
                  "{} was imported by an older Graphmill, which did not record "
                  "the columns of its task {}: import all tables again",
                  options.after.string(),
                  name_of(options.changes.tasks.front()));
  return ok();
}

} // namespace

result<void> adopt_csv_record(csv_import_options& options) {
  const auto path = options.like / record_file;
  auto read = read_json(path, largest_csv_record);
  if (!read && read.error().code == ec::not_found && !options.after.empty())
    return fail(ec::invalid_argument,
                "{} was not imported from tables (it has no columns.json), so "
                "that append takes no tables: give arrays (.npy), which have "
                "no times, weights or features of edges, or import it again, "
                "whole",
                options.after.string());
  if (!read && read.error().code == ec::not_found)
    return no_csv_record(options, "it has no columns.json");
  if (!read)
    return std::move(read).error();
  const auto& record = read.value();
  const auto version =
    record.is_object()
      ? integer_of(record.value("format_version", nlohmann::json{}))
      : std::nullopt;
  if (version && *version > record_version)
    return fail(ec::version_mismatch,
                "{} was written by a newer Graphmill (version {} of its "
                "format): use that one",
                path.string(), *version);
  if (!version || !is_table_list(record.value("nodes", nlohmann::json{}))
      || !is_table_list(record.value("edges", nlohmann::json{})))
    return damaged_csv_record(options);
  const auto changes = record.value("changes", nlohmann::json::object());
  if (!changes.is_object())
    return damaged_csv_record(options);
  if (!options.features.empty() || !options.number_options.empty()
      || options.normalise != row_norm::none
      || !options.changes.normalise.empty())
    return fail(ec::invalid_argument,
                "--like {}: features are made as those of that dataset; leave "
                "--columns, --fill, --indicate-missing and --normalise out",
                options.like.string());
  GRAPHMILL_TRYV(
    order_tables(record["nodes"], "--nodes", options, options.nodes));
  GRAPHMILL_TRYV(
    order_tables(record["edges"], "--edges", options, options.edges));
  const auto is_given = [&options](const nlohmann::json& table,
                                   const std::vector<csv_table>& tables) {
    return options.after.empty()
           || std::ranges::find(tables, table["type"].get<std::string>(),
                                &csv_table::type)
                != tables.end();
  };
  const auto given = options.choices.size();
  for (const auto& table : record["nodes"]) {
    options.tabled.push_back(table["type"].get<std::string>());
    if (!is_given(table, options.nodes))
      continue;
    GRAPHMILL_TRYV(adopt_roles(table, options.nodes, given, options));
    options.fitted[table["type"].get<std::string>()] =
      table.value("fitted", nlohmann::json{}).dump();
  }
  for (const auto& table : record["edges"]) {
    if (!is_given(table, options.edges))
      continue;
    GRAPHMILL_TRYV(adopt_roles(table, options.edges, given, options));
    if (table.contains("fitted"))
      options.fitted[table["type"].get<std::string>()] = table["fitted"].dump();
    options.relations[table["type"].get<std::string>()] =
      record_texts(table, "relations");
  }
  GRAPHMILL_TRYV(adopt_changes(changes, options));
  if (!options.after.empty())
    GRAPHMILL_TRYV(adopt_writing(changes, options));
  GRAPHMILL_TRY(const auto info, read_dataset_info(options.like));
  if (!options.after.empty())
    GRAPHMILL_TRYV(continue_tasks(record, info, options));
  if (options.target.empty()) // Tomorrow's tables may have no labels.
    options.target =
      info.node_types[static_cast<std::size_t>(info.target)].name;
  const auto has_classes = [](const node_type_info& type) {
    return !type.has_label_rows() && type.class_count > 0;
  };
  const auto learns_classes = [](const edge_task_info& task) {
    return traits_of(task.kind).labels == label_kind::classes;
  };
  if (options.classes_of.empty()
      && (std::ranges::any_of(info.node_types, has_classes)
          || std::ranges::any_of(info.tasks, learns_classes)))
    options.classes_of = options.like;
  return ok();
}

result<void> expect_same_types(const dataset_info& info,
                               const csv_import_options& options) {
  GRAPHMILL_TRY(const auto like, read_dataset_info(options.like));
  const auto differ = [&options](const std::string& what) {
    return fail(ec::invalid_data,
                "--like {}: {}; runs on that dataset could not be used here",
                options.like.string(), what);
  };
  for (const auto& type : info.node_types) {
    const auto there = like.find_node_type(type.name);
    if (!there)
      return differ(fmt::format("it has no node type {}", type.name));
    const auto width =
      like.node_types[static_cast<std::size_t>(*there)].feature_width;
    if (width != type.feature_width)
      return differ(fmt::format("nodes of type {} have {} features there and "
                                "{} here",
                                type.name, width, type.feature_width));
  }
  for (std::size_t i = 0; i < info.edge_types.size(); ++i) {
    const auto name = info.edge_type_name(static_cast<edge_type_id>(i));
    const auto same = like.find_edge_type(name);
    if (same
        && info.edge_types[i].weighted
             != like.edge_types[static_cast<std::size_t>(*same)].weighted)
      return differ(fmt::format(
        "edges of type {} have weights {}; leave the column with weights out "
        "(--ignore), or say which it is (--weight)",
        printable(name),
        info.edge_types[i].weighted ? "here and none there"
                                    : "there and none here"));
    if (same
        && info.edge_types[i].feature_width
             != like.edge_types[static_cast<std::size_t>(*same)].feature_width)
      return differ(fmt::format(
        "edges of type {} have {} features there and {} here", printable(name),
        like.edge_types[static_cast<std::size_t>(*same)].feature_width,
        info.edge_types[i].feature_width));
    if (!same)
      return differ(fmt::format("it has no edge type {}, which comes of a "
                                "relation that it has no edge of; leave these "
                                "rows out",
                                printable(name)));
  }
  for (const auto& task : info.tasks) {
    const auto there = like.find_task(task.name);
    if (there && like.tasks[*there].kind != task.kind)
      return differ(fmt::format(
        "the task {} is of kind {} there and {} here", task.name,
        traits_of(like.tasks[*there].kind).name, traits_of(task.kind).name));
  }
  if (info.node_types.size() != like.node_types.size()
      || info.edge_types.size() != like.edge_types.size())
    return differ("it has node types or edge types that are not here");
  return ok();
}

} // namespace graphmill
