#include "actors/commands/options/import_flags.hpp"

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

/// A task is made if a flag speaks of one.
result<std::optional<edge_task_request>> task_of(const change_flags& flags) {
  if (flags.task_edges.empty() && flags.split_edges.empty()
      && flags.task_name.empty() && flags.task_kind == "link")
    return std::optional<edge_task_request>{};
  const auto kind = std::ranges::find(all_edge_task_kinds, flags.task_kind,
                                      &edge_task_traits::name);
  edge_task_request out{.name = flags.task_name,
                        .kind = kind->kind,
                        .edge_types = flags.task_edges};
  if (flags.split_edges.empty())
    return std::optional{std::move(out)};
  GRAPHMILL_TRY(const auto fractions,
                shares_of("--split-edges", flags.split_edges));
  if (flags.by == "label")
    return fail(ec::invalid_argument,
                "--split-edges by label: edges are split by random, time or "
                "pair");
  out.split = {.fractions = fractions,
               .order = flags.by == "time"   ? edge_order::time
                        : flags.by == "pair" ? edge_order::pair
                                             : edge_order::random,
               .seed = flags.seed};
  return std::optional{std::move(out)};
}

result<std::optional<split_request>> split_of(const change_flags& flags) {
  if (!flags.split.empty() && flags.by == "pair")
    return fail(ec::invalid_argument,
                "--split by pair: nodes are split by random, label or time");
  if (flags.split.empty() && !flags.split_edges.empty())
    return std::optional<split_request>{};
  if (flags.split.empty() && flags.by != "random")
    return fail(ec::invalid_argument,
                "--by needs --split with the shares of training, validation "
                "and test, such as --split 0.8,0.1,0.1");
  if (flags.split.empty())
    return std::optional<split_request>{};
  GRAPHMILL_TRY(const auto fractions, shares_of("--split", flags.split));
  return std::optional{
    split_request{.fractions = fractions,
                  .order = flags.by == "time"    ? split_order::time
                           : flags.by == "label" ? split_order::label
                                                 : split_order::random,
                  .seed = flags.seed}};
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
  app
    .add_option("--by", flags.by,
                "How --split chooses nodes: random, label (random within each "
                "class) or time (the oldest nodes train). How --split-edges "
                "chooses edges: random, time or pair (all edges of two nodes "
                "together, in both directions)")
    ->check(CLI::IsMember({"random", "label", "time", "pair"}))
    ->capture_default_str();
  app.add_option("--seed", flags.seed, "Seed of --split and --split-edges")
    ->needs(split)
    ->capture_default_str();
  app
    .add_option("--normalise,--normalize", flags.normalise,
                "Scale features: none, l1 (rows to a sum of 1), l2 (rows to a "
                "length of 1) or standardise (columns to mean 0 and variance "
                "1); with TYPE= before it, only of that node or edge type, and "
                "without it of all node types")
    ->type_name("[TYPE=]NORM")
    ->expected(1) // Not the folder behind it.
    ->allow_extra_args(false)
    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--sparse", flags.sparse,
               "Store features without their zeros, as compressed rows, in "
               "files, in memory, in batches and on the wire. "
               "partition/dataset-format.md describes the effect on results");
}

void add_task_flags(CLI::App& app, change_flags& flags) {
  app
    .add_option("--task-edges", flags.task_edges,
                "Learn edges of this type: add a task to the dataset; "
                "repeatable; default: all edge types, if another option speaks "
                "of a task")
    ->type_name("TYPE")
    ->expected(1) // Not the folder behind it.
    ->allow_extra_args(false)
    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app
    .add_option("--task-kind", flags.task_kind,
                "What is learnt: link (whether there is an edge), edge_class, "
                "edge_labels (any of several; not from csv) or edge_value "
                "(numbers)")
    ->check(CLI::IsMember({"link", "edge_class", "edge_labels", "edge_value"}))
    ->capture_default_str();
  app
    .add_option("--task-name", flags.task_name,
                "Name of the task; default: its kind")
    ->type_name("NAME");
  app
    .add_option("--split-edges", flags.split_edges,
                "Split the edges of the task by these shares of training, "
                "validation and test")
    ->type_name("A,B,C");
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
  GRAPHMILL_TRY(changes.split, split_of(flags));
  GRAPHMILL_TRY(changes.task, task_of(flags));
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
