#include "partition/writing/dataset_writer.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/memory_limit.hpp"
#include "partition/writing/feature_writer.hpp"
#include "partition/writing/kept_edge_features.hpp"
#include "partition/writing/kept_edges.hpp"
#include "partition/writing/kept_labels.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Memory for sorting that is taken even where there is little.
constexpr std::uint64_t least_sort_bytes = std::uint64_t{16} << 20;

struct node_state : kept_labels { ///< With the type's own labels.
  std::optional<feature_writer> features;
  std::vector<kept_labels> label_sets;
};

/// A type as a label set shows it, with a name for errors.
node_type_info described(const node_type_info& type,
                         const label_set_info& set) {
  auto out = with_labels_of(type, set);
  out.name += fmt::format(" (label set {})", set.name);
  return out;
}

result<void> make_type_folder(const fs::path& path) {
  // One folder at a time and not by create_directories, which would make the
  // dataset's own folder, too: if that is gone, nobody wants it any more (see
  // `folder_builder`).
  for (const auto& each : {path.parent_path(), path}) {
    std::error_code failed;
    fs::create_directory(each, failed);
    if (failed)
      return fail_errno(failed.value(), "cannot make the folder {}",
                        each.string());
  }
  return ok();
}

} // namespace

struct dataset_writer::impl {
  fs::path folder;
  dataset_info info;
  options opts;
  std::vector<node_state> nodes;
  std::vector<kept_edges> edges;
  std::vector<std::optional<kept_edge_features>> edge_features;
  /// By node type, of all nodes; by edge type, in the order of `append_edges`.
  std::vector<std::vector<std::int64_t>> node_times;
  std::vector<std::vector<std::int64_t>> edge_times;
  std::vector<bool> times_of_sources; ///< By edge type.
  std::vector<dropped_edges> dropped;
  /// By edge type; only of leveled ones, or while features are written.
  std::vector<placed_edges> placed;
  std::vector<incoming_task> tasks;         ///< As in `info`.
  std::vector<unlabelled_edges> unlabelled; ///< By task.
  bool spent = false;

  result<void> make_type_folders();
  result<void> check_node_type(node_type_id type, const char* name) const;
  result<node_type_info> shown_set(node_type_id type, std::size_t set) const;
  result<void> finish_nodes(node_type_id type);
  result<void> finish_edges(edge_type_id type);
  result<void> finish_tasks();
  result<void> finish_features(edge_type_id type);
  std::vector<std::int64_t> times_by_place(edge_type_id type) const;
  bool reverses_by_time(edge_type_id type) const;
  result<void> arrange(edge_type_id type, std::span<const std::uint8_t> levels);
  result<void> find_times(edge_type_id type);
  result<void> take_times(std::size_t task);
  std::uint64_t sort_bytes(edge_type_id type) const;
};

dataset_writer::dataset_writer() : impl_(std::make_unique<impl>()) {}
dataset_writer::dataset_writer(dataset_writer&&) noexcept = default;
dataset_writer::~dataset_writer() = default;

result<dataset_writer> dataset_writer::create(const fs::path& folder,
                                              dataset_info info, options opts) {
  for (auto& type : info.edge_types)
    type.leveled = false;
  const auto hold_out = [&info](edge_type_id type) {
    if (type >= 0 && type < std::ssize(info.edge_types))
      info.edge_types[static_cast<std::size_t>(type)].leveled = true;
  };
  for (auto& task : info.tasks) {
    task.split_counts = {};
    task.unlabelled = 0;
    std::ranges::for_each(task.edge_types, hold_out);
    for (const auto& type : task.reverse_types)
      hold_out(type.value_or(-1));
  }
  std::vector<bool> times_of_sources;
  for (auto& type : info.edge_types) {
    times_of_sources.push_back(
      !type.timed && type.source >= 0
      && type.source < std::ssize(info.node_types)
      && info.node_types[static_cast<std::size_t>(type.source)].timed);
    type.timed = type.timed || times_of_sources.back();
  }
  info.format_version = format_version_of(info);
  for (auto& type : info.node_types) {
    type.feature_entries = 0;
    type.most_row_entries = 0;
    type.split_counts = {};
    for (auto& set : type.label_sets)
      set.split_counts = {};
  }
  // What edges say of tasks is known when they are there.
  auto tasks = std::exchange(info.tasks, {});
  GRAPHMILL_TRYV(check_info(info, "the new dataset"));
  info.tasks = std::move(tasks);
  dataset_writer writer;
  auto& self = *writer.impl_;
  self.folder = folder;
  self.info = std::move(info);
  self.times_of_sources = std::move(times_of_sources);
  self.node_times.resize(self.info.node_types.size());
  self.edge_times.resize(self.info.edge_types.size());
  self.opts = std::move(opts);
  self.opts.memory_bytes =
    std::min(self.opts.memory_bytes,
             std::max(least_sort_bytes, memory_available().bytes / 4));
  GRAPHMILL_TRYV(self.make_type_folders());
  return writer;
}

result<void> dataset_writer::impl::make_type_folders() {
  nodes.resize(info.node_types.size());
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    const auto path = node_folder(folder, info, t);
    GRAPHMILL_TRYV(make_type_folder(path));
    nodes[t].label_sets.resize(info.node_types[t].label_sets.size());
    if (info.node_types[t].feature_width > 0) {
      GRAPHMILL_TRY(nodes[t].features,
                    feature_writer::create(path, info.node_types[t]));
    }
  }
  dropped.resize(info.edge_types.size());
  placed.resize(info.edge_types.size());
  tasks.resize(info.tasks.size());
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t) {
    const auto path = edge_folder(folder, info, t);
    GRAPHMILL_TRYV(make_type_folder(path));
    const auto i = static_cast<std::size_t>(t);
    GRAPHMILL_TRY(
      auto kept,
      kept_edges::create(path, info, t,
                         i < opts.edges.size() ? opts.edges[i] : edge_rules{}));
    edges.push_back(std::move(kept));
    auto& features = edge_features.emplace_back();
    if (info.edge_types[i].feature_width > 0) {
      GRAPHMILL_TRY(features, kept_edge_features::create(path, info, t));
    }
  }
  return ok();
}

result<void> dataset_writer::impl::check_node_type(node_type_id type,
                                                   const char* name) const {
  if (spent)
    return fail(ec::internal, "{} given to a dataset that is finished", name);
  if (type < 0 || type >= std::ssize(info.node_types))
    return fail(ec::internal, "{} given for node type {}, which is not there",
                name, type);
  return ok();
}

/// The type as the set shows it, with a name for errors.
result<node_type_info> dataset_writer::impl::shown_set(node_type_id type,
                                                       std::size_t set) const {
  GRAPHMILL_TRYV(check_node_type(type, "a label set"));
  const auto& about = info.node_types[type];
  if (set >= about.label_sets.size())
    return fail(ec::internal, "label set {} of {} is given, of {}", set,
                about.name, about.label_sets.size());
  return described(about, about.label_sets[set]);
}

result<void> dataset_writer::append_features(node_type_id type,
                                             std::span<const float> rows) {
  GRAPHMILL_TRYV(impl_->check_node_type(type, "features"));
  auto& out = impl_->nodes[type].features;
  if (!out)
    return fail(ec::invalid_data,
                "features given for {}, whose feature width is 0",
                impl_->info.node_types[type].name);
  return out->append(rows);
}

result<void> dataset_writer::set_labels(node_type_id type,
                                        std::span<const std::int64_t> labels) {
  GRAPHMILL_TRYV(impl_->check_node_type(type, "labels"));
  return impl_->nodes[type].take_classes(impl_->info.node_types[type], labels);
}

result<void> dataset_writer::set_label_rows(node_type_id type,
                                            std::vector<std::uint8_t> rows) {
  GRAPHMILL_TRYV(impl_->check_node_type(type, "labels"));
  return impl_->nodes[type].take_rows(impl_->info.node_types[type],
                                      std::move(rows));
}

result<void> dataset_writer::set_split(node_type_id type, split which,
                                       std::span<const node_id> ids) {
  GRAPHMILL_TRYV(impl_->check_node_type(type, "a split"));
  impl_->nodes[type].splits[static_cast<std::size_t>(which)].assign(ids.begin(),
                                                                    ids.end());
  return ok();
}

result<void>
dataset_writer::set_label_set(node_type_id type, std::size_t set,
                              std::span<const std::int64_t> labels,
                              std::array<std::vector<node_id>, 3> splits) {
  GRAPHMILL_TRY(const auto shown, impl_->shown_set(type, set));
  auto& state = impl_->nodes[type].label_sets[set];
  state.splits = std::move(splits);
  return state.take_classes(shown, labels);
}

result<void>
dataset_writer::set_label_set_rows(node_type_id type, std::size_t set,
                                   std::vector<std::uint8_t> rows,
                                   std::array<std::vector<node_id>, 3> splits) {
  GRAPHMILL_TRY(const auto shown, impl_->shown_set(type, set));
  auto& state = impl_->nodes[type].label_sets[set];
  state.splits = std::move(splits);
  return state.take_rows(shown, std::move(rows));
}

result<void> dataset_writer::append_edges(edge_type_id type,
                                          std::span<const node_id> sources,
                                          std::span<const node_id> destinations,
                                          std::span<const float> weights) {
  auto& self = *impl_;
  if (self.spent || type < 0 || type >= std::ssize(self.info.edge_types)
      || sources.size() != destinations.size())
    return fail(ec::internal,
                "{} sources and {} destinations given for edge "
                "type {}",
                sources.size(), destinations.size(), type);
  return self.edges[type].append(sources, destinations, weights);
}

result<void> dataset_writer::append_edge_features(edge_type_id type,
                                                  std::span<const float> rows) {
  auto& self = *impl_;
  if (self.spent || type < 0 || type >= std::ssize(self.info.edge_types)
      || !self.edge_features[type])
    return fail(ec::internal,
                "features of edges given for edge type {}, which has none",
                type);
  return self.edge_features[type]->append(rows);
}

result<void> dataset_writer::set_times(node_type_id type,
                                       std::span<const std::int64_t> times) {
  GRAPHMILL_TRYV(impl_->check_node_type(type, "times"));
  const auto& about = impl_->info.node_types[type];
  if (!about.timed || std::ssize(times) != about.count)
    return fail(ec::internal, "{} times given for {}, which has {} nodes",
                times.size(), about.name, about.count);
  impl_->node_times[type].assign(times.begin(), times.end());
  return ok();
}

result<void>
dataset_writer::append_edge_times(edge_type_id type,
                                  std::span<const std::int64_t> times) {
  auto& self = *impl_;
  if (self.spent || type < 0 || type >= std::ssize(self.info.edge_types)
      || !self.info.edge_types[type].timed || self.times_of_sources[type])
    return fail(ec::internal,
                "times of edges given for edge type {}, which has none", type);
  auto& to = self.edge_times[type];
  to.insert(to.end(), times.begin(), times.end());
  return ok();
}

result<void> dataset_writer::impl::finish_nodes(node_type_id type) {
  auto& about = info.node_types[type];
  auto& state = nodes[type];
  const auto path = node_folder(folder, info, type);
  if (about.timed) {
    if (std::ssize(node_times[type]) != about.count)
      return fail(ec::internal, "no times given for the nodes of {}",
                  about.name);
    GRAPHMILL_TRYV(
      write_npy<std::int64_t>(path / times_file, node_times[type]));
  }
  if (state.features) {
    GRAPHMILL_TRYV(state.features->finish(about));
  }
  // Of a task of edges, rows are the seeds.
  const auto needs_seeds =
    opts.needs_seeds && type == info.target && tasks.empty();
  GRAPHMILL_TRYV(state.write(
    path, about, "", needs_seeds && about.class_count > 0, about.split_counts));
  for (std::size_t s = 0; s < about.label_sets.size(); ++s) {
    auto& set = about.label_sets[s];
    GRAPHMILL_TRYV(state.label_sets[s].write(
      path, described(about, set), set.name, needs_seeds, set.split_counts));
  }
  state = {};
  return ok();
}

result<void> dataset_writer::impl::finish_edges(edge_type_id type) {
  auto& about = info.edge_types[type];
  auto name_of = [this, source = about.source](node_id id) {
    return opts.name_of ? opts.name_of(source, id) : fmt::format("node {}", id);
  };
  GRAPHMILL_TRYV(edges[type].write(about, opts.memory_bytes, opts.on_progress,
                                   std::move(name_of), placed[type]));
  dropped[type] = edges[type].dropped();
  // An event is no duplicate of another one.
  if (about.timed && !times_of_sources[type] && dropped[type].duplicates > 0)
    return fail(
      ec::invalid_data,
      "{}: {} edges join nodes that an earlier edge joins, have times "
      "of their own, and would be lost: --undirected is for pairs of "
      "nodes with one edge; take --reverse, which keeps all edges",
      info.edge_type_name(type), dropped[type].duplicates);
  if (about.timed) {
    GRAPHMILL_TRYV(find_times(type));
  }
  if (about.leveled)
    return ok();
  if (about.timed) {
    GRAPHMILL_TRYV(arrange(type, {}));
    edge_times[type] = {};
  }
  GRAPHMILL_TRYV(finish_features(type));
  placed[type] = {};
  return ok();
}

/// Times of edges that have none of their own, and whether all others do.
result<void> dataset_writer::impl::find_times(edge_type_id type) {
  auto& times = edge_times[type];
  const auto& given = placed[type];
  if (times_of_sources[type])
    for (const auto source : given.sources)
      times.push_back(source < 0
                        ? 0
                        : node_times[info.edge_types[type].source]
                                    [static_cast<std::size_t>(source)]);
  if (times.size() != given.places.size())
    return fail(ec::internal, "{} times given for {} edges of {}", times.size(),
                given.places.size(), info.edge_type_name(type));
  return ok();
}

/// [edges] In the order of lists; empty: the type has no times.
std::vector<std::int64_t>
dataset_writer::impl::times_by_place(edge_type_id type) const {
  const auto& about = info.edge_types[type];
  const auto& places = placed[type];
  std::vector<std::int64_t> times;
  if (!about.timed)
    return times;
  times.resize(static_cast<std::size_t>(about.count));
  for (const auto* list : {&places.places, &places.opposites})
    for (std::size_t i = 0; i < list->size(); ++i)
      if ((*list)[i] >= 0)
        times[static_cast<std::size_t>((*list)[i])] =
          times_of_sources[type] && list == &places.opposites
            ? node_times[about.source]
                        [static_cast<std::size_t>(places.destinations[i])]
            : edge_times[type][i];
  return times;
}

/// Whether edges of the type have the times of those that they are the reverse
/// of. The time of a source says nothing of the other direction.
bool dataset_writer::impl::reverses_by_time(edge_type_id type) const {
  if (times_of_sources[type] || !info.edge_types[type].timed)
    return false;
  for (const auto& task : info.tasks)
    for (std::size_t i = 0; i < task.edge_types.size(); ++i)
      if (task.reverse_types[i] == type && times_of_sources[task.edge_types[i]])
        return false;
  return true;
}

/// Sorts lists by level and time, and puts what is known by place in order.
result<void>
dataset_writer::impl::arrange(edge_type_id type,
                              std::span<const std::uint8_t> levels) {
  const auto& about = info.edge_types[type];
  auto& places = placed[type];
  const auto times = times_by_place(type);
  GRAPHMILL_TRY(const auto moved, edges[type].arrange(about, levels, times));
  for (auto* list : {&places.places, &places.opposites})
    for (auto& place : *list)
      if (place >= 0)
        place = moved[static_cast<std::size_t>(place)];
  return ok();
}

/// Rows of edges with times have these times.
result<void> dataset_writer::impl::take_times(std::size_t task) {
  auto& about = info.tasks[task];
  const auto is_timed = [this](edge_type_id type) {
    return info.edge_types[static_cast<std::size_t>(type)].timed;
  };
  if (std::ranges::none_of(about.edge_types, is_timed))
    return ok();
  if (!std::ranges::all_of(about.edge_types, is_timed))
    return fail(
      ec::invalid_data,
      "task {}: edges of some of its types have times and others have "
      "none; give all of them times, or make a task of each",
      about.name);
  if (about.timed)
    return fail(ec::invalid_data,
                "task {}: its edges have times (--edge-time), which its rows "
                "take; leave out the times of rows (--task-time)",
                about.name);
  about.timed = true;
  tasks[task].times.clear();
  for (const auto type : about.edge_types) {
    const auto& from = edge_times[static_cast<std::size_t>(type)];
    tasks[task].times.emplace_back(from.begin(), from.end());
  }
  return ok();
}

/// Once the places of all edges are known.
result<void> dataset_writer::impl::finish_features(edge_type_id type) {
  if (!edge_features[type])
    return ok();
  GRAPHMILL_TRYV(
    edge_features[type]->write(info.edge_types[type].count, placed[type]));
  return ok();
}

result<void> dataset_writer::impl::finish_tasks() {
  if (tasks.empty())
    return ok();
  task_writer writer{folder, info, placed};
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!tasks[t].choose)
      return fail(ec::internal, "task {} is given no rows", info.tasks[t].name);
    GRAPHMILL_TRYV(take_times(t));
    GRAPHMILL_TRY(unlabelled.emplace_back(), writer.choose(t, tasks[t]));
  }
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e) {
    if (!info.edge_types[e].leveled)
      continue;
    GRAPHMILL_TRY(const auto levels,
                  writer.levels(e, reverses_by_time(e)
                                     ? times_by_place(e)
                                     : std::vector<std::int64_t>{}));
    GRAPHMILL_TRYV(arrange(e, levels));
    GRAPHMILL_TRYV(finish_features(e));
  }
  for (std::size_t t = 0; t < tasks.size(); ++t)
    GRAPHMILL_TRYV(writer.write(t, tasks[t]));
  return ok();
}

result<void> dataset_writer::set_task(std::size_t task, incoming_task rows) {
  auto& self = *impl_;
  if (self.spent || task >= self.tasks.size())
    return fail(ec::internal, "rows are given for task {} of {}", task,
                self.tasks.size());
  self.tasks[task] = std::move(rows);
  return ok();
}

std::uint64_t dataset_writer::impl::sort_bytes(edge_type_id type) const {
  const auto& about = info.edge_types[type];
  const auto nodes = info.node_types[about.source].count
                     + info.node_types[about.destination].count;
  return static_cast<std::uint64_t>(nodes) * (about.weighted ? 28 : 12)
         + static_cast<std::uint64_t>(about.count)
             * (about.feature_width > 0 ? 32 : 0)
         + std::min(static_cast<std::uint64_t>(about.count)
                      * (about.weighted ? 12 : 8),
                    opts.memory_bytes);
}

const std::vector<unlabelled_edges>& dataset_writer::unlabelled() const {
  return impl_->unlabelled;
}

const std::vector<dropped_edges>& dataset_writer::dropped() const {
  return impl_->dropped;
}

result<dataset_info> dataset_writer::finish() {
  auto& self = *impl_;
  if (self.spent)
    return fail(ec::internal, "a dataset is finished twice");
  self.spent = true;
  for (node_type_id t = 0; t < std::ssize(self.info.node_types); ++t) {
    GRAPHMILL_TRYV(self.finish_nodes(t));
  }
  for (edge_type_id t = 0; t < std::ssize(self.info.edge_types); ++t) {
    try {
      GRAPHMILL_TRYV(self.finish_edges(t));
    } catch (const std::bad_alloc&) {
      return fail(ec::out_of_memory,
                  "sorting {} takes about {} bytes of memory, which are not "
                  "there",
                  self.info.edge_type_name(t), self.sort_bytes(t));
    }
  }
  try {
    GRAPHMILL_TRYV(self.finish_tasks());
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "memory ran out while the tasks of {} were written: leave out "
                "a task, or edges",
                self.info.name);
  }
  // Opening it again checks that what was written is what can be read.
  GRAPHMILL_TRY(const auto written, dataset::open(self.folder, self.info));
  for (std::size_t t = 0; t < self.info.tasks.size(); ++t)
    for (auto which : all_splits)
      if (const auto& rows =
            written.task(t).splits[static_cast<std::size_t>(which)])
        GRAPHMILL_TRYV(check_rows(self.info, self.info.tasks[t], which, *rows));
  GRAPHMILL_TRY(const auto digests, digests_of(written, self.opts.on_progress));
  self.info.digest = digests.content;
  GRAPHMILL_TRYV(write_dataset_info(self.folder, self.info));
  GRAPHMILL_TRYV(write_array_digests(self.folder, digests.arrays));
  return self.info;
}

} // namespace graphmill
