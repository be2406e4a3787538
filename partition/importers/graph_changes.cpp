#include "partition/importers/graph_changes.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "partition/importers/reverse.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace graphmill {

namespace {

std::string edge_type_list(const dataset_info& info) {
  std::string names;
  for (std::size_t i = 0; i < info.edge_types.size(); ++i)
    names +=
      (i == 0 ? "" : ", ") + info.edge_type_name(static_cast<edge_type_id>(i));
  return names;
}

/// @returns for each edge type whether it is undirected.
result<std::vector<bool>> undirected_types(const dataset_info& info,
                                           const graph_changes& changes) {
  std::vector<bool> chosen(info.edge_types.size(), changes.all_undirected);
  for (const auto& name : changes.undirected) {
    const auto type = info.find_edge_type(name);
    if (!type)
      return fail(ec::invalid_argument,
                  "--undirected={}: there is no such edge type, or several "
                  "have that name; there are {}",
                  name, edge_type_list(info));
    chosen[static_cast<std::size_t>(*type)] = true;
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto& type = info.edge_types[i];
    if (chosen[i] && type.source != type.destination)
      return fail(ec::invalid_argument,
                  "--undirected: {} joins nodes of two types, so that its "
                  "edges cannot go both ways; name the edge types that can "
                  "(--undirected=NAME), and take --reverse for this one",
                  info.edge_type_name(static_cast<edge_type_id>(i)));
  }
  return chosen;
}

/// Which rule leaves one edge of a pair, if the given one leaves all.
/// @param timed The writer fails on any other edge of a pair, whatever it
/// weighs.
duplicate_edges once(duplicate_edges rule, bool timed) {
  if (timed)
    return duplicate_edges::drop;
  return rule == duplicate_edges::keep ? duplicate_edges::match : rule;
}

bool drops_equal_rows(const graph_changes& changes) {
  return changes.equal_rows_dropped
         && changes.duplicates == duplicate_edges::drop;
}

/// What becomes of edges with the same ends, of a type that has times or none.
duplicate_edges rule_of(const graph_changes& changes, bool timed) {
  return timed && drops_equal_rows(changes) ? duplicate_edges::keep
                                            : changes.duplicates;
}

/// Edges with times are events. Fails if one of them is to take the place of
/// others: it would be of its own time and have the weight of later ones, or
/// hide them.
result<void> keep_timed_edges(const dataset_info& info, edge_type_id type,
                              const graph_changes& changes) {
  if (!info.edge_types[static_cast<std::size_t>(type)].timed
      || changes.duplicates == duplicate_edges::keep
      || drops_equal_rows(changes))
    return ok();
  return fail(ec::invalid_argument,
              "--duplicates {}: edges of {} have times of their own, and those "
              "that join the same nodes are no duplicates; leave --duplicates "
              "out, so that all are kept",
              changes.duplicates == duplicate_edges::sum ? "sum" : "drop",
              info.edge_type_name(type));
}

} // namespace

result<edge_plan> plan_edges(dataset_info& info, bool reverse,
                             const graph_changes& changes) {
  GRAPHMILL_TRY(const auto undirected, undirected_types(info, changes));
  for (std::size_t i = 0; i < undirected.size(); ++i)
    GRAPHMILL_TRYV(
      keep_timed_edges(info, static_cast<edge_type_id>(i), changes));
  edge_plan plan;
  plan.reverse.resize(undirected.size(), -1);
  for (std::size_t i = 0; i < undirected.size(); ++i)
    plan.rules.push_back(
      {.both_ways = undirected[i],
       .drop_self_loops = changes.drop_self_loops,
       .duplicates = undirected[i]
                       ? once(changes.duplicates, info.edge_types[i].timed)
                       : rule_of(changes, info.edge_types[i].timed)});
  if (!reverse)
    return plan;
  if (std::ranges::count(undirected, false) == 0)
    return fail(ec::invalid_argument,
                "--reverse adds nothing where --undirected makes all edges go "
                "both ways; leave one of them out");
  for (std::size_t i = 0; i < undirected.size(); ++i)
    if (!undirected[i]) {
      plan.reverse[i] = add_reverse_type(info, static_cast<edge_type_id>(i));
      plan.rules.push_back(
        {.both_ways = false,
         .drop_self_loops = changes.drop_self_loops,
         .duplicates = rule_of(changes, info.edge_types[i].timed)});
    }
  return plan;
}

namespace {

/// A type of the source that is called like the reverse of another one.
std::optional<edge_type_id> reverse_by_name(const dataset_info& info,
                                            edge_type_id of, std::size_t most) {
  const auto& type = info.edge_types[static_cast<std::size_t>(of)];
  const auto name = reverse_name(type.name);
  for (std::size_t i = 0; i < most; ++i) {
    const auto& other = info.edge_types[i];
    if (other.name == name && other.source == type.destination
        && other.destination == type.source)
      return static_cast<edge_type_id>(i);
  }
  return std::nullopt;
}

} // namespace

result<void> declare_task(dataset_info& info, const edge_plan& plan,
                          const edge_task_request& request) {
  const auto name = name_of(request);
  if (std::ranges::find(info.tasks, name, &edge_task_info::name)
      != info.tasks.end())
    return fail(ec::invalid_argument,
                "--task-kind: two tasks are called {}; give each a name: "
                "--task-kind NAME={}",
                name, traits_of(request.kind).name);
  auto& task = info.tasks.emplace_back();
  task.name = name;
  task.kind = request.kind;
  task.timed = request.timed;
  task.weighted = request.weighted;
  const auto types = plan.reverse.size();
  std::vector<bool> reverses(types);
  for (std::size_t i = 0; i < types; ++i)
    if (const auto other =
          reverse_by_name(info, static_cast<edge_type_id>(i), types))
      reverses[static_cast<std::size_t>(*other)] = true;
  for (std::size_t i = 0; i < types && request.edge_types.empty(); ++i)
    if (!reverses[i])
      task.edge_types.push_back(static_cast<edge_type_id>(i));
  for (const auto& name : request.edge_types) {
    const auto type = info.find_edge_type(name);
    if (!type || std::cmp_greater_equal(*type, types))
      return fail(ec::invalid_argument,
                  "--task-edges {}: there is no such edge type, or several "
                  "have that name; there are {}",
                  name, edge_type_list(info));
    task.edge_types.push_back(*type);
  }
  const auto by_pair =
    request.own_reverse
    || (request.split && request.split->order == edge_order::pair);
  for (const auto type : task.edge_types) {
    const auto at = static_cast<std::size_t>(type);
    const auto& about = info.edge_types[at];
    auto& reverse = task.reverse_types.emplace_back();
    if (plan.reverse[at] >= 0)
      reverse = plan.reverse[at];
    else if (plan.rules[at].both_ways
             || (by_pair && about.source == about.destination))
      reverse = type;
    else
      reverse = reverse_by_name(info, type, types);
  }
  return ok();
}

void keep_original_name(original_names& names, const dataset_info& info,
                        const edge_plan& plan, edge_type_id type,
                        std::string_view original) {
  const auto keep = [&](edge_type_id id, std::string text) {
    if (info.edge_types[static_cast<std::size_t>(id)].name != text)
      names.emplace(info.edge_type_name(id), std::move(text));
  };
  keep(type, std::string{original});
  if (const auto reverse = plan.reverse[static_cast<std::size_t>(type)];
      reverse >= 0)
    keep(reverse, fmt::format("rev_{}", original));
}

result<std::vector<row_norm>> norms_of(const dataset_info& info, row_norm all,
                                       const graph_changes& changes) {
  std::vector<row_norm> norms(info.node_types.size(), all);
  for (const auto& [name, norm] : changes.normalise) {
    const auto type = info.find_node_type(name);
    if (const auto edges = info.find_edge_type(name); !type && edges) {
      if (info.edge_types[static_cast<std::size_t>(*edges)].feature_width == 0)
        return fail(ec::invalid_argument,
                    "--normalise: edges of type \"{}\" have no features", name);
      continue;
    }
    if (!type)
      return fail(ec::invalid_argument,
                  "--normalise: there is no node type \"{}\"", name);
    if (norm != row_norm::none
        && info.node_types[static_cast<std::size_t>(*type)].feature_width == 0)
      return fail(ec::invalid_argument,
                  "--normalise: nodes of type \"{}\" have no features", name);
    norms[static_cast<std::size_t>(*type)] = norm;
  }
  if (all != row_norm::none
      && std::ranges::all_of(info.node_types, [](const auto& type) {
           return type.feature_width == 0;
         }))
    return fail(ec::invalid_argument,
                "--normalise: there are no features that could be scaled");
  return norms;
}

row_norm edge_norm_of(const dataset_info& info, edge_type_id type,
                      const graph_changes& changes) {
  for (const auto& [name, norm] : changes.normalise)
    if (!info.find_node_type(name) && info.find_edge_type(name) == type)
      return norm;
  return row_norm::none;
}

result<void> declare_sparse(dataset_info& info,
                            std::span<const row_norm> norms) {
  auto any = false;
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    auto& type = info.node_types[t];
    if (type.feature_width == 0)
      continue;
    if (norms[t] == row_norm::standardise)
      return fail(ec::invalid_argument,
                  "--sparse: standardised features have no zeros to leave out; "
                  "scale those of {} by l1 or l2, or leave --sparse out",
                  type.name);
    type.sparse_features = true;
    any = true;
  }
  if (!any)
    return fail(ec::invalid_argument,
                "--sparse: there are no features that could be stored without "
                "their zeros");
  return ok();
}

result<void> check_split(const split_request& request,
                         const node_type_info& type,
                         std::span<const std::int64_t> labels,
                         std::span<const double> times) {
  GRAPHMILL_TRYV(validate(request.fractions));
  if (type.has_label_rows() && request.order == split_order::label)
    return fail(ec::invalid_argument,
                "--split by label: nodes of type {} {}, so that there are no "
                "classes to be split; say --by random or time",
                type.name, traits_of(type.labels).instead);
  if (request.order == split_order::time
      && std::ssize(times) != std::ssize(labels))
    return fail(ec::invalid_argument,
                "--split by time: nothing says the times of nodes of type {}; "
                "csv takes them from a column (--time COLUMN, or --node-time), "
                "npy from time.npy",
                type.name);
  const auto bad = std::ranges::find_if_not(
    times, [](double time) { return std::isfinite(time); });
  if (bad != times.end())
    return fail(ec::invalid_data,
                "--split by time: the time of node {} of type {} is {}",
                bad - times.begin(), type.name, *bad);
  return ok();
}

result<void> write_split(const split_request& request,
                         const node_type_info& type, node_type_id id,
                         bool present, std::span<const std::int64_t> labels,
                         std::span<const double> times,
                         dataset_writer& writer) {
  GRAPHMILL_TRYV(validate(request.fractions));
  if (type.class_count == 0 && !type.label_sets.empty())
    return ok();
  if (type.class_count == 0)
    return fail(ec::invalid_argument,
                "--split: nodes of type {} have no labels to be split by",
                type.name);
  if (present)
    return fail(ec::invalid_argument,
                "--split: nodes of type {} have a split already; leave that "
                "out with --ignore to make another",
                type.name);
  GRAPHMILL_TRYV(check_split(request, type, labels, times));
  const auto splits = split_nodes(request, labels, times);
  for (auto which : all_splits) {
    GRAPHMILL_TRYV(
      writer.set_split(id, which, splits[static_cast<std::size_t>(which)]));
  }
  return ok();
}

namespace {

result<void> check_all_class_names(const node_type_info& type) {
  GRAPHMILL_TRYV(check_class_names(type.class_names, type.name));
  for (const auto& set : type.label_sets) {
    GRAPHMILL_TRYV(check_class_names(set.class_names, type.name));
  }
  return ok();
}

} // namespace

result<void> check_class_names(const std::vector<std::string>& names,
                               std::string_view of) {
  const auto wrong = std::ranges::find_if(
    names, [](const std::string& name) { return printable(name) != name; });
  if (wrong == names.end())
    return ok();
  return fail(ec::invalid_data,
              "class {} of {} is called \"{}\": a line break or control "
              "character cannot be in a name",
              wrong - names.begin(), of, printable(*wrong));
}

result<planned_import> begin_import(const std::filesystem::path& folder,
                                    dataset_info info, row_norm normalise,
                                    bool reverse, const graph_changes& changes,
                                    const progress_callback& on_progress,
                                    node_namer name_of, bool needs_seeds) {
  for (const auto& type : info.node_types) {
    GRAPHMILL_TRYV(check_all_class_names(type));
  }
  GRAPHMILL_TRY(auto norms, norms_of(info, normalise, changes));
  GRAPHMILL_TRY(auto edges, plan_edges(info, reverse, changes));
  if (changes.sparse) {
    GRAPHMILL_TRYV(declare_sparse(info, norms));
  }
  for (const auto& task : changes.tasks)
    GRAPHMILL_TRYV(declare_task(info, edges, task));
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, info,
                                       {.on_progress = on_progress,
                                        .edges = edges.rules,
                                        .name_of = std::move(name_of),
                                        .needs_seeds = needs_seeds}));
  return planned_import{std::move(info), std::move(norms), std::move(edges),
                        std::move(writer)};
}

void note_tasks(const dataset_writer& writer, const dataset_info& info,
                const graph_changes& changes, const note_callback& on_note) {
  for (std::size_t t = 0; t < info.tasks.size(); ++t) {
    const auto& task = info.tasks[t];
    const auto& lost = writer.unlabelled()[t];
    const auto edges = [](std::int64_t count) {
      return pluralized(count, "edge");
    };
    for (const auto which : all_splits)
      if (const auto count = lost.of_splits[static_cast<std::size_t>(which)];
          count > 0)
        tell_note(on_note,
                  "task {}: {} of the {} split without a label left out: no "
                  "rows, but messages in all phases",
                  task.name, edges(count), file_stem(which));
    if (task.unlabelled > 0)
      tell_note(on_note,
                "task {}: {} of the test split without a label kept: predict "
                "--split test predicts them, and no metric counts them",
                task.name, edges(task.unlabelled));
    if (lost.others > 0)
      tell_note(on_note,
                "task {}: {} without a label in no split; splits of the source "
                "(--task-split, edge_split.npy) can put them into test, to be "
                "predicted",
                task.name, edges(lost.others));
    const auto& split = changes.tasks[t].split;
    if (split && split->order != edge_order::time && task.timed)
      tell_note(
        on_note,
        "task {}: its edges have times and are split by chance, so that "
        "some of the training are later than some of the test; --by "
        "time trains on the oldest",
        task.name);
  }
}

void note_dropped(const dataset_writer& writer, const dataset_info& info,
                  const graph_changes& changes, const note_callback& on_note) {
  const auto summed = changes.duplicates == duplicate_edges::sum;
  const auto& dropped = writer.dropped();
  for (std::size_t i = 0; i < dropped.size(); ++i)
    if (dropped[i].self_loops > 0 || dropped[i].duplicates > 0)
      tell_note(on_note, "{}: {}{} and {}{}",
                info.edge_type_name(static_cast<edge_type_id>(i)),
                pluralized(dropped[i].self_loops, "self-loop"),
                summed ? " dropped" : "",
                pluralized(dropped[i].duplicates, "duplicate"),
                summed ? " added to the first one" : " dropped");
}

} // namespace graphmill
