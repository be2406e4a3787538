#include "partition/writing/dataset_writer.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/memory_limit.hpp"
#include "partition/writing/feature_writer.hpp"
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
  std::vector<dropped_edges> dropped;
  std::vector<placed_edges> placed; ///< By edge type; only of leveled ones.
  std::vector<incoming_task> tasks; ///< As in `info`.
  bool spent = false;

  result<void> make_type_folders();
  result<void> check_node_type(node_type_id type, const char* name) const;
  result<node_type_info> shown_set(node_type_id type, std::size_t set) const;
  result<void> finish_nodes(node_type_id type);
  result<void> finish_edges(edge_type_id type);
  result<void> finish_tasks();
  std::uint64_t sort_bytes(edge_type_id type) const;
};

dataset_writer::dataset_writer() : impl_(std::make_unique<impl>()) {}
dataset_writer::dataset_writer(dataset_writer&&) noexcept = default;
dataset_writer& dataset_writer::operator=(dataset_writer&&) noexcept = default;
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
    std::ranges::for_each(task.edge_types, hold_out);
    for (const auto& type : task.reverse_types)
      hold_out(type.value_or(-1));
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

result<void> dataset_writer::impl::finish_nodes(node_type_id type) {
  auto& about = info.node_types[type];
  auto& state = nodes[type];
  const auto path = node_folder(folder, info, type);
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
  return ok();
}

result<void> dataset_writer::impl::finish_tasks() {
  if (tasks.empty())
    return ok();
  task_writer writer{folder, info, placed};
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!tasks[t].choose)
      return fail(ec::internal, "task {} is given no rows", info.tasks[t].name);
    GRAPHMILL_TRYV(writer.choose(t, tasks[t]));
  }
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e) {
    if (!info.edge_types[e].leveled)
      continue;
    GRAPHMILL_TRY(const auto levels, writer.levels(e));
    GRAPHMILL_TRY(const auto moved,
                  edges[e].arrange(info.edge_types[e], levels));
    for (auto& place : placed[e].places)
      if (place >= 0)
        place = moved[static_cast<std::size_t>(place)];
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
         + std::min(static_cast<std::uint64_t>(about.count)
                      * (about.weighted ? 12 : 8),
                    opts.memory_bytes);
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
    for (const auto& rows : written.task(t).splits)
      if (rows)
        GRAPHMILL_TRYV(check_rows(self.info, self.info.tasks[t], *rows));
  GRAPHMILL_TRY(const auto digests, digests_of(written, self.opts.on_progress));
  self.info.digest = digests.content;
  GRAPHMILL_TRYV(write_dataset_info(self.folder, self.info));
  GRAPHMILL_TRYV(write_array_digests(self.folder, digests.arrays));
  return self.info;
}

} // namespace graphmill
