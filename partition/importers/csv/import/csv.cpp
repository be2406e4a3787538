#include "partition/importers/csv/csv.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"
#include "partition/importers/csv/csv_edge_features.hpp"
#include "partition/importers/csv/csv_edge_reader.hpp"
#include "partition/importers/csv/csv_edges.hpp"
#include "partition/importers/csv/csv_equal_rows.hpp"
#include "partition/importers/csv/csv_fitted_edges.hpp"
#include "partition/importers/csv/csv_graph.hpp"
#include "partition/importers/csv/csv_nodes.hpp"
#include "partition/importers/csv/csv_roles.hpp"
#include "partition/importers/csv/csv_tables.hpp"
#include "partition/importers/csv/csv_task_choices.hpp"
#include "partition/importers/csv/csv_tasks.hpp"
#include "partition/importers/csv/import/csv_record.hpp"
#include "partition/importers/mutual_pairs.hpp"
#include "partition/importers/npy/npy_source.hpp"
#include "partition/importers/reverse.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>

#include <algorithm>
#include <span>

namespace graphmill {

namespace {

/// Edges that wait to be given to the writer, of all types of a file.
constexpr std::size_t csv_block_edges = std::size_t{1} << 16;
constexpr std::size_t least_block_edges = 256;
/// With more features, dense rows are mostly zeros of categories and words.
constexpr std::int64_t most_dense_features = 8192;

/// The rows that were left out, in the dataset.
constexpr const char* rejected_rows_name = "rejected_rows.csv";

result<dataset_info> declare(const csv_graph& graph,
                             const csv_import_options& options) {
  if (graph.nodes.empty())
    return fail(ec::invalid_argument,
                "neither a node table nor an edge list to import");
  dataset_info info;
  const auto& first =
    (options.edges.empty() ? options.nodes : options.edges).front();
  info.name =
    options.name.empty() ? first.file.stem().stem().string() : options.name;
  info.provenance =
    fmt::format("imported from text tables ({} of nodes, {} of edges); ids in "
                "nodes/<type>/ids.txt",
                options.nodes.size(), options.edges.size());
  auto labelled = false;
  for (const auto& type : graph.nodes) {
    const auto learnable = !type.class_names.empty() || !type.values.empty()
                           || !type.label_sets.empty();
    if (learnable && !std::exchange(labelled, true))
      info.target = static_cast<node_type_id>(info.node_types.size());
    info.node_types.push_back(
      {.name = type.name,
       .count = type.ids.size(),
       .class_count = std::ssize(type.class_names),
       .class_names = type.class_names,
       .timed = type.layout.node_time.has_value() && type.table});
    if (!type.values.empty()) {
      info.node_types.back().class_count = 1;
      info.node_types.back().labels = label_kind::regression;
    }
    declare_label_sets(info.node_types.back(), type.label_sets);
  }
  for (const auto& file : graph.edges)
    for (const auto& name : file.names)
      info.edge_types.push_back(
        {.source = static_cast<node_type_id>(file.source),
         .name = name,
         .destination = static_cast<node_type_id>(file.destination),
         .weighted = file.layout.weight.has_value(),
         .timed = file.layout.edge_time.has_value()});
  info.ticks_per_second = ticks_of(options.times);
  if (options.target.empty())
    return info;
  const auto target = info.find_node_type(options.target);
  if (!target)
    return fail(ec::invalid_argument, "the target \"{}\" is no node type",
                options.target);
  info.target = *target;
  return info;
}

/// Fails if a column is said to have times and nothing uses them.
result<void> expect_times_used(const csv_import_options& options) {
  const auto& split = options.changes.split;
  if (split && split->order == split_order::time)
    return ok();
  const auto at =
    std::ranges::find(options.choices, csv_role::time, &csv_choice::role);
  if (at == options.choices.end())
    return ok();
  return fail(ec::invalid_argument,
              "--time {}: times are for --split with --by time alone, which is "
              "not asked for; leave the column out (--ignore {})",
              at->column, at->column);
}

/// Which edges are rows is not to be found in an earlier dataset.
void note_task_left_out(const csv_import_options& options) {
  if (options.like.empty() || !options.changes.tasks.empty())
    return;
  const auto like = read_dataset_info(options.like);
  if (like && !like.value().tasks.empty())
    tell_note(options.on_note,
              "{} has the task {} of edges, which --like does not copy: say "
              "--task-edges and --split-edges, or --task-split, to make one",
              options.like.string(), like.value().tasks.front().name);
}

/// Whether columns or files are those of a task of edges.
bool speaks_of_task(const csv_import_options& options) {
  return !options.task_files.empty()
         || std::ranges::any_of(options.choices, [](const csv_choice& choice) {
              return task_column(choice.role) != nullptr;
            });
}

/// Notes which labels for none the user has named in vain.
/// @param found Those that labels of edges are.
result<void> note_unused_labels(const csv_graph& graph,
                                const csv_import_options& options,
                                unlabelled_nodes found) {
  GRAPHMILL_TRY(const auto none, no_label_values::of(options.no_label));
  for (const auto& type : graph.nodes) {
    found.insert(type.unlabelled.begin(), type.unlabelled.end());
    for (const auto& set : type.label_sets)
      found.insert(set.unlabelled.begin(), set.unlabelled.end());
  }
  none.note_unused(found, options.on_note);
  return ok();
}

/// Notes tasks whose classes are not those of the dataset that the new one is
/// to be like, which has no such task.
void note_new_tasks(const csv_import_options& options,
                    const known_classes& known) {
  for (const auto& task : options.changes.tasks)
    if (!options.like.empty()
        && traits_of(task.kind).labels == label_kind::classes
        && known.find_task(name_of(task)) == nullptr)
      tell_note(options.on_note,
                "task {}: {} has no task of this name with classes, so its "
                "classes are those found here",
                name_of(task), options.like.string());
}

/// Fails if labels are said to be numbers and there are none.
result<void> expect_values(const csv_graph& graph,
                           const csv_import_options& options) {
  if (!options.like.empty())
    return ok(); // The graph of tomorrow may have no labels.
  for (const auto& name : options.regression_sets) {
    const auto named = [&name](const csv_set_columns& set) {
      return set.name == name && set.label.has_value();
    };
    if (std::ranges::none_of(graph.nodes, [&named](const csv_node_type& type) {
          return std::ranges::any_of(type.layout.label_sets, named);
        }))
      return fail(ec::invalid_argument,
                  "--regression-set {0}: no node table has a column of labels "
                  "of this set; call it label.{0}, or say which one it is "
                  "(--label-set COLUMN)",
                  name);
  }
  if (!options.regression
      || std::ranges::any_of(graph.nodes, [](const csv_node_type& type) {
           return type.layout.label.has_value();
         }))
    return ok();
  return fail(ec::invalid_argument,
              "--regression: no node table has a column of labels to take "
              "numbers from; say which one it is (--label COLUMN)");
}

/// Gathers edges of one type into blocks for a writer.
class edge_blocks {
public:
  /// @param edges How many are gathered.
  edge_blocks(dataset_writer& writer, edge_type_id type, edge_type_id reverse,
              std::size_t edges)
    : writer_(writer), type_(type), reverse_(reverse), most_(edges) {}

  /// @param weight Of a type that has weights.
  /// @param features Likewise.
  result<void> add(node_id source, node_id destination,
                   std::optional<float> weight, std::span<const float> features,
                   std::optional<std::int64_t> time) {
    if (time)
      times_.push_back(*time);
    sources_.push_back(source);
    destinations_.push_back(destination);
    if (weight)
      weights_.push_back(*weight);
    features_.insert(features_.end(), features.begin(), features.end());
    return sources_.size() < most_ ? ok() : flush();
  }

  result<void> flush() {
    GRAPHMILL_TRYV(append_both_ways(writer_, type_, reverse_, sources_,
                                    destinations_, weights_, features_));
    if (!times_.empty())
      for (const auto type : {type_, reverse_})
        if (type >= 0)
          GRAPHMILL_TRYV(writer_.append_edge_times(type, times_));
    times_.clear();
    features_.clear();
    sources_.clear();
    destinations_.clear();
    weights_.clear();
    return ok();
  }

private:
  dataset_writer& writer_;
  edge_type_id type_;
  edge_type_id reverse_;
  std::size_t most_;
  std::vector<node_id> sources_;
  std::vector<node_id> destinations_;
  std::vector<float> weights_;
  std::vector<float> features_;
  std::vector<std::int64_t> times_;
};

/// After errors it only looks for more.
/// @param first The first edge type of the file. @param out Of each of them.
result<void> copy_edges(const csv_graph& graph, csv_edge_file& file,
                        const csv_import_options& options, row_errors& errors,
                        std::vector<edge_blocks> out, edge_type_id first = 0,
                        std::span<csv_task_reader> tasks = {}) {
  csv_edge_reader reader{graph, file, options};
  csv_edge_features features{file.table, file.layout, file.features};
  csv_equal_rows equal{options, file.layout};
  const auto width = file.features.columns.width();
  const auto visit = [&](const csv_edge& edge, csv_rows& rows) -> result<void> {
    GRAPHMILL_TRY(const auto read, reader.read(edge, rows));
    if (errors.failed()) {
      GRAPHMILL_TRYV(features.check(rows));
      if (read && rows.is_sound())
        reader.keep();
      return ok();
    }
    if (!read || equal.repeats(rows))
      return ok();
    GRAPHMILL_TRY(const auto row, features.read(rows));
    if (std::ssize(row) != width || errors.failed())
      return ok();
    const auto relation = file.layout.relation
                            ? file.relations.find(edge.relation)
                            : std::optional<node_id>{0};
    if (!relation)
      return rows.reader().wrong(changed_csv_table);
    auto sound = true;
    for (auto& task : tasks) {
      GRAPHMILL_TRY(
        const auto good,
        task.read(first + static_cast<edge_type_id>(*relation), file, rows));
      sound = sound && good;
    }
    if (!sound)
      return ok();
    for (auto& task : tasks)
      GRAPHMILL_TRYV(task.keep(rows.reader()));
    reader.keep();
    equal.keep();
    return out[static_cast<std::size_t>(*relation)].add(
      read->source, read->destination, read->weight, row, read->time);
  };
  GRAPHMILL_TRYV(for_each_csv_edge(file.table, file.layout, options.separator,
                                   errors, visit, options.on_note));
  for (auto& blocks : out) {
    GRAPHMILL_TRYV(blocks.flush());
  }
  GRAPHMILL_TRYV(reader.note_times(options.on_note));
  file.form_of_times = reader.form_of_times();
  reader.note_dropped(options.on_note);
  equal.note(file.table, options.on_note);
  return ok();
}

/// After errors, looks for those that are left: in features and edges.
/// @returns all errors as one.
error check_rest(csv_graph& graph, const csv_import_options& options,
                 row_errors& errors) {
  const auto check = [&]() -> result<void> {
    for (auto& type : graph.nodes)
      if (type.table)
        GRAPHMILL_TRYV(check_csv_features(
          *type.table, type.layout, options.separator, type.features, errors));
    for (auto& file : graph.edges)
      GRAPHMILL_TRYV(copy_edges(graph, file, options, errors, {}));
    return errors.finish();
  };
  return check().error();
}

/// Copies all edge lists, whose edge types stand one file after the other.
result<void> copy_all_edges(csv_graph& graph, const edge_plan& plan,
                            const csv_import_options& options,
                            dataset_writer& writer, row_errors& errors,
                            const progress_callback& on_progress,
                            std::span<csv_task_reader> tasks) {
  edge_type_id type = 0;
  for (std::size_t f = 0; f < graph.edges.size(); ++f) {
    if (on_progress)
      on_progress(
        {.phase = "read edges", .done = f, .total = graph.edges.size()});
    auto& file = graph.edges[f];
    const auto types = std::max<std::size_t>(1, file.names.size());
    const auto first = type;
    std::vector<edge_blocks> out;
    for (std::size_t i = 0; i < file.names.size(); ++i, ++type)
      out.emplace_back(writer, type,
                       plan.reverse[static_cast<std::size_t>(type)],
                       std::max(least_block_edges, csv_block_edges / types));
    GRAPHMILL_TRYV(
      copy_edges(graph, file, options, errors, std::move(out), first, tasks));
    for (const auto& note : file.features.columns.notes())
      tell_note(options.on_note, "{}: {}", file.table.file.filename().string(),
                note);
  }
  return ok();
}

/// Copies all edges, and gives the writer what they say of tasks.
/// @param info As planned.
result<void> copy_edges_and_tasks(csv_graph& graph, const dataset_info& info,
                                  const edge_plan& plan,
                                  const csv_import_options& options,
                                  dataset_writer& writer, row_errors& errors,
                                  const progress_callback& on_progress) {
  const auto& requests = options.changes.tasks;
  known_classes known;
  if (!options.classes_of.empty() && !requests.empty()) {
    GRAPHMILL_TRY(known, known_classes::of(options.classes_of));
  }
  note_new_tasks(options, known);
  GRAPHMILL_TRY(const auto none, no_label_values::of(options.no_label));
  std::vector<csv_task_reader> tasks;
  for (std::size_t t = 0; t < requests.size(); ++t) {
    tasks.emplace_back(options, graph, info, t, none, known);
    GRAPHMILL_TRYV(tasks.back().check_columns());
  }
  GRAPHMILL_TRYV(
    copy_all_edges(graph, plan, options, writer, errors, on_progress, tasks));
  GRAPHMILL_TRYV(errors.finish());
  unlabelled_nodes unlabelled; // Edges.
  for (auto& task : tasks) {
    GRAPHMILL_TRY(const auto found, task.finish(writer));
    unlabelled.insert(found.begin(), found.end());
  }
  // An append cannot change what its import said.
  return options.after.empty()
           ? note_unused_labels(graph, options, std::move(unlabelled))
           : ok();
}

/// Splits the target as the options say.
result<void> split_target(const csv_graph& graph, const dataset_info& info,
                          const split_request& request,
                          dataset_writer& writer) {
  const auto& type = graph.nodes[static_cast<std::size_t>(info.target)];
  return write_split(request, info.node_types[info.target], info.target,
                     type.layout.has_split(), type.labels, type.times, writer);
}

/// Which nodes of a type features are fitted on; empty: all.
result<std::vector<bool>> rows_to_fit(const csv_node_type& type,
                                      const node_type_info& info,
                                      bool is_target,
                                      const csv_import_options& options) {
  std::vector<bool> rows;
  if (!options.fit_on_training)
    return rows;
  auto training = type.splits[static_cast<std::size_t>(split::train)];
  const auto& wanted = options.changes.split;
  if (training.empty() && is_target && wanted) {
    GRAPHMILL_TRYV(check_split(*wanted, info, type.labels, type.times));
    training = split_nodes(*wanted, type.labels,
                           type.times)[static_cast<std::size_t>(split::train)];
  }
  if (training.empty())
    tell_note(options.on_note,
              "{}: features are fitted on all nodes, for there are no training "
              "nodes",
              type.name);
  if (!training.empty())
    rows.resize(static_cast<std::size_t>(type.ids.size()));
  for (const auto node : training)
    rows[static_cast<std::size_t>(node)] = true;
  return rows;
}

/// Declares how many features a type has.
result<void> declare_features(const csv_node_type& type,
                              const csv_import_options& options,
                              node_type_info& info) {
  const auto width = type.features.columns.width();
  const auto columns = std::ssize(type.features.columns.requests());
  if (width > std::max<std::int64_t>(columns, most_dense_features)
      && !options.changes.sparse)
    return fail(ec::invalid_argument,
                "{} would have {} features; say --sparse, which stores them "
                "without their zeros, or take fewer categories (`most`) or "
                "buckets",
                type.name, width);
  info.feature_width = width;
  return ok();
}

/// What is left to scale by name, beside edge lists as a whole. Fails if one
/// edge type of a list is named, and others of it are not, for they share a
/// scale.
result<graph_changes> changes_of_types(const csv_graph& graph,
                                       const csv_import_options& options) {
  auto out = options.changes;
  for (const auto& named : options.changes.normalise) {
    const auto& name = named.first; // Clang 14's lambdas capture no binding.
    if (is_csv_node_type(options, name))
      continue;
    const auto has_name = [&name](const csv_edge_file& file) {
      const auto parts = split_edge_type_name(file.table.type);
      return name == file.table.type || (parts && name == (*parts)[1]);
    };
    const auto lists = std::ranges::count_if(graph.edges, has_name);
    if (lists > 1)
      return fail(ec::invalid_argument,
                  "--normalise {}: several edge lists have that name; say "
                  "<source>__{}__<destination>",
                  name, name);
    for (const auto& file : graph.edges) {
      if (!file.layout.relation)
        continue;
      if (lists == 1 && has_name(file)) {
        if (file.features.columns.width() == 0)
          return fail(ec::invalid_argument,
                      "--normalise: edges of type \"{}\" have no features",
                      name);
        std::erase_if(out.normalise,
                      [&name](const auto& one) { return one.first == name; });
      }
      const auto& types = graph.nodes;
      const auto is_named = [&](const std::string& relation) {
        return name == relation
               || name
                    == fmt::format("{}__{}__{}", types[file.source].name,
                                   relation, types[file.destination].name);
      };
      if (lists == 0 && std::ranges::any_of(file.names, is_named))
        return fail(ec::invalid_argument,
                    "--normalise {}: it is a relation of {}, all edges of "
                    "which are scaled alike; say {} to scale the whole list",
                    name, file.table.file.string(), file.table.type);
    }
  }
  return out;
}

/// Fits the features of edge lists on rows that become edges, and declares how
/// many edge types have.
/// @param info Whose edge types stand one file after the other.
result<void> fit_edges(csv_graph& graph, dataset_info& info,
                       const csv_import_options& options, row_errors& errors) {
  const auto needs_fit = [](const csv_edge_file& file) {
    return file.features.needs_fit();
  };
  edge_plan plan;
  if (std::ranges::any_of(graph.edges, needs_fit)) {
    auto changed = info;
    GRAPHMILL_TRY(plan, plan_edges(changed, false, options.changes));
  }
  std::size_t first = 0;
  auto type = info.edge_types.begin();
  for (auto& file : graph.edges) {
    const auto types = file.names.size();
    if (file.features.needs_fit()) {
      GRAPHMILL_TRY(const auto rows,
                    fitted_edges(graph, file, options,
                                 std::span{plan.rules}.subspan(first, types),
                                 errors));
      GRAPHMILL_TRYV(fit_csv_features(file.table, file.layout,
                                      options.separator, rows, file.features,
                                      errors));
    }
    if (errors.failed())
      return ok();
    const auto width = file.features.columns.width();
    if (width > most_dense_features)
      return fail(ec::invalid_argument,
                  "edges of {} would have {} features, more than {}; take "
                  "fewer categories (`most`) or buckets",
                  file.table.file.string(), width, most_dense_features);
    first += types;
    for (std::size_t i = 0; i < types; ++i)
      (type++)->feature_width = width;
  }
  return ok();
}

/// Fits the features of all types, and declares how many there are. After
/// errors in rows it does neither.
result<void> fit_all(csv_graph& graph, dataset_info& info,
                     const csv_import_options& options, row_errors& errors) {
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    auto& type = graph.nodes[t];
    if (type.table && type.features.needs_fit()) {
      const auto is_target = static_cast<node_type_id>(t) == info.target;
      GRAPHMILL_TRY(const auto rows,
                    rows_to_fit(type, info.node_types[t], is_target, options));
      GRAPHMILL_TRYV(fit_csv_features(*type.table, type.layout,
                                      options.separator, rows, type.features,
                                      errors));
    }
    if (errors.failed())
      return ok();
    GRAPHMILL_TRYV(declare_features(type, options, info.node_types[t]));
  }
  return fit_edges(graph, info, options, errors);
}

result<void> copy_nodes(csv_node_type& type, node_type_id id, char separator,
                        dataset_writer& writer, row_errors& errors) {
  if (type.table) {
    GRAPHMILL_TRYV(copy_csv_features(*type.table, type.layout, separator,
                                     type.features, id, writer, errors));
    const std::vector<float> nothing(
      static_cast<std::size_t>(type.features.columns.width()));
    for (auto node = type.table_rows;
         !nothing.empty() && node < type.ids.size(); ++node)
      GRAPHMILL_TRYV(writer.append_features(id, nothing));
  }
  if (!type.values.empty()) {
    GRAPHMILL_TRYV(writer.set_label_rows(id, type.values));
  } else if (!type.class_names.empty()) {
    GRAPHMILL_TRYV(writer.set_labels(id, type.labels));
  }
  if (type.layout.node_time && type.table) {
    if (std::ssize(type.node_times) != type.ids.size())
      return fail(
        ec::invalid_data,
        "{}: {} that only edges name, such as \"{}\", have no times, "
        "and those of the table have some (--node-time); add rows for "
        "them",
        type.name, pluralized(type.ids.size() - type.table_rows, "node"),
        printable(type.ids.name(type.table_rows)));
    GRAPHMILL_TRYV(writer.set_times(id, type.node_times));
  }
  for (auto which : all_splits) {
    GRAPHMILL_TRYV(writer.set_split(
      id, which, type.splits[static_cast<std::size_t>(which)]));
  }
  return ok();
}

/// @param folder Of the type.
result<void> write_meaning(const csv_features& features,
                           const csv_layout& layout,
                           const std::filesystem::path& folder) {
  if (features.columns.width() == 0)
    return ok();
  feature_meaning of{.columns = {},
                     .scaled = std::string{to_string(features.norm)}};
  if (layout.header)
    of.columns = features.columns.names();
  const auto digest_of = [](const nlohmann::json& state) {
    content_hash hash;
    hash.update(state.dump());
    return hash.digest();
  };
  if (features.columns.needs_fit())
    of.fitted = digest_of(features.columns.state());
  if (features.scale)
    of.scale =
      digest_of({features.scale->means(), features.scale->deviations()});
  return write_feature_meaning(folder, of);
}

/// The same of all edge types, those that the plan has added included.
result<void> write_edge_meanings(const csv_graph& graph,
                                 const dataset_info& info,
                                 const edge_plan& plan,
                                 const std::filesystem::path& folder) {
  edge_type_id type = 0;
  for (const auto& file : graph.edges)
    for (std::size_t i = 0; i < file.names.size(); ++i, ++type)
      for (const auto id : {type, plan.reverse[static_cast<std::size_t>(type)]})
        if (id >= 0)
          GRAPHMILL_TRYV(write_meaning(file.features, file.layout,
                                       edge_folder(folder, info, id)));
  return ok();
}

/// What the tables call the relations whose edge types have other names.
original_names relations_in(const csv_graph& graph, const dataset_info& info,
                            const edge_plan& plan) {
  original_names out;
  edge_type_id type = 0;
  for (const auto& file : graph.edges)
    for (std::size_t i = 0; i < file.names.size(); ++i, ++type)
      keep_original_name(out, info, plan, type,
                         file.layout.relation
                           ? file.relations.name(static_cast<node_id>(i))
                           : std::string_view{file.names[i]});
  return out;
}

result<void> write_ids(const csv_node_type& type,
                       const std::filesystem::path& path) {
  GRAPHMILL_TRY(auto file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  std::string pending;
  for (node_id node = 0; node < type.ids.size(); ++node) {
    pending += type.ids.name(node);
    pending += '\n';
    if (pending.size() < csv_block_edges && node + 1 < type.ids.size())
      continue;
    GRAPHMILL_TRYV(
      write_all(file.get(), std::as_bytes(std::span{pending}), path));
    pending.clear();
  }
  return ok();
}

result<dataset_info> import_tables(const csv_import_options& given,
                                   const std::filesystem::path& folder,
                                   const progress_callback& on_progress,
                                   row_errors& errors) {
  const auto tell = [&](std::string_view phase, std::size_t done,
                        std::size_t total) {
    if (on_progress)
      on_progress({.phase = phase, .done = done, .total = total});
  };
  auto options = given;
  options.changes.equal_rows_dropped = true;
  if (options.changes.tasks.empty() && speaks_of_task(options))
    options.changes.tasks.emplace_back();
  // Before columns are taken over: a column that the user gives a task is to
  // be known by its name.
  GRAPHMILL_TRYV(name_tasks_of_choices(options));
  if (!options.like.empty()) {
    GRAPHMILL_TRYV(adopt_csv_record(options));
  }
  GRAPHMILL_TRYV(expect_times_used(options));
  note_task_left_out(options);
  tell("read tables", 0, 0);
  GRAPHMILL_TRY(auto graph, read_csv_graph(options, errors));
  if (errors.failed())
    return check_rest(graph, options, errors);
  GRAPHMILL_TRYV(expect_values(graph, options));
  GRAPHMILL_TRY(auto declared, declare(graph, options));
  auto& requests = options.changes.tasks;
  for (std::size_t t = 0; t < requests.size(); ++t)
    for (const auto& file : graph.edges) {
      if (!is_of_task(requests[t], graph, file))
        continue;
      const auto columns = file.layout.task(t);
      requests[t].timed = requests[t].timed || columns.time;
      requests[t].weighted = requests[t].weighted || columns.weight;
    }
  GRAPHMILL_TRYV(fit_all(graph, declared, options, errors));
  if (errors.failed())
    return check_rest(graph, options, errors);
  GRAPHMILL_TRY(const auto changes, changes_of_types(graph, options));
  GRAPHMILL_TRY(auto plan, begin_import(
                             folder, std::move(declared), options.normalise,
                             options.reverse, changes, on_progress,
                             [&graph](node_type_id type, node_id node) {
                               const auto& of =
                                 graph.nodes[static_cast<std::size_t>(type)];
                               return fmt::format("\"{}\"", of.ids.name(node));
                             },
                             // Tomorrow's nodes may all be there to predict.
                             options.like.empty()));
  auto& [info, norms, edges, writer] = plan;
  GRAPHMILL_TRYV(
    write_original_names(folder, relations_in(graph, info, edges)));
  if (!options.like.empty()) {
    GRAPHMILL_TRYV(expect_same_types(info, options));
  }
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    const auto id = static_cast<node_type_id>(t);
    tell("read nodes", t, graph.nodes.size());
    GRAPHMILL_TRYV(
      copy_nodes(graph.nodes[t], id, options.separator, writer, errors));
    for (const auto& note : graph.nodes[t].features.columns.notes())
      tell_note(options.on_note, "{}: {}",
                graph.nodes[t].table->file.filename().string(), note);
    const auto place = node_folder(folder, info, id);
    GRAPHMILL_TRYV(write_ids(graph.nodes[t], place / ids_file));
    GRAPHMILL_TRYV(
      write_meaning(graph.nodes[t].features, graph.nodes[t].layout, place));
  }
  GRAPHMILL_TRYV(write_edge_meanings(graph, info, edges, folder));
  if (const auto& wanted = options.changes.split) {
    GRAPHMILL_TRYV(split_target(graph, info, *wanted, writer));
  }
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    const auto& type = graph.nodes[t];
    const auto id = static_cast<node_type_id>(t);
    GRAPHMILL_TRYV(write_label_sets(
      type.label_sets, id == info.target ? options.changes.split : std::nullopt,
      info.node_types[t], id, type.splits, type.times, writer,
      options.on_note));
  }
  GRAPHMILL_TRYV(copy_edges_and_tasks(graph, info, edges, options, writer,
                                      errors, on_progress));
  GRAPHMILL_TRYV(write_csv_record(graph, options, folder));
  GRAPHMILL_TRY(auto written, writer.finish());
  note_dropped(writer, written, options.changes, options.on_note);
  note_tasks(writer, written, options.changes, options.on_note);
  graph = {}; // Its ids would take memory beside the pairs.
  GRAPHMILL_TRYV(note_mutual_pairs(folder, edges, options.on_note));
  return written;
}

std::size_t split_seeds(const split_ids& splits) {
  return splits[0].size() + splits[1].size() + splits[2].size();
}

/// Makes label sets of new nodes what those of the dataset are. A set that was
/// a split alone has the labels of the type, also if nobody new is in it. A set
/// that had a split of its own does not take over that of the type. Sets that
/// nobody new has a label of are left out; seeds without labels are refused.
result<void> continue_label_sets(csv_node_type& type,
                                 const csv_import_options& options) {
  auto& sets = type.label_sets;
  const auto labelled = earlier_sets(options, csv_role::label_set, type.name);
  for (const auto& name :
       earlier_sets(options, csv_role::split_set, type.name)) {
    const auto at = std::ranges::find(sets, name, &incoming_labels::name);
    if (at != sets.end()) {
      if (!at->splits)
        at->splits.emplace();
      continue;
    }
    if (std::ranges::count(labelled, name) > 0)
      continue;
    auto& set = sets.emplace_back();
    set.name = name;
    set.labels = type.labels;
    set.class_count = std::ssize(type.class_names);
    set.class_names = type.class_names;
    set.splits.emplace();
    if (type.values.empty())
      continue;
    set.class_count = 1;
    set.kind = label_kind::regression;
    set.rows = type.values;
  }
  for (const auto& set : sets)
    if (set.class_count == 0 && set.splits && split_seeds(*set.splits) > 0)
      return fail(ec::invalid_argument,
                  "new nodes of type {} are in the split of label set {} and "
                  "have no labels of it; add a column of labels, or leave that "
                  "of the split out",
                  type.name, set.name);
  std::erase_if(
    sets, [](const incoming_labels& set) { return set.class_count == 0; });
  return ok();
}

/// Fails if new nodes are in a split and have no labels, which others have.
/// Notes those with labels that are in no split, if others are in one.
result<void> check_new_splits(const csv_node_type& type,
                              const csv_import_options& options) {
  GRAPHMILL_TRY(const auto before, read_dataset_info(options.after));
  const auto at = before.find_node_type(type.name);
  if (!at)
    return ok(); // Told when the types are compared.
  const auto& there = before.node_types[static_cast<std::size_t>(*at)];
  const auto seeds = split_seeds(type.splits);
  if (there.class_count > 0 && type.class_names.empty() && type.values.empty()
      && seeds > 0)
    return fail(ec::invalid_argument,
                "new nodes of type {} are in a split and have no labels; add a "
                "column of labels, or leave that of the split out",
                type.name);
  const auto note = [&](const std::string& place, const auto& counts,
                        const std::vector<std::int64_t>& labels) {
    const auto count = std::ranges::count_if(
      labels, [](std::int64_t label) { return label >= 0; });
    if (count > 0 && counts[0] + counts[1] + counts[2] > 0)
      tell_note(options.on_note,
                "{}: {} with labels in no split, for append makes none: they "
                "are neither for training nor for a test; a column with their "
                "split puts them into one",
                place, pluralized(count, "new node"));
  };
  if (seeds == 0)
    note(type.name, there.split_counts, type.labels);
  for (const auto& set : type.label_sets)
    for (const auto& old : there.label_sets)
      if (old.name == set.name
          && split_seeds(set.splits ? *set.splits : type.splits) == 0)
        note(fmt::format("label set {} of {}", set.name, type.name),
             old.split_counts, set.labels);
  return ok();
}

/// Writes the new nodes of all types.
result<void> write_new_nodes(csv_graph& graph, dataset_info info,
                             const csv_import_options& options,
                             const std::filesystem::path& folder,
                             const progress_callback& on_progress,
                             row_errors& errors) {
  info.edge_types.clear();
  graph_changes changes;
  changes.sparse =
    options.changes.sparse
    && std::ranges::any_of(
      info.node_types, [](const auto& type) { return type.feature_width > 0; });
  GRAPHMILL_TRY(auto plan,
                begin_import(folder, std::move(info), row_norm::none, false,
                             changes, on_progress, {}, false));
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    auto& type = graph.nodes[t];
    const auto id = static_cast<node_type_id>(t);
    GRAPHMILL_TRYV(
      copy_nodes(type, id, options.separator, plan.writer, errors));
    for (const auto& note : type.features.columns.notes())
      tell_note(options.on_note, "{}: {}", type.table->file.filename().string(),
                note);
    GRAPHMILL_TRYV(
      write_ids(type, node_folder(folder, plan.info, id) / ids_file));
    GRAPHMILL_TRYV(write_label_sets(type.label_sets, std::nullopt,
                                    plan.info.node_types[t], id, type.splits,
                                    type.times, plan.writer, options.on_note));
  }
  GRAPHMILL_TRYV(errors.finish());
  GRAPHMILL_TRYV(plan.writer.finish());
  return ok();
}

/// Writes the new edges of all types, between old and new nodes.
result<void> write_new_edges(csv_graph& graph, dataset_info info,
                             const csv_import_options& options,
                             const std::filesystem::path& folder,
                             const progress_callback& on_progress,
                             row_errors& errors) {
  GRAPHMILL_TRY(const auto before, dataset::open(options.after));
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    const auto& type = graph.nodes[t];
    const auto there = before.info().find_node_type(type.name);
    info.node_types[t] = {.name = type.name,
                          .count = type.before.size() + type.ids.size(),
                          .timed = there && before.nodes(*there).times};
  }
  graph_changes changes;
  changes.drop_self_loops = options.changes.drop_self_loops;
  changes.tasks = options.changes.tasks;
  const auto name_of = [&graph](node_type_id type, node_id node) {
    const auto& of = graph.nodes[static_cast<std::size_t>(type)];
    const auto old = of.before.size();
    return fmt::format("\"{}\"", node < old ? of.before.name(node)
                                            : of.ids.name(node - old));
  };
  const auto reverse = options.reverse && !info.edge_types.empty();
  GRAPHMILL_TRY(auto plan,
                begin_import(folder, std::move(info), row_norm::none, reverse,
                             changes, on_progress, name_of, false));
  // Edges without times of their own have those of their sources.
  for (std::size_t t = 0; t < graph.nodes.size(); ++t) {
    if (!plan.info.node_types[t].timed)
      continue;
    const auto& type = graph.nodes[t];
    const auto there = before.info().find_node_type(type.name);
    GRAPHMILL_TRY(const auto old,
                  before.nodes(*there).times->as<std::int64_t>());
    std::vector<std::int64_t> times(old.begin(), old.end());
    times.insert(times.end(), type.node_times.begin(), type.node_times.end());
    if (std::ssize(times) != plan.info.node_types[t].count)
      return fail(ec::invalid_data,
                  "nodes of type {} have times, and the new ones have none: "
                  "add rows for them to a table of nodes",
                  type.name);
    GRAPHMILL_TRYV(plan.writer.set_times(static_cast<node_type_id>(t), times));
  }
  GRAPHMILL_TRYV(copy_edges_and_tasks(graph, plan.info, plan.edges, options,
                                      plan.writer, errors, on_progress));
  GRAPHMILL_TRY(const auto written, plan.writer.finish());
  note_dropped(plan.writer, written, changes, options.on_note);
  note_tasks(plan.writer, written, changes, options.on_note);
  return ok();
}

result<void> import_additions(const csv_import_options& given,
                              const additions_folders& folders,
                              const progress_callback& on_progress,
                              row_errors& errors) {
  auto options = given;
  options.like = options.after;
  GRAPHMILL_TRYV(adopt_csv_record(options));
  options.target.clear(); // It may have nothing new.
  GRAPHMILL_TRY(auto graph, read_csv_graph(options, errors));
  if (errors.failed())
    return check_rest(graph, options, errors);
  for (auto& type : graph.nodes) {
    if (type.table)
      GRAPHMILL_TRYV(continue_label_sets(type, options));
    GRAPHMILL_TRYV(check_new_splits(type, options));
  }
  GRAPHMILL_TRY(auto info, declare(graph, options));
  GRAPHMILL_TRYV(fit_all(graph, info, options, errors));
  if (errors.failed())
    return check_rest(graph, options, errors);
  GRAPHMILL_TRYV(
    write_new_nodes(graph, info, options, folders.nodes, on_progress, errors));
  GRAPHMILL_TRYV(write_new_edges(graph, std::move(info), options, folders.edges,
                                 on_progress, errors));
  return continue_csv_record(graph, options, folders.edges);
}

/// Whether a message advises an option that an append lacks. Of the options
/// that readers of tables know, it has --split; `--long` is one of zstd. A
/// backtick begins a setting of a columns file, but in brackets a command, such
/// as `zstd -t`. Quoted text is the user's.
bool advises_import(std::string_view message) {
  bool quoted = false;
  for (std::size_t at = 0; at < message.size(); ++at) {
    quoted ^= message[at] == '"';
    const auto rest = message.substr(at);
    const auto word =
      at == 0 || message[at - 1] == ' ' || message[at - 1] == '(';
    if (word && !quoted && rest.size() > 2 && rest.starts_with("--")
        && rest[2] >= 'a' && rest[2] <= 'z' && !rest.starts_with("--split ")
        && !rest.starts_with("--long"))
      return true;
    if (!quoted && rest[0] == '`' && (at == 0 || message[at - 1] == ' '))
      return true;
  }
  return false;
}

/// A message of a reader of tables, which does not know what it reads them for,
/// for the user of an append.
std::string told_of_append(std::string message) {
  if (advises_import(message))
    message += "; append takes the options of the first import: change the "
               "table, or import all tables again";
  return message;
}

} // namespace

result<void> import_csv_additions(const csv_import_options& options,
                                  const additions_folders& folders,
                                  const progress_callback& on_progress) {
  GRAPHMILL_TRY(auto joined, join_tables(options));
  if (options.on_note)
    joined.on_note = [&options](std::string note) {
      options.on_note(told_of_append(std::move(note)));
    };
  row_errors errors{0, folders.nodes / rejected_rows_name, options.stop};
  const auto done = import_additions(joined, folders, on_progress, errors);
  if (done)
    return ok();
  auto out = errors.with(done.error());
  out.message = told_of_append(std::move(out.message));
  return out;
}

result<dataset_info> import_csv(const csv_import_options& options,
                                const std::filesystem::path& folder,
                                const progress_callback& on_progress) {
  GRAPHMILL_TRY(const auto joined, join_tables(options));
  row_errors errors{options.skip_bad_rows, folder / rejected_rows_name};
  auto done = import_tables(joined, folder, on_progress, errors);
  if (!done)
    return errors.with(done.error());
  if (errors.rejected_rows() > 0)
    tell_note(options.on_note, "{} left out; {} in the dataset has them",
              pluralized(errors.rejected_rows(), "bad row"),
              rejected_rows_name);
  return done;
}

} // namespace graphmill
