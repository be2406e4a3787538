#include "partition/importers/npy/npy.hpp"

#include "messages/base/pluralized.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"
#include "partition/dataset/seed_check.hpp"
#include "partition/importers/mutual_pairs.hpp"
#include "partition/importers/npy/npy_edge_features.hpp"
#include "partition/importers/npy/npy_folder.hpp"
#include "partition/importers/npy/npy_label_sets.hpp"
#include "partition/importers/npy/npy_labels.hpp"
#include "partition/importers/npy/npy_source.hpp"
#include "partition/importers/npy/npy_tasks.hpp"
#include "partition/importers/npy/npy_times.hpp"
#include "partition/importers/npy/npy_values.hpp"
#include "partition/importers/npy/npy_weights.hpp"
#include "partition/importers/reverse.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <algorithm>

namespace graphmill {

namespace {

constexpr std::int64_t values_at_once = std::int64_t{1} << 20;

dataset_info declare(const npy_source& source,
                     const npy_import_options& options) {
  dataset_info info;
  const auto folder = options.source.lexically_normal();
  info.name = !options.name.empty()  ? options.name
              : !source.name.empty() ? source.name
                                     : folder.filename().string();
  info.provenance = fmt::format("imported from .npy arrays ({})", info.name);
  auto labelled = false;
  for (const auto& type : source.nodes) {
    const auto learnable = type.class_count > 0 || !type.label_sets.empty();
    if (learnable && !std::exchange(labelled, true))
      info.target = static_cast<node_type_id>(info.node_types.size());
    info.node_types.push_back(
      {.name = type.name,
       .count = type.count,
       .feature_width = type.feature_width,
       .class_count = type.class_count,
       .class_names = type.class_names,
       .timed = options.node_times && type.times.has_value()});
    info.node_types.back().labels = type.kind;
    declare_label_sets(info.node_types.back(), type.label_sets);
  }
  for (const auto& type : source.edges)
    info.edge_types.push_back(
      {.source = info.find_node_type(type.source).value(),
       .name = type.name,
       .destination = info.find_node_type(type.destination).value(),
       .weighted = type.weights.has_value(),
       .timed = options.edge_times && type.task.times.has_value(),
       .feature_width = type.features ? columns_of(*type.features) : 0});
  info.ticks_per_second = ticks_of(options.times);
  return info;
}

/// Fails if times are asked for that the source does not have.
result<void> expect_times(const npy_source& source,
                          const npy_import_options& options) {
  if (options.edge_times
      && std::ranges::none_of(source.edges, [](const auto& type) {
           return type.task.times.has_value();
         }))
    return fail(ec::invalid_argument,
                "--edge-time: there is no edge_time.npy, nor "
                "TYPE.edge_time.npy");
  if (options.node_times
      && std::ranges::none_of(
        source.nodes, [](const auto& type) { return type.times.has_value(); }))
    return fail(ec::invalid_argument,
                "--node-time: there is no time.npy, nor TYPE.time.npy");
  if (!options.edge_times && !options.node_times
      && options.times != time_unit::automatic)
    return fail(ec::invalid_argument,
                "--time-unit is for --edge-time and --node-time; say one of "
                "them, or leave it out");
  return ok();
}

result<void> copy_values(const npy_array& array, std::int64_t begin,
                         std::span<float> out) {
  return copy_floats(array, begin, out);
}

result<void> copy_values(const npy_array& array, std::int64_t begin,
                         std::span<double> out) {
  return copy_doubles(array, begin, out);
}

/// Writes rows [first, first + n) of CSR features into `rows`, dense.
template <class Value>
result<void> expand_rows(const npy_node_source& type, std::int64_t first,
                         std::span<Value> rows) {
  const auto width = type.feature_width;
  const auto n = std::ssize(rows) / width;
  std::vector<std::int64_t> begin(static_cast<std::size_t>(n) + 1);
  GRAPHMILL_TRYV(copy_integers(*type.indptr, first, begin));
  const auto entries = type.indices->size();
  if (!std::ranges::is_sorted(begin) || begin.front() < 0
      || begin.back() > entries)
    return fail(ec::invalid_data,
                "{}: rows {} to {} do not lie one after the other within the "
                "{} entries",
                type.indptr->path().string(), first, first + n, entries);
  // Entries that no row has would be lost without a word.
  if ((first == 0 && begin.front() != 0)
      || (first + n == type.count && begin.back() != entries))
    return fail(ec::invalid_data,
                "{}: the rows of features must start at 0 and end at {}, the "
                "number of entries; they go from {} to {}",
                type.indptr->path().string(), entries, begin.front(),
                begin.back());
  std::vector<std::int64_t> columns(
    static_cast<std::size_t>(begin.back() - begin.front()));
  std::vector<Value> values(columns.size());
  GRAPHMILL_TRYV(copy_integers(*type.indices, begin.front(), columns));
  GRAPHMILL_TRYV(copy_values(*type.values, begin.front(), std::span{values}));
  std::ranges::fill(rows, Value{0});
  for (std::int64_t row = 0; row < n; ++row)
    for (auto i = begin[row] - begin[0]; i < begin[row + 1] - begin[0]; ++i) {
      if (columns[i] < 0 || columns[i] >= width)
        return fail(ec::invalid_data,
                    "{}: node {} has a value in column {}; there are {}",
                    type.indices->path().string(), first + row, columns[i],
                    width);
      rows[row * width + columns[i]] += values[i];
    }
  return ok();
}

/// Gives the features to `visit`, a block of rows at a time.
/// @param Value float of what is stored as it is, double of what is scaled.
template <class Value, class Visit>
result<void> for_each_rows(const npy_node_source& type, Visit visit) {
  const auto step =
    std::max<std::int64_t>(1, values_at_once / type.feature_width);
  std::vector<Value> rows;
  for (std::int64_t first = 0; first < type.count; first += step) {
    const auto n = std::min(step, type.count - first);
    rows.resize(static_cast<std::size_t>(n * type.feature_width));
    if (type.dense) {
      GRAPHMILL_TRYV(
        copy_values(*type.dense, first * type.feature_width, std::span{rows}));
    } else {
      GRAPHMILL_TRYV(expand_rows(type, first, std::span{rows}));
    }
    GRAPHMILL_TRYV(visit(std::span{rows}));
  }
  return ok();
}

result<void> copy_features(const npy_node_source& type, node_type_id id,
                           row_norm norm, dataset_writer& writer) {
  if (type.feature_width == 0)
    return ok();
  if (norm == row_norm::none)
    return for_each_rows<float>(type, [&](std::span<float> rows) {
      return writer.append_features(id, rows);
    });
  column_scale scale{norm == row_norm::standardise ? type.feature_width : 0};
  if (norm == row_norm::standardise) {
    GRAPHMILL_TRYV(
      for_each_rows<double>(type, [&](std::span<double> rows) -> result<void> {
        scale.learn(rows);
        return ok();
      }));
  }
  std::vector<float> narrow;
  return for_each_rows<double>(type, [&](std::span<double> rows) {
    if (norm == row_norm::standardise)
      scale.apply(rows);
    normalise_rows(rows, type.feature_width, norm);
    return writer.append_features(id, rounded(rows, narrow));
  });
}

/// [nodes] Below 0 where no label is known; empty if the type has none.
/// @param about The type as it was declared.
result<std::vector<std::int64_t>> labels_of(const npy_node_source& type,
                                            const node_type_info& about) {
  if (traits_of(type.kind).rows)
    return labelled_nodes(about, type.label_rows);
  if (!type.labels)
    return std::vector<std::int64_t>{};
  return classes_of(type);
}

/// The seeds of the source.
result<split_ids> seeds_of(const npy_node_source& type) {
  split_ids out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!type.splits[i])
      continue;
    GRAPHMILL_TRY(out[i], type.masks[i]
                            ? marked_nodes(*type.splits[i], type.count)
                            : read_integers(*type.splits[i]));
  }
  return out;
}

result<void> copy_labels(const npy_node_source& type,
                         const node_type_info& about, node_type_id id,
                         const npy_import_options& options,
                         dataset_writer& writer) {
  GRAPHMILL_TRY(const auto labels, labels_of(type, about));
  if (about.has_label_rows()) {
    GRAPHMILL_TRYV(writer.set_label_rows(id, type.label_rows));
  } else if (type.class_count > 0) {
    GRAPHMILL_TRYV(writer.set_labels(id, labels));
  }
  GRAPHMILL_TRY(auto seeds, seeds_of(type));
  if (type.labels) {
    const auto place = type.labels->path().filename().string();
    note_unlabelled(type.unlabelled, place, options.on_note);
    if (!options.no_label.empty())
      note_dropped_seeds(drop_unlabelled(seeds, labels), place,
                         options.on_note);
  }
  for (auto which : all_splits)
    if (const auto i = static_cast<std::size_t>(which); type.splits[i])
      GRAPHMILL_TRYV(writer.set_split(id, which, seeds[i]));
  return ok();
}

/// Gives the label sets of a type to the writer.
/// @param request Of the target.
result<void> copy_label_sets(const npy_node_source& type,
                             const node_type_info& about, node_type_id id,
                             const std::optional<split_request>& request,
                             dataset_writer& writer,
                             const note_callback& on_note) {
  if (type.label_sets.empty())
    return ok();
  GRAPHMILL_TRY(const auto own, seeds_of(type));
  std::vector<double> times;
  if (type.times) {
    GRAPHMILL_TRY(times, read_doubles(*type.times));
  }
  return write_label_sets(type.label_sets, request, about, id, own, times,
                          writer, on_note);
}

/// Splits the target as the options say.
result<void> split_target(const npy_source& source, const dataset_info& info,
                          const split_request& request,
                          dataset_writer& writer) {
  const auto& type = source.nodes[static_cast<std::size_t>(info.target)];
  const auto present = std::ranges::any_of(
    type.splits, [](const auto& array) { return array.has_value(); });
  GRAPHMILL_TRY(const auto labels,
                labels_of(type, info.node_types[info.target]));
  std::vector<double> times;
  if (type.times) {
    GRAPHMILL_TRY(times, read_doubles(*type.times));
  }
  return write_split(request, info.node_types[info.target], info.target,
                     present, labels, times, writer);
}

void note_nodes(const npy_node_source& type, const note_callback& on_note) {
  if (type.dense)
    tell_note(on_note, "{}: {} features of {}, from {}", file_of(*type.dense),
              type.feature_width, type.name, to_string(type.dense->type()));
  if (type.indptr)
    tell_note(on_note, "{}: {} features of {}, as CSR", file_of(*type.indptr),
              type.feature_width, type.name);
  if (type.labels)
    tell_note(on_note, "{}: labels of {}, {}", file_of(*type.labels), type.name,
              labels_text(type.kind, type.class_count));
  if (type.times)
    tell_note(on_note, "{}: times of {}, from {}", file_of(*type.times),
              type.name, to_string(type.times->type()));
  if (!type.label_of_class.empty())
    tell_note(on_note,
              "{}: labels are numbered anew from 0, and {} to {} become the "
              "names of {} classes",
              file_of(*type.labels), type.label_of_class.front(),
              type.label_of_class.back(), type.class_count);
  for (auto which : all_splits) {
    const auto i = static_cast<std::size_t>(which);
    if (type.splits[i])
      tell_note(on_note, "{}: {} split of {}, {}", file_of(*type.splits[i]),
                file_stem(which), type.name,
                type.masks[i] ? "a mask" : "ids of nodes");
  }
}

/// Says what was taken for what.
void note_source(const npy_source& source, const note_callback& on_note) {
  for (const auto& type : source.nodes)
    note_nodes(type, on_note);
  for (const auto& type : source.edges) {
    tell_note(on_note, "{}: {} edges from {} to {}", file_of(type.edges),
              type.edges.shape()[1], type.source, type.destination);
    if (type.weights)
      tell_note(on_note, "{}: weights of these edges, from {}",
                file_of(*type.weights), to_string(type.weights->type()));
    if (type.features)
      tell_note(on_note, "{}: {} of these edges, from {}",
                file_of(*type.features),
                pluralized(columns_of(*type.features), "feature"),
                to_string(type.features->type()));
    const auto note_task = [&](const npy_task_arrays& task) {
      for (const auto& [array, what] :
           {std::pair{&task.splits, "splits"},
            std::pair{&task.labels, "labels"}, std::pair{&task.times, "times"},
            std::pair{&task.weights, "weights of rows"},
            std::pair{&task.negatives, "negatives"}})
        if (*array)
          tell_note(on_note, "{}: {} of these edges, from {}", file_of(**array),
                    what, to_string((*array)->type()));
    };
    note_task(type.task);
    std::ranges::for_each(type.own, note_task);
  }
  for (const auto& file : source.ignored)
    tell_note(on_note, "{}: left out", file);
}

/// Under which tasks may have arrays of their own.
std::vector<std::string>
names_of_tasks(const std::vector<edge_task_request>& tasks) {
  std::vector<std::string> out;
  std::ranges::transform(tasks, std::back_inserter(out), name_of);
  return out;
}

/// What the source calls the types that have other names here.
original_names names_in(const npy_source& source, const dataset_info& info,
                        const edge_plan& plan) {
  original_names out;
  for (const auto& type : source.nodes)
    if (type.original_name != type.name)
      out.emplace(type.name, type.original_name);
  for (std::size_t t = 0; t < source.edges.size(); ++t)
    keep_original_name(out, info, plan, static_cast<edge_type_id>(t),
                       source.edges[t].original_name);
  return out;
}

/// All labels of the source that stand for none.
unlabelled_nodes labels_for_none(const npy_source& source) {
  unlabelled_nodes out;
  for (const auto& type : source.nodes) {
    out.insert(type.unlabelled.begin(), type.unlabelled.end());
    for (const auto& set : type.label_sets)
      out.insert(set.unlabelled.begin(), set.unlabelled.end());
  }
  return out;
}

result<void> copy_edges(const npy_edge_source& type, edge_type_id id,
                        edge_type_id reverse, row_norm norm,
                        dataset_writer& writer,
                        const progress_callback& on_progress) {
  const auto& edges = type.edges;
  const auto count = edges.shape()[1];
  std::vector<node_id> sources;
  std::vector<node_id> destinations;
  std::vector<float> weights;
  std::optional<npy_edge_scaler> scaler;
  auto step = values_at_once;
  if (type.features) {
    GRAPHMILL_TRY(scaler, npy_edge_scaler::make(*type.features, norm));
    step =
      std::max<std::int64_t>(1, values_at_once / columns_of(*type.features));
  }
  for (std::int64_t first = 0; first < count; first += step) {
    const auto n = std::min(step, count - first);
    std::span<const float> features;
    if (scaler) {
      GRAPHMILL_TRY(features, scaler->rows(first, n));
    }
    sources.resize(static_cast<std::size_t>(n));
    destinations.resize(static_cast<std::size_t>(n));
    GRAPHMILL_TRYV(copy_integers(edges, first, sources));
    GRAPHMILL_TRYV(copy_integers(edges, count + first, destinations));
    if (type.weights) {
      weights.resize(static_cast<std::size_t>(n));
      GRAPHMILL_TRYV(copy_weights(*type.weights, first, weights));
    }
    GRAPHMILL_TRYV(append_both_ways(writer, id, reverse, sources, destinations,
                                    weights, features));
    if (on_progress)
      on_progress({.phase = "read edges",
                   .done = static_cast<std::uint64_t>(first + n),
                   .total = static_cast<std::uint64_t>(count)});
  }
  return ok();
}

/// Gives the times of edges to the writer, also those of the other direction.
result<void> copy_edge_times(const npy_edge_source& type, edge_type_id id,
                             edge_type_id reverse,
                             const npy_import_options& options,
                             dataset_writer& writer) {
  GRAPHMILL_TRY(
    const auto times,
    read_npy_times(*type.task.times, options.times, options.on_note));
  for (const auto to : {id, reverse})
    if (to >= 0)
      GRAPHMILL_TRYV(writer.append_edge_times(to, times));
  return ok();
}

} // namespace

result<dataset_info> import_npy(const npy_import_options& options,
                                const std::filesystem::path& folder,
                                const progress_callback& on_progress) {
  const auto& wanted = options.changes.split;
  GRAPHMILL_TRY(const auto none, no_label_values::of(options.no_label));
  GRAPHMILL_TRY(
    const auto source,
    open_npy_source(options.source,
                    {.renumber = options.renumber_labels,
                     .times = options.node_times
                              || (wanted && wanted->order == split_order::time),
                     .multi_label = options.multi_label,
                     .regression = options.regression,
                     .multi_label_sets = options.multi_label_sets,
                     .regression_sets = options.regression_sets,
                     .ignore = options.ignore,
                     .tasks = names_of_tasks(options.changes.tasks),
                     .no_label = none}));
  GRAPHMILL_TRYV(expect_times(source, options));
  note_source(source, options.on_note);
  auto changes = options.changes;
  GRAPHMILL_TRY(changes.tasks, npy_task_requests(source, options.changes.tasks,
                                                 options.edge_times));
  GRAPHMILL_TRY(auto plan, begin_import(folder, declare(source, options),
                                        options.normalise, options.reverse,
                                        changes, on_progress));
  auto& [info, norms, edges, writer] = plan;
  GRAPHMILL_TRYV(write_original_names(folder, names_in(source, info, edges)));
  for (std::size_t t = 0; t < source.nodes.size(); ++t) {
    if (on_progress)
      on_progress(
        {.phase = "read nodes", .done = t, .total = source.nodes.size()});
    const auto id = static_cast<node_type_id>(t);
    GRAPHMILL_TRYV(copy_features(source.nodes[t], id, norms[t], writer));
    GRAPHMILL_TRYV(
      copy_labels(source.nodes[t], info.node_types[t], id, options, writer));
    if (info.node_types[t].timed) {
      GRAPHMILL_TRY(
        const auto times,
        read_npy_times(*source.nodes[t].times, options.times, options.on_note));
      GRAPHMILL_TRYV(writer.set_times(id, times));
    }
    if (source.nodes[t].feature_width > 0)
      GRAPHMILL_TRYV(write_feature_meaning(
        node_folder(folder, info, id),
        {.columns = {}, .scaled = std::string{to_string(norms[t])}}));
  }
  if (wanted) {
    GRAPHMILL_TRYV(split_target(source, info, *wanted, writer));
  }
  for (std::size_t t = 0; t < source.nodes.size(); ++t) {
    const auto id = static_cast<node_type_id>(t);
    GRAPHMILL_TRYV(copy_label_sets(source.nodes[t], info.node_types[t], id,
                                   id == info.target ? wanted : std::nullopt,
                                   writer, options.on_note));
  }
  const auto types = static_cast<edge_type_id>(source.edges.size());
  for (edge_type_id t = 0; t < types; ++t) {
    GRAPHMILL_TRYV(copy_edges(source.edges[t], t, edges.reverse[t],
                              edge_norm_of(info, t, changes), writer,
                              on_progress));
    if (options.edge_times && source.edges[t].task.times)
      GRAPHMILL_TRYV(
        copy_edge_times(source.edges[t], t, edges.reverse[t], options, writer));
    for (const auto id : {t, edges.reverse[t]})
      if (id >= 0 && source.edges[t].features)
        GRAPHMILL_TRYV(write_feature_meaning(
          edge_folder(folder, info, id),
          {.columns = {},
           .scaled = std::string{to_string(edge_norm_of(info, t, changes))}}));
  }
  GRAPHMILL_TRY(auto unlabelled, copy_npy_tasks(source, info, changes.tasks,
                                                none, options.on_note, writer));
  unlabelled.merge(labels_for_none(source));
  none.note_unused(unlabelled, options.on_note);
  if (auto fault = mapped_file::first_fault())
    return *std::move(fault);
  GRAPHMILL_TRY(auto written, writer.finish());
  note_dropped(writer, written, options.changes, options.on_note);
  note_tasks(writer, written, changes, options.on_note);
  GRAPHMILL_TRYV(note_mutual_pairs(folder, edges, options.on_note));
  return written;
}

result<std::vector<std::filesystem::path>>
npy_files(const npy_import_options& options) {
  GRAPHMILL_TRY(const auto folder,
                npy_folder::open(options.source, options.ignore));
  std::vector<std::filesystem::path> files;
  for (const auto& name : folder.names())
    if (name.ends_with(".npy") || name == "meta.json")
      files.push_back(folder.path() / name);
  return files;
}

} // namespace graphmill
