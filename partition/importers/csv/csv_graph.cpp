#include "partition/importers/csv/csv_graph.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/closest.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/meaning/type_name.hpp"
#include "partition/importers/csv/csv_columns.hpp"
#include "partition/importers/csv/csv_edge_features.hpp"
#include "partition/importers/csv/csv_edge_reader.hpp"
#include "partition/importers/csv/csv_edges.hpp"
#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/npy/npy_source.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

constexpr std::size_t most_renamed_told = 10;

result<std::size_t> find_or_add(csv_graph& graph, const std::string& name,
                                const csv_import_options& options) {
  const auto at = std::ranges::find(graph.nodes, name, &csv_node_type::name);
  if (at != graph.nodes.end())
    return static_cast<std::size_t>(at - graph.nodes.begin());
  csv_node_type added;
  added.name = name;
  GRAPHMILL_TRYV(read_earlier_ids(added, options));
  graph.nodes.push_back(std::move(added));
  return graph.nodes.size() - 1;
}

/// Whether a type has labels whose classes were known.
bool has_known_classes(const csv_node_type& type, const known_classes& known) {
  const auto is_known = [&](const std::string& set) {
    return known.find(type.name, set) != nullptr;
  };
  return (!type.class_names.empty() && is_known({}))
         || std::ranges::any_of(type.label_sets,
                                [&is_known](const incoming_labels& set) {
                                  return is_known(set.name);
                                });
}

result<void> add_nodes(csv_graph& graph, const csv_import_options& options,
                       csv_chooser& chooser, row_errors& errors) {
  known_classes known;
  if (!options.classes_of.empty()) {
    GRAPHMILL_TRY(known, known_classes::of(options.classes_of));
  }
  for (const auto& table : options.nodes) {
    GRAPHMILL_TRYV(check_name(table.type, table.file.string()));
    GRAPHMILL_TRY(auto layout, chooser.node_columns(table));
    GRAPHMILL_TRY(auto features, choose_csv_features(table, layout, options));
    GRAPHMILL_TRY(auto type,
                  read_node_table(table, std::move(layout), std::move(features),
                                  known, options, errors));
    graph.nodes.push_back(std::move(type));
  }
  if (errors.failed())
    return ok();
  const auto is_known_task = [&known](const edge_task_request& task) {
    return known.find_task(name_of(task)) != nullptr;
  };
  const auto uses_known = [&known](const csv_node_type& type) {
    return has_known_classes(type, known);
  };
  if (!options.classes_of.empty() && options.like.empty()
      && std::ranges::none_of(graph.nodes, uses_known)
      && std::ranges::none_of(options.changes.tasks, is_known_task))
    return fail(ec::invalid_argument,
                "--classes-of {}: no node table has labels of a node type and "
                "label set that has classes there, nor a task of edges has its "
                "name there",
                options.classes_of.string());
  return ok();
}

/// Whether an id is in the table of one of these types; empty if they have no
/// table.
node_test nodes_of_tables(const csv_graph& graph,
                          std::initializer_list<std::string_view> types) {
  std::vector<const csv_node_type*> tables;
  for (const auto& type : graph.nodes)
    if (type.table && std::ranges::find(types, type.name) != types.end())
      tables.push_back(&type);
  if (tables.empty())
    return {};
  return [tables = std::move(tables)](std::string_view id) {
    return std::ranges::any_of(tables, [id](const csv_node_type* type) {
      return type->find(id).has_value();
    });
  };
}

/// The splits that options say of files, by their paths.
using file_splits = std::map<std::string_view, split>;

/// Of each file of a table, so that no row has to look for its own.
std::vector<std::optional<split>> splits_of(const csv_table& table,
                                            const file_splits& said) {
  std::vector<std::optional<split>> out;
  const auto add = [&](const std::filesystem::path& file) {
    const auto at = said.find(file.native());
    out.push_back(at == said.end() ? std::nullopt : std::optional{at->second});
  };
  add(table.file);
  std::ranges::for_each(table.more, add);
  return out;
}

result<void> add_edges(csv_graph& graph, const csv_import_options& options,
                       csv_chooser& chooser) {
  const file_splits said(options.task_files.begin(), options.task_files.end());
  for (const auto& table : options.edges) {
    const auto parts = split_edge_type_name(table.type);
    if (!parts)
      return fail(ec::invalid_argument,
                  "\"{}\" is no edge type; <source>__<name>__<destination> "
                  "expected",
                  table.type);
    for (const auto& part : *parts)
      GRAPHMILL_TRYV(check_name(part, "--edges " + table.type));
    csv_edge_file file;
    file.table = table;
    file.splits_of_files = splits_of(table, said);
    GRAPHMILL_TRY(file.layout,
                  chooser.edge_columns(
                    table, nodes_of_tables(graph, {(*parts)[0], (*parts)[2]})));
    GRAPHMILL_TRY(file.features,
                  choose_csv_features(table, file.layout, options));
    if (!file.layout.relation)
      file.names.push_back((*parts)[1]);
    GRAPHMILL_TRY(file.source, find_or_add(graph, (*parts)[0], options));
    GRAPHMILL_TRY(file.destination, find_or_add(graph, (*parts)[2], options));
    graph.edges.push_back(std::move(file));
  }
  return ok();
}

/// Names that are shorter are near to each other anyway.
constexpr std::size_t shortest_misspelt = 4;

/// Says of each type that only edge lists name that it is made of them; one
/// that is called almost like a type with a table is refused.
result<void> check_types_without_table(const csv_graph& graph,
                                       const note_callback& on_note) {
  std::vector<std::string> declared;
  for (const auto& type : graph.nodes)
    if (type.has_table())
      declared.push_back(type.name);
  if (declared.empty())
    return ok();
  for (const auto& type : graph.nodes) {
    if (type.has_table())
      continue;
    const auto meant = type.name.size() < shortest_misspelt
                         ? std::string{}
                         : closest(type.name, declared);
    if (!meant.empty())
      return fail(ec::invalid_argument,
                  "no node table is given of type \"{}\", which an edge list "
                  "names; did you mean \"{}\"? If it is a type of its own, "
                  "give it a table, which may have its ids alone",
                  type.name, meant);
    tell_note(on_note,
              "type \"{}\" occurs in edge lists alone: its nodes are those "
              "that edges name, without features and labels",
              type.name);
  }
  return ok();
}

/// Fails if all tables are empty.
result<void> expect_nodes(const csv_graph& graph) {
  for (const auto& type : graph.nodes)
    if (type.ids.size() > 0)
      return ok();
  std::string files;
  for (const auto& type : graph.nodes)
    if (type.table)
      files += (files.empty() ? "" : ", ") + type.table->file.string();
  for (const auto& edges : graph.edges)
    files += (files.empty() ? "" : ", ") + edges.table.file.string();
  return fail(ec::invalid_data, "there is not one node in {}", files);
}

/// @returns false if the row is rejected.
/// @param like A dataset whose relations there are alone; empty: none.
result<bool> add_relation(csv_edge_file& file, const csv_edge& edge,
                          const std::filesystem::path& like, csv_rows& rows) {
  const auto column = file.layout.relation;
  if (!column)
    return true;
  if (edge.relation.empty()) {
    GRAPHMILL_TRYV(rows.reject(column, "the relation is empty"));
    return false;
  }
  if (file.relations.find(edge.relation))
    return true;
  if (printable(edge.relation) != edge.relation) {
    GRAPHMILL_TRYV(rows.reject(
      column,
      fmt::format("the relation \"{}\" has a line break or control character",
                  printable(edge.relation))));
    return false;
  }
  if (!like.empty()) {
    GRAPHMILL_TRYV(rows.reject(
      column,
      fmt::format("{} has no edge of the relation \"{}\", so runs on it "
                  "could not be used here; leave the row out",
                  like.string(), edge.relation)));
    return false;
  }
  file.relations.insert(edge.relation);
  if (static_cast<std::size_t>(file.relations.size()) > most_types)
    return rows.reader().wrong(fmt::format(
      "column {} has more than {} values, which is too many for relations; if "
      "it is something else, leave it out with --ignore",
      column_text(file.layout, *column), most_types));
  return true;
}

/// Adds an id at an end of an edge to its type, unless that has a table and no
/// more than that.
result<void> add_end(csv_node_type& nodes, std::size_t column,
                     const hashed_id& id, csv_rows& rows,
                     unknown_nodes unknown) {
  if (nodes.has_table() && unknown != unknown_nodes::add)
    return ok();
  if (!is_csv_id(id.text))
    return rows.reject(column, "an id is empty or has a line break");
  GRAPHMILL_TRY(const auto added, add_csv_id(nodes, id, rows.reader()));
  nodes.has_known_ends = nodes.has_known_ends || added.first < nodes.table_rows;
  return ok();
}

/// Reads a file for ids that tables lack, and for relations.
result<void> read_ids(csv_graph& graph, csv_edge_file& file,
                      const csv_import_options& options, row_errors& errors) {
  auto& sources = graph.nodes[file.source];
  auto& destinations = graph.nodes[file.destination];
  const auto unknown = options.unknown;
  if (sources.has_table() && destinations.has_table() && !file.layout.relation
      && unknown != unknown_nodes::add)
    return ok();
  csv_edge_reader reader{graph, file, options};
  csv_edge_features features{file.table, file.layout, file.features};
  const auto visit = [&](const csv_edge& edge, csv_rows& rows) -> result<void> {
    const hashed_id source{edge.source};
    const hashed_id destination{edge.destination};
    sources.ids.prefetch(source);
    destinations.ids.prefetch(destination);
    // What is left out later neither names nodes nor relations.
    if (errors.skips()) {
      GRAPHMILL_TRY(const auto stays, reader.makes_edge(edge, rows));
      GRAPHMILL_TRYV(features.check(rows));
      if (!stays || !rows.is_sound())
        return ok();
    } else if (reader.drops(edge)) {
      return ok(); // Errors of others are told when edges are copied.
    }
    GRAPHMILL_TRY(const auto good,
                  add_relation(file, edge, options.like, rows));
    if (!good && errors.skips())
      return ok();
    if (errors.skips())
      reader.keep();
    GRAPHMILL_TRYV(
      add_end(sources, *file.layout.source, source, rows, unknown));
    return add_end(destinations, *file.layout.destination, destination, rows,
                   unknown);
  };
  return for_each_csv_edge(file.table, file.layout, options.separator, errors,
                           visit);
}

/// Fails if two relations get the same name, which takes two hashes that begin
/// alike.
result<void> expect_distinct_names(const csv_edge_file& file) {
  std::map<std::string_view, node_id> first;
  for (node_id i = 0; i < file.relations.size(); ++i) {
    const auto [at, fresh] =
      first.emplace(file.names[static_cast<std::size_t>(i)], i);
    if (!fresh)
      return fail(ec::invalid_data,
                  "{}: the relations \"{}\" and \"{}\" both get the name {}: "
                  "rename one of them",
                  file.table.file.string(), file.relations.name(at->second),
                  file.relations.name(i), at->first);
  }
  return ok();
}

/// Names an edge type after each value of a relation.
result<void> name_relations(csv_edge_file& file, const note_callback& on_note) {
  std::string renamed;
  std::size_t count = 0;
  for (node_id i = 0; i < file.relations.size(); ++i) {
    const auto value = file.relations.name(i);
    const auto& name = file.names.emplace_back(type_name_for(value));
    if (name != value && ++count <= most_renamed_told)
      renamed += fmt::format("{}{} for \"{}\"", renamed.empty() ? "" : ", ",
                             name, value);
  }
  GRAPHMILL_TRYV(expect_distinct_names(file));
  const auto place = file.table.file.filename().string();
  tell_note(on_note, "{}: {} edge types, one for each relation", place,
            file.names.size());
  if (count > 0)
    tell_note(on_note,
              "{}: edge types have names of their own: {}{}; "
              "original_names.json keeps what they stand for",
              place, renamed,
              count > most_renamed_told
                ? fmt::format(" and {} more", count - most_renamed_told)
                : "");
  return ok();
}

/// Whether a type has an id with ".0" and without it, and an edge list has
/// added this one.
bool is_twice_named(const csv_node_type& type, std::string_view id) {
  constexpr std::string_view fraction = ".0";
  if (id.ends_with(fraction))
    return type.ids.find(id.substr(0, id.size() - fraction.size())).has_value();
  const auto other =
    type.table ? type.ids.find(fmt::format("{}.0", id)) : std::nullopt;
  return other && *other < type.table_rows; // Else it is found from there.
}

/// Says that nodes may be there twice, as pandas writes 2.0 for 2 in columns
/// with gaps.
void note_twice_named(const csv_node_type& type, const note_callback& on_note) {
  node_id twice = 0;
  std::string_view first;
  for (auto i = type.table_rows; i < type.ids.size(); ++i) {
    const auto id = type.ids.name(i);
    if (!is_twice_named(type, id))
      continue;
    if (++twice == 1)
      first = id;
  }
  if (twice > 0)
    tell_note(on_note,
              "{} of type {} are named with \".0\" and without it, such "
              "as {}: each is two nodes; write ids alike if it is one",
              twice, type.name, first);
}

} // namespace

namespace {

/// Tables that are said to have a header, or none, are there.
result<void> expect_tables(const csv_import_options& options) {
  const auto is_there = [&options](const std::string& name) {
    const auto is_named = [&name](const csv_table& table) {
      return names_table(name, table);
    };
    return std::ranges::any_of(options.nodes, is_named)
           || std::ranges::any_of(options.edges, is_named);
  };
  for (const auto& [flag, names] :
       {std::pair{"--header", &options.with_header},
        std::pair{"--no-header", &options.without_header}})
    for (const auto& name : *names)
      if (!is_there(name))
        return fail(ec::invalid_argument,
                    "{}={}: no table has this type or file name", flag, name);
  for (const auto& name : options.with_header)
    if (std::ranges::find(options.without_header, name)
        != options.without_header.end())
      return fail(ec::invalid_argument,
                  "--header={0} and --no-header={0} exclude each other", name);
  return ok();
}

} // namespace

result<csv_graph> read_csv_graph(const csv_import_options& options,
                                 row_errors& errors) {
  GRAPHMILL_TRYV(expect_tables(options));
  csv_graph graph;
  csv_chooser chooser{options};
  GRAPHMILL_TRYV(add_nodes(graph, options, chooser, errors));
  GRAPHMILL_TRYV(add_edges(graph, options, chooser));
  GRAPHMILL_TRYV(chooser.expect_all_used());
  GRAPHMILL_TRYV(check_types_without_table(graph, options.on_note));
  for (auto& file : graph.edges) {
    if (const auto known = options.relations.find(file.table.type);
        known != options.relations.end() && file.layout.relation)
      for (const auto& value : known->second)
        file.relations.insert(value);
    GRAPHMILL_TRYV(read_ids(graph, file, options, errors));
    if (file.layout.relation)
      GRAPHMILL_TRYV(name_relations(file, options.on_note));
  }
  for (auto& type : graph.nodes) {
    complete_added_nodes(type, options.on_note);
    note_twice_named(type, options.on_note);
  }
  if (!errors.failed() && options.after.empty())
    GRAPHMILL_TRYV(expect_nodes(graph));
  return graph;
}

} // namespace graphmill
