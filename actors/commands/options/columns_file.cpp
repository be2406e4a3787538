#include "actors/commands/options/columns_file.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/edge_tasks.hpp"
#include "partition/files/file_io.hpp"
#include "partition/importers/columns/column_kinds.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_tables.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/definition/yaml/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Roles by their words in a columns file.
constexpr auto roles_in_file =
  std::to_array<std::pair<std::string_view, csv_role>>({
    {"id", csv_role::id},
    {"label", csv_role::label},
    {"split", csv_role::split},
    {"train_mask", csv_role::train_mask},
    {"val_mask", csv_role::val_mask},
    {"test_mask", csv_role::test_mask},
    {"time", csv_role::time},
    {"label_sets", csv_role::label_set},
    {"split_sets", csv_role::split_set},
    {"source", csv_role::source},
    {"destination", csv_role::destination},
    {"relation", csv_role::relation},
    {"weight", csv_role::weight},
    {"edge_time", csv_role::edge_time},
    {"node_time", csv_role::node_time},
    {"ignore", csv_role::ignore},
  });

constexpr auto words_in_table = std::to_array<std::string_view>({"features"});

/// Roles of columns by their words in a task.
constexpr auto roles_in_task =
  std::to_array<std::pair<std::string_view, csv_role>>({
    {"label", csv_role::task_label},
    {"split", csv_role::task_split},
    {"time", csv_role::task_time},
    {"weight", csv_role::task_weight},
    {"negatives", csv_role::task_negatives},
  });

/// The words of the flags of a task, beside these.
constexpr auto words_in_task =
  std::to_array<std::string_view>({"kind", "edges", "split_edges", "by"});

/// Goes through the tree of a columns file, and collects problems.
class columns_file_reader {
public:
  /// @param tables The tables with their files, as `join_tables` gives them.
  columns_file_reader(csv_import_options& to, task_flags& tasks,
                      const csv_import_options& tables,
                      std::vector<problem>& problems)
    : to_(to), tasks_(tasks), tables_(tables), problems_(problems) {}

  void read(const yaml_node& root) {
    if (root.type == yaml_node::kind::null)
      return;
    for_each_entry(
      root, "a columns file", [&](const auto& key, const auto& value) {
        if (key.text == "fit")
          read_fit(value);
        else if (key.text == "tasks" && !names_a_table(key.text))
          for_each_entry(value, "`tasks`",
                         [&](const auto& name, const auto& about) {
                           read_task(name, about);
                         });
        else if (!names_a_table(key.text))
          add(key, fmt::format("{} is not among the given tables, {}",
                               in_quotes(key.text), tables_text()));
        else
          read_table(key.text, value);
      });
  }

private:
  void add(const yaml_node& at, std::string text) {
    problems_.push_back({at.where, std::move(text)});
  }

  /// Gives the entries of a map to `visit`, and complains of others.
  template <class Visit>
  void for_each_entry(const yaml_node& node, std::string_view what,
                      Visit visit) {
    if (node.type != yaml_node::kind::map) {
      add(node, fmt::format("{} must be a map, not {}", what, shown(node)));
      return;
    }
    std::vector<std::string_view> seen;
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const auto& key = node.keys[i];
      if (std::ranges::find(seen, key.text) != seen.end())
        add(key, fmt::format("{} is there twice", in_quotes(key.text)));
      seen.push_back(key.text);
      visit(key, node.items[i]);
    }
  }

  /// One text, or a list of them.
  std::vector<std::string> texts(const yaml_node& node, std::string_view what) {
    std::vector<std::string> out;
    if (node.type == yaml_node::kind::scalar)
      out.push_back(node.text);
    for (const auto& item : node.items)
      if (node.type == yaml_node::kind::list
          && item.type == yaml_node::kind::scalar)
        out.push_back(item.text);
    const auto expected =
      node.type == yaml_node::kind::list ? node.items.size() : 1;
    if (out.size() != expected || out.empty())
      add(node, fmt::format("{} must be a text or a list of texts, not {}",
                            in_quotes(what), shown(node)));
    return out;
  }

  bool names_a_table(const std::string& name) const {
    const auto is_named = [&name](const csv_table& table) {
      return names_table(name, table);
    };
    return std::ranges::any_of(tables_.nodes, is_named)
           || std::ranges::any_of(tables_.edges, is_named);
  }

  std::string tables_text() const {
    std::vector<std::string> names;
    for (const auto* tables : {&to_.nodes, &to_.edges})
      for (const auto& table : *tables)
        names.push_back(table.type.empty() ? table.file.filename().string()
                                           : table.type);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void read_fit(const yaml_node& value) {
    if (value.text == "train")
      to_.fit_on_training = true;
    else if (value.text != "all")
      add(value,
          fmt::format("`fit` is {}; train or all expected", shown(value)));
  }

  void read_table(const std::string& table, const yaml_node& node) {
    std::vector<std::string> with_role;
    const yaml_node* features = nullptr;
    for_each_entry(
      node, in_quotes(table), [&](const auto& key, const auto& value) {
        if (key.text == "features") {
          features = &value;
          return;
        }
        const auto role =
          std::ranges::find(roles_in_file, key.text,
                            &std::pair<std::string_view, csv_role>::first);
        if (role == roles_in_file.end()) {
          add_unknown_word(key, words_in_table, roles_in_file, "columns");
          return;
        }
        for (const auto& column : texts(value, key.text)) {
          to_.choices.push_back({.role = role->second,
                                 .column = table + "=" + column,
                                 .where = place_of(key)});
          with_role.push_back(column);
        }
      });
    if (features != nullptr)
      read_features(table, *features, with_role);
  }

  /// A word of a task is the flag of that name, with the task before its value.
  void read_task(const yaml_node& name, const yaml_node& node) {
    if (const auto named = check_name(name.text, "`tasks`"); !named) {
      add(name, named.error().message);
      return;
    }
    std::string kind{traits_of(edge_task_request{}.kind).name};
    const auto value = [&](const std::string& text) {
      return fmt::format("{}={}", name.text, text);
    };
    for_each_entry(
      node, in_quotes(name.text), [&](const auto& key, const auto& item) {
        const auto given = texts(item, key.text);
        const auto role =
          std::ranges::find(roles_in_task, key.text,
                            &std::pair<std::string_view, csv_role>::first);
        if (role != roles_in_task.end())
          for (const auto& column : given)
            to_.choices.push_back({.role = role->second,
                                   .column = column,
                                   .task = name.text,
                                   .where = place_of(key)});
        else if (key.text == "kind" && given.size() == 1)
          kind = given.front();
        else if (key.text == "edges")
          std::ranges::transform(given, std::back_inserter(tasks_.edges),
                                 value);
        else if (key.text == "split_edges")
          tasks_.splits.push_back(
            value(fmt::format("{}", fmt::join(given, ","))));
        else if (key.text == "by")
          std::ranges::transform(given, std::back_inserter(tasks_.by), value);
        else if (key.text == "kind")
          add(item, "`kind` must be one text");
        else
          add_unknown_word(key, words_in_task, roles_in_task, "tasks");
      });
    tasks_.kinds.push_back(value(kind));
  }

  /// @param what The words are for.
  void
  add_unknown_word(const yaml_node& key, std::span<const std::string_view> more,
                   std::span<const std::pair<std::string_view, csv_role>> roles,
                   std::string_view what) {
    std::vector<std::string> words{more.begin(), more.end()};
    for (const auto& [word, role] : roles)
      words.emplace_back(word);
    const auto meant = suggestion(key.text, words);
    add(key, fmt::format("{} is not a word for {}{}", in_quotes(key.text), what,
                         meant.empty() ? fmt::format("; there are {}",
                                                     fmt::join(words, ", "))
                                       : meant));
  }

  void read_features(const std::string& table, const yaml_node& node,
                     const std::vector<std::string>& with_role) {
    csv_feature_choice choice{.table = table, .requests = {}};
    if (node.type != yaml_node::kind::null)
      for_each_entry(
        node, "`features`", [&](const auto& key, const auto& value) {
          read_column(key, value, choice.requests);
          if (std::ranges::find(with_role, key.text) == with_role.end())
            to_.choices.push_back({.role = csv_role::feature,
                                   .column = table + "=" + key.text,
                                   .where = place_of(key)});
        });
    for (const auto& request : choice.requests)
      if (const auto made = make_column_transform(request, true); !made)
        problems_.push_back({{}, made.error().message});
    to_.features.push_back(std::move(choice));
  }

  /// Reads what becomes of one column: a word, a map, or a list of maps.
  void read_column(const yaml_node& column, const yaml_node& node,
                   std::vector<column_request>& out) {
    if (node.type == yaml_node::kind::list) {
      for (const auto& item : node.items)
        read_column(column, item, out);
      return;
    }
    column_request request{.where = place_of(column),
                           .column = column.text,
                           .kind = {},
                           .options = {}};
    if (node.type == yaml_node::kind::scalar) {
      request.kind = node.text;
    } else {
      for_each_entry(node, in_quotes(column.text),
                     [&](const auto& key, const auto& value) {
                       auto values = texts(value, key.text);
                       if (key.text != "as")
                         request.options[key.text] = std::move(values);
                       else if (values.size() == 1)
                         request.kind = values.front();
                     });
    }
    if (request.kind.empty())
      add(column, fmt::format("{} has no `as`, which names its transform",
                              in_quotes(column.text)));
    else
      out.push_back(std::move(request));
  }

  static std::string place_of(const yaml_node& node) {
    return fmt::format("{}:{}:{}", node.where.origin, node.where.line,
                       node.where.column);
  }

  csv_import_options& to_;
  task_flags& tasks_;
  const csv_import_options& tables_;
  std::vector<problem>& problems_;
};

/// Joins all problems to one error. A text names the place if `where` does not.
error all_problems(const std::vector<problem>& problems) {
  std::string lines;
  for (const auto& found : problems)
    lines += (lines.empty() ? "" : "\n")
             + (found.where.origin.empty() ? found.text : to_string(found));
  return fail(ec::invalid_argument, "{}", lines);
}

} // namespace

result<void> read_columns_file(const std::filesystem::path& path,
                               csv_import_options& options, task_flags& tasks) {
  GRAPHMILL_TRY(const auto text, read_text(path, yaml_size_limit));
  GRAPHMILL_TRY(const auto joined, join_tables(options));
  std::vector<problem> problems;
  const auto root = parse_yaml(text, path.string(), true, problems);
  if (root)
    columns_file_reader{options, tasks, joined, problems}.read(*root);
  return problems.empty() ? ok() : result<void>{all_problems(problems)};
}

} // namespace graphmill
