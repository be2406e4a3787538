#include "actors/commands/options/import_flags.hpp"

#include "actors/commands/options/cli.hpp"
#include "messages/words/number_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

std::optional<row_norm> norm_called(std::string_view name) {
  constexpr auto names = std::to_array<std::pair<std::string_view, row_norm>>(
    {{"none", row_norm::none},
     {"l1", row_norm::l1},
     {"l2", row_norm::l2},
     {"standardise", row_norm::standardise},
     {"standardize", row_norm::standardise}});
  for (const auto& [known, norm] : names)
    if (name == known)
      return norm;
  return std::nullopt;
}

/// "0.8,0.1,0.1".
std::optional<split_fractions> fractions_of(std::string_view text) {
  split_fractions out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto piece = text.substr(0, text.find(','));
    const auto share = number_from<double>(piece);
    if (!share)
      return std::nullopt;
    out[i] = *share;
    const auto more = piece.size() < text.size();
    if (more != (i + 1 < out.size()))
      return std::nullopt;
    text.remove_prefix(more ? piece.size() + 1 : piece.size());
  }
  return out;
}

/// Shares of a flag.
result<split_fractions> shares_of(const char* flag, const std::string& text) {
  const auto fractions = fractions_of(text);
  if (!fractions)
    return fail(ec::invalid_argument,
                "{} {}: shares of training, validation and test expected, such "
                "as 0.8,0.1,0.1",
                flag, text);
  GRAPHMILL_TRYV(validate(*fractions));
  return *fractions;
}

using flag_texts = std::vector<std::string>;

/// What stands before "=", if anything; else nothing.
std::string_view task_before(std::string_view text) {
  const auto equals = text.find('=');
  return equals == text.npos ? std::string_view{} : text.substr(0, equals);
}

std::string_view behind_task(std::string_view text) {
  return text.substr(text.find('=') + 1);
}

/// One task for each --task-kind, with its kind and its name alone. If there is
/// no --task-kind and another flag is about tasks, there is one task.
result<std::vector<edge_task_request>> tasks_named(const change_flags& flags) {
  std::vector<edge_task_request> out;
  for (const auto& text : flags.tasks.kinds) {
    const auto kind = std::ranges::find(all_edge_task_kinds, behind_task(text),
                                        &edge_task_traits::name);
    if (kind == all_edge_task_kinds.end() || text.front() == '=')
      return fail(ec::invalid_argument,
                  "--task-kind {}: link, edge_class, edge_labels or edge_value "
                  "expected, with NAME= before it for a task of that name",
                  text);
    out.push_back({.name = std::string{task_before(text)}, .kind = kind->kind});
  }
  if (out.empty()
      && (!flags.tasks.edges.empty() || !flags.tasks.splits.empty()
          || !flags.tasks.name.empty()))
    out.emplace_back();
  if (flags.tasks.name.empty())
    return out;
  if (out.size() > 1 || !out.front().name.empty())
    return fail(ec::invalid_argument,
                "--task-name {}: --task-kind names {}; leave --task-name out, "
                "and say --task-kind NAME=KIND",
                flags.tasks.name, names_of(out));
  out.front().name = flags.tasks.name;
  return out;
}

/// Fails if a value has the name of a task before it that there is not.
result<void> expect_tasks(const std::vector<edge_task_request>& tasks,
                          const char* flag, const flag_texts& given) {
  for (const auto& text : given)
    if (const auto name = task_before(text);
        text.find('=') != text.npos
        && std::ranges::find(tasks, name, name_of) == tasks.end())
      return fail(ec::invalid_argument, "{} {}: there is no task \"{}\"; {}",
                  flag, text, name,
                  tasks.empty() ? "--task-kind NAME=KIND makes one"
                                : fmt::format("there are {}", names_of(tasks)));
  return ok();
}

/// The values with the name of a task before them, without it; or else, if
/// there are none, those without a name.
/// @param task Empty: those without a name.
flag_texts values_of(const flag_texts& given, std::string_view task) {
  flag_texts own;
  flag_texts all;
  for (const auto& text : given)
    if (text.find('=') == text.npos)
      all.push_back(text);
    else if (task_before(text) == task)
      own.emplace_back(behind_task(text));
  return own.empty() ? all : own;
}

/// The only value of a task; empty: there is none.
result<std::string> value_of(const char* flag, const flag_texts& given,
                             std::string_view task) {
  const auto values = values_of(given, task);
  if (values.size() > 1)
    return fail(ec::invalid_argument,
                "{} {}: one value expected{}; a value with TASK= before it is "
                "of that task alone",
                flag, fmt::join(values, " "),
                task.empty() ? "" : fmt::format(" for the task {}", task));
  return values.empty() ? std::string{} : values.front();
}

result<std::optional<edge_split_request>>
edge_split_of(const change_flags& flags, const std::string& task) {
  GRAPHMILL_TRY(const auto shares,
                value_of("--split-edges", flags.tasks.splits, task));
  GRAPHMILL_TRY(const auto by, value_of("--by", flags.tasks.by, task));
  const auto own = fmt::format("{}={}", task, by);
  if (shares.empty()
      && std::ranges::find(flags.tasks.by, own) != flags.tasks.by.end())
    return fail(ec::invalid_argument,
                "--by {}: it needs --split-edges with the shares of training, "
                "validation and test",
                own);
  if (shares.empty())
    return std::optional<edge_split_request>{};
  GRAPHMILL_TRY(const auto fractions, shares_of("--split-edges", shares));
  if (by == "label")
    return fail(ec::invalid_argument,
                "--split-edges by label: edges are split by random, time or "
                "pair{}",
                flags.split.empty()
                  ? ""
                  : fmt::format("; say --by {}=random for these", task));
  return std::optional{
    edge_split_request{.fractions = fractions,
                       .order = by == "time"   ? edge_order::time
                                : by == "pair" ? edge_order::pair
                                               : edge_order::random,
                       .seed = flags.seed}};
}

/// Whether all values of `--by` are words for it.
result<void> expect_orders(const flag_texts& given) {
  constexpr auto words =
    std::to_array<std::string_view>({"random", "label", "time", "pair"});
  for (const auto& text : given)
    if (std::ranges::find(words, behind_task(text)) == words.end())
      return fail(ec::invalid_argument,
                  "--by {}: random, label, time or pair expected", text);
  return ok();
}

result<std::vector<edge_task_request>> tasks_of(const change_flags& flags) {
  GRAPHMILL_TRY(auto tasks, tasks_named(flags));
  for (const auto& [flag, given] :
       {std::pair{"--task-edges", &flags.tasks.edges},
        std::pair{"--split-edges", &flags.tasks.splits},
        std::pair{"--by", &flags.tasks.by}})
    GRAPHMILL_TRYV(expect_tasks(tasks, flag, *given));
  for (auto& task : tasks) {
    const auto name = name_of(task);
    task.edge_types = values_of(flags.tasks.edges, name);
    GRAPHMILL_TRY(task.split, edge_split_of(flags, name));
  }
  return tasks;
}

result<std::optional<split_request>> split_of(const change_flags& flags) {
  GRAPHMILL_TRY(const auto by, value_of("--by", flags.tasks.by, {}));
  if (!flags.split.empty() && by == "pair")
    return fail(ec::invalid_argument,
                "--split by pair: nodes are split by random, label or time");
  if (flags.split.empty() && !flags.tasks.splits.empty())
    return std::optional<split_request>{};
  if (flags.split.empty() && !by.empty() && by != "random")
    return fail(ec::invalid_argument,
                "--by needs --split with the shares of training, validation "
                "and test, such as --split 0.8,0.1,0.1");
  if (flags.split.empty())
    return std::optional<split_request>{};
  GRAPHMILL_TRY(const auto fractions, shares_of("--split", flags.split));
  return std::optional{split_request{.fractions = fractions,
                                     .order = by == "time" ? split_order::time
                                              : by == "label"
                                                ? split_order::label
                                                : split_order::random,
                                     .seed = flags.seed}};
}

/// An option that may come several times, each time with one value.
CLI::Option* add_values(CLI::App& app, const char* flag, flag_texts& values,
                        const char* type, const char* help) {
  // One, for the folder may stand behind it.
  return one_each(app.add_option(flag, values, help))->type_name(type);
}

result<void> add_norms(const change_flags& flags, graph_changes& changes,
                       row_norm& all) {
  for (const auto& text : flags.normalise) {
    const auto equals = text.find('=');
    const auto typed = equals != std::string::npos;
    const auto norm = norm_called(typed ? text.substr(equals + 1) : text);
    if (!norm)
      return fail(ec::invalid_argument,
                  "--normalise {}: none, l1, l2 or standardise expected, with "
                  "TYPE= before it for one node type",
                  text);
    if (typed)
      changes.normalise.emplace_back(text.substr(0, equals), *norm);
    else
      all = *norm;
  }
  return ok();
}

} // namespace

void add_change_flags(CLI::App& app, change_flags& flags) {
  app.add_flag("--undirected", flags.undirected,
               "--undirected[=TYPE]: store each pair of nodes in both "
               "directions, for one edge type or all; repeatable");
  app
    .add_option("--self-loops", flags.self_loops,
                "Edges from a node to itself: keep or drop")
    ->check(CLI::IsMember({"keep", "drop"}))
    ->capture_default_str();
  app
    .add_option("--duplicates", flags.duplicates,
                "Edges with the same ends: keep; drop all but the first; or "
                "sum: keep the first with the sum of the weights")
    ->check(CLI::IsMember({"keep", "drop", "sum"}))
    ->capture_default_str();
  auto* split = app
                  .add_option("--split", flags.split,
                              "Split the target's labelled nodes by these "
                              "shares of training, validation and test. Also "
                              "splits label sets without a split of their own")
                  ->type_name("A,B,C");
  add_values(app, "--by", flags.tasks.by, "[TASK=]HOW",
             "How --split chooses nodes: random, label (random within each "
             "class) or time (the oldest nodes train). How --split-edges "
             "chooses edges: random, time or pair (all edges of two nodes "
             "together, in both directions)")
    ->default_str("random");
  app.add_option("--seed", flags.seed, "Seed of --split and --split-edges")
    ->needs(split)
    ->capture_default_str();
  add_values(app, "--normalise,--normalize", flags.normalise, "[TYPE=]NORM",
             "Scale features: none, l1 (rows to a sum of 1), l2 (rows to a "
             "length of 1) or standardise (columns to mean 0 and variance 1); "
             "with TYPE= before it, only of that node or edge type, and "
             "without it of all node types");
  app.add_flag("--sparse", flags.sparse,
               "Store features without their zeros, as compressed rows, in "
               "files, in memory, in batches and on the wire. "
               "partition/dataset-format.md describes the effect on results");
}

void add_task_flags(CLI::App& app, change_flags& flags) {
  add_values(app, "--task-kind", flags.tasks.kinds, "[TASK=]KIND",
             "Make a task. KIND is what it learns: link (whether there is an "
             "edge), edge_class, edge_labels (any of several; not from csv) or "
             "edge_value (numbers); repeatable. TASK is its name, by default "
             "KIND. TASK= before a value of another option limits it to that "
             "task")
    ->default_str("link");
  add_values(app, "--task-edges", flags.tasks.edges, "[TASK=]TYPE",
             "Learn edges of this type; makes a task of links, if no "
             "--task-kind makes one; repeatable; default: all edge types");
  app
    .add_option("--task-name", flags.tasks.name,
                "Name of the task, if there is one; default: its kind")
    ->type_name("NAME");
  add_values(app, "--split-edges", flags.tasks.splits, "[TASK=]A,B,C",
             "Split the edges of tasks by these shares of training, validation "
             "and test");
  app.get_option("--seed")->remove_needs(app.get_option("--split"));
}

result<graph_changes> changes_of(const change_flags& flags, row_norm& all) {
  graph_changes changes;
  for (const auto& name : flags.undirected)
    if (name == flag_alone)
      changes.all_undirected = true;
    else
      changes.undirected.push_back(name);
  changes.drop_self_loops = flags.self_loops == "drop";
  changes.duplicates = flags.duplicates == "drop"  ? duplicate_edges::drop
                       : flags.duplicates == "sum" ? duplicate_edges::sum
                                                   : duplicate_edges::keep;
  changes.sparse = flags.sparse;
  GRAPHMILL_TRYV(expect_orders(flags.tasks.by));
  GRAPHMILL_TRY(changes.split, split_of(flags));
  GRAPHMILL_TRY(changes.tasks, tasks_of(flags));
  GRAPHMILL_TRYV(add_norms(flags, changes, all));
  return changes;
}

std::string options_text(const CLI::App& app) {
  // Where it goes and what is printed changes nothing about the data.
  constexpr auto beside = std::to_array<std::string_view>(
    {"help", "out", "json", "quiet", "replace"});
  nlohmann::json options = nlohmann::json::object();
  for (const auto* option : app.get_options()) {
    const auto& name = option->get_single_name();
    if (std::ranges::find(beside, name) != beside.end())
      continue;
    auto values = option->results();
    if (values.empty() && !option->get_default_str().empty())
      values.push_back(option->get_default_str());
    if (!values.empty())
      options[name] = values;
  }
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json{{"kind", app.get_name()}, {"options", options}}.dump(
    -1, ' ', false, replace);
}

} // namespace graphmill
