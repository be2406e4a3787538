#include "partition/growing/grown_dataset.hpp"

#include "messages/base/pluralized.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "partition/growing/grown_arrays.hpp"
#include "partition/growing/grown_tasks.hpp"
#include "partition/growing/new_arrays.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr const char* growth_name = "growth.json";
constexpr std::size_t largest_growth = std::size_t{1} << 24;
constexpr std::size_t largest_import_record = std::size_t{1} << 28;

/// What stands in a dataset's folder and stays as it is.
constexpr std::array kept_names{"original_names.json", "rejected_rows.csv"};
/// What tables were taken for. New tables have a record that goes on from it.
constexpr auto tables_name = "columns.json";
constexpr std::string_view meaning_name = "features.json";

/// Names that may stand in the folder of a node type.
std::set<std::string> node_files(const node_type_info& type) {
  std::set<std::string> out{features_file,
                            times_file,
                            sparse_indptr_file,
                            sparse_indices_file,
                            sparse_values_file,
                            ids_file,
                            std::string{meaning_name}};
  const auto add_set = [&out](std::string_view set) {
    out.insert(labels_file(set));
    for (const auto which : all_splits)
      out.insert(seeds_file(which, set));
  };
  add_set("");
  for (const auto& set : type.label_sets)
    add_set(set.name);
  return out;
}

std::set<std::string> edge_files() {
  return {
    "indptr.npy", "indices.npy",   "in_degrees.npy",         "out_degrees.npy",
    weights_file, in_weights_file, out_weights_file,         features_file,
    times_file,   visible_file,    std::string{meaning_name}};
}

std::set<std::string> task_files() {
  std::set<std::string> out;
  for (const auto which : all_splits)
    for (const auto* name :
         {"edges", "ids", "types", "labels", "times", "weights", "negatives",
          "exclude.rows", "exclude.indptr", "exclude.ids", "exclude.types",
          "exclude.ends", "known.rows", "known.indptr", "known.ids"})
      out.insert(task_file("", file_stem(which), name).filename().string());
  return out;
}

/// Fails if a folder has anything else.
result<void> expect_known_files(const fs::path& folder,
                                const std::set<std::string>& known) {
  std::error_code failed;
  for (fs::directory_iterator at{folder, failed}, end; !failed && at != end;
       at.increment(failed))
    if (!known.contains(at->path().filename().string()))
      return fail(ec::invalid_argument,
                  "append does not know {}, which it would lose; move it away, "
                  "or import all tables again",
                  at->path().string());
  if (failed)
    return fail_errno(failed.value(), "cannot look into {}", folder.string());
  return ok();
}

/// The new part of a node type; null: there is none.
struct new_nodes_of_type {
  const node_type_info* info = nullptr;
  const dataset::node_arrays* arrays = nullptr;
  std::int64_t count() const { return info == nullptr ? 0 : info->count; }
};

new_nodes_of_type new_nodes_of(const dataset& nodes, std::string_view name) {
  const auto type = nodes.info().find_node_type(name);
  if (!type)
    return {};
  return {&nodes.info().node_types[static_cast<std::size_t>(*type)],
          &nodes.nodes(*type)};
}

array_form labels_form(label_kind kind, std::int64_t class_count) {
  if (kind == label_kind::classes)
    return {dtype::int64};
  return {kind == label_kind::regression ? dtype::float32 : dtype::uint8,
          {class_count}};
}

/// Writes a dataset with what is new.
class grower {
public:
  grower(const dataset& before, const dataset& nodes, const dataset& edges,
         const fs::path& folder, bool rolls)
    : before_(before), nodes_(nodes), edges_(edges), folder_(folder),
      rolls_(rolls), info_(before.info()) {}

  result<growth_report> run(const progress_callback& on_progress,
                            const std::atomic<bool>* stop);

private:
  result<void> add_nodes(node_type_id type);
  result<void> add_labels(std::string_view set, const node_type_info& shown,
                          const dataset::label_arrays& before,
                          const new_nodes_of_type& more, const fs::path& to,
                          std::array<std::int64_t, 3>& split_counts);
  result<void> roll_seeds(std::string_view set, const node_type_info& shown,
                          const dataset::label_arrays& before,
                          std::array<std::vector<std::int64_t>, 3> fresh,
                          std::int64_t shift, const fs::path& to,
                          std::array<std::int64_t, 3>& split_counts);
  result<void> add_features(node_type_id type, const new_nodes_of_type& more,
                            const fs::path& to);
  result<void> add_sparse(node_type_id type, const new_nodes_of_type& more,
                          const fs::path& to);
  result<void> add_ids(node_type_id type, const new_nodes_of_type& more,
                       const fs::path& to) const;
  result<void> add_edges(edge_type_id type);
  result<void> add_records() const;

  const dataset& before_;
  const dataset& nodes_;
  const dataset& edges_;
  const fs::path& folder_;
  bool rolls_;
  dataset_info info_;
  std::map<std::string, rolled_rows> rolled_nodes_;
  std::optional<grown_tasks> tasks_; ///< Once nodes are there.
};

error other_shape(std::string_view type, std::string_view what) {
  return fail(ec::invalid_data,
              "new nodes of type {} have other {} than those "
              "that are there",
              type, what);
}

result<void> grower::add_labels(std::string_view set,
                                const node_type_info& shown,
                                const dataset::label_arrays& before,
                                const new_nodes_of_type& more,
                                const fs::path& to,
                                std::array<std::int64_t, 3>& counts) {
  const dataset::label_arrays* given = nullptr;
  if (more.count() > 0 && set.empty() && more.info->class_count > 0) {
    if (more.info->labels != shown.labels
        || more.info->class_count != shown.class_count)
      return other_shape(shown.name, "labels");
    given = more.arrays;
  }
  if (more.count() > 0 && !set.empty())
    for (std::size_t s = 0; s < more.info->label_sets.size(); ++s)
      if (const auto& about = more.info->label_sets[s]; about.name == set) {
        if (about.labels != shown.labels
            || about.class_count != shown.class_count)
          return other_shape(shown.name, fmt::format("labels {}", set));
        given = &more.arrays->label_sets[s];
      }
  const auto* fresh =
    given != nullptr && given->labels ? &*given->labels : nullptr;
  const auto* old = before.labels ? &*before.labels : nullptr;
  if (old != nullptr || fresh != nullptr) {
    std::vector<std::uint8_t> bytes;
    if (old == nullptr)
      bytes = unknown_labels(shown.labels, shown.class_count,
                             shown.count - more.count());
    if (fresh != nullptr) {
      const auto* known = reinterpret_cast<const std::uint8_t*>(fresh->data());
      bytes.insert(bytes.end(), known, known + fresh->bytes().size());
    } else {
      const auto none =
        unknown_labels(shown.labels, shown.class_count, more.count());
      bytes.insert(bytes.end(), none.begin(), none.end());
    }
    GRAPHMILL_TRYV(
      write_longer(old, labels_form(shown.labels, shown.class_count),
                   std::as_bytes(std::span{bytes}), to / labels_file(set)));
  }
  if (rolls_) {
    std::array<std::vector<std::int64_t>, 3> seeds;
    for (std::size_t s = 0; s < seeds.size(); ++s)
      if (given != nullptr && given->splits[s]) {
        GRAPHMILL_TRY(const auto own, given->splits[s]->as<std::int64_t>());
        seeds[s].assign(own.begin(), own.end());
      }
    return roll_seeds(set, shown, before, std::move(seeds),
                      shown.count - more.count(), to, counts);
  }
  for (const auto which : all_splits) {
    const auto s = static_cast<std::size_t>(which);
    const auto* ids = before.splits[s] ? &*before.splits[s] : nullptr;
    std::span<const std::int64_t> seeds;
    if (given != nullptr && given->splits[s]) {
      GRAPHMILL_TRY(seeds, given->splits[s]->as<std::int64_t>());
    }
    if (ids == nullptr && seeds.empty())
      continue;
    GRAPHMILL_TRYV(write_longer_ids(ids, seeds, shown.count - more.count(),
                                    to / seeds_file(which, set)));
    counts[s] += std::ssize(seeds);
  }
  return ok();
}

/// Seeds of all old splits become training seeds, but for those without a
/// label. They stand by ids if those of each split do, and else split after
/// split.
/// @param fresh Seeds among new nodes, numbered from the first new node.
/// @param shift How many old nodes there are; it is added to those numbers.
result<void> grower::roll_seeds(std::string_view set,
                                const node_type_info& shown,
                                const dataset::label_arrays& before,
                                std::array<std::vector<std::int64_t>, 3> fresh,
                                std::int64_t shift, const fs::path& to,
                                std::array<std::int64_t, 3>& counts) {
  std::vector<std::int64_t> learnt;
  auto sorted = true;
  const auto is_labelled = [&](std::int64_t id) {
    return before.labels && id >= 0 && id < before.labels->rows()
           && is_known(shown.labels, shown.class_count, *before.labels,
                       static_cast<std::size_t>(id));
  };
  rolled_rows rolled;
  for (const auto which : all_splits) {
    const auto& ids = before.splits[static_cast<std::size_t>(which)];
    if (!ids)
      continue;
    GRAPHMILL_TRY(const auto own, ids->as<std::int64_t>());
    sorted = sorted && std::is_sorted(own.begin(), own.end());
    for (const auto id : own) {
      const auto learns = which == split::train || is_labelled(id);
      if (learns)
        learnt.push_back(id);
      if (which != split::train)
        ++(learns ? rolled.moved : rolled.left_out);
    }
  }
  if (sorted)
    std::ranges::sort(learnt);
  for (const auto which : all_splits) {
    const auto s = static_cast<std::size_t>(which);
    for (auto& id : fresh[s])
      id += shift;
    if (which == split::train)
      fresh[s].insert(fresh[s].begin(), learnt.begin(), learnt.end());
    counts[s] = std::ssize(fresh[s]);
    if (before.splits[s] || !fresh[s].empty())
      GRAPHMILL_TRYV(
        write_npy<std::int64_t>(to / seeds_file(which, set), fresh[s]));
  }
  if (rolled.moved + rolled.left_out > 0)
    rolled_nodes_[set.empty() ? shown.name
                              : fmt::format("{}, labels {}", shown.name, set)] =
      rolled;
  return ok();
}

result<void> grower::add_sparse(node_type_id type,
                                const new_nodes_of_type& more,
                                const fs::path& to) {
  auto& about = info_.node_types[static_cast<std::size_t>(type)];
  const auto& before = *before_.nodes(type).sparse;
  std::span<const std::int64_t> rows;
  if (more.count() > 0) {
    GRAPHMILL_TRY(rows, more.arrays->sparse->rows());
    rows = rows.subspan(1);
  }
  const auto bytes_after = [&](const npy_array dataset::sparse_arrays::*part) {
    return more.count() == 0 ? std::span<const std::byte>{}
                             : (*more.arrays->sparse.*part).bytes();
  };
  GRAPHMILL_TRYV(write_longer_ids(&before.indptr, rows, about.feature_entries,
                                  to / sparse_indptr_file));
  GRAPHMILL_TRYV(write_longer(&before.indices, {},
                              bytes_after(&dataset::sparse_arrays::indices),
                              to / sparse_indices_file));
  GRAPHMILL_TRYV(write_longer(&before.values, {},
                              bytes_after(&dataset::sparse_arrays::values),
                              to / sparse_values_file));
  if (more.count() > 0) {
    about.feature_entries += more.info->feature_entries;
    about.most_row_entries =
      std::max(about.most_row_entries, more.info->most_row_entries);
  }
  return ok();
}

result<void> grower::add_features(node_type_id type,
                                  const new_nodes_of_type& more,
                                  const fs::path& to) {
  const auto& about = info_.node_types[static_cast<std::size_t>(type)];
  if (about.feature_width == 0)
    return ok();
  // Nodes that edges name may have none; then nobody of the type has.
  if (more.count() > 0
      && (more.info->feature_width != about.feature_width
          || more.info->feature_type != about.feature_type
          || more.info->sparse_features != about.sparse_features))
    return other_shape(about.name, "features");
  if (about.sparse_features)
    return add_sparse(type, more, to);
  return write_longer(&*before_.nodes(type).features, {},
                      more.count() == 0 ? std::span<const std::byte>{}
                                        : more.arrays->features->bytes(),
                      to / features_file);
}

result<void> grower::add_ids(node_type_id type, const new_nodes_of_type& more,
                             const fs::path& to) const {
  const auto from = node_folder(before_.folder(), before_.info(), type);
  std::error_code failed;
  if (!fs::exists(from / ids_file, failed))
    return ok();
  if (more.count() == 0)
    return take_file(from / ids_file, to / ids_file);
  const auto fresh = nodes_.folder() / "nodes" / more.info->name / ids_file;
  if (!fs::exists(fresh, failed))
    return fail(
      ec::invalid_argument,
      "nodes of type {} have ids, and the new ones are given without; {}",
      more.info->name, instead_of_arrays(before_.folder()));
  fs::copy_file(from / ids_file, to / ids_file, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot copy {}",
                      (from / ids_file).string());
  GRAPHMILL_TRY(const auto text,
                read_text(fresh, std::numeric_limits<std::size_t>::max()));
  GRAPHMILL_TRY(const auto file, open_file(to / ids_file, O_WRONLY | O_APPEND));
  // Other programs may end the last line without a line break.
  std::ifstream last{from / ids_file, std::ios::binary};
  if (last.seekg(-1, std::ios::end) && last.get() != '\n')
    GRAPHMILL_TRYV(write_all(file.get(),
                             std::as_bytes(std::span{std::string_view{"\n"}}),
                             to / ids_file));
  return write_all(file.get(), std::as_bytes(std::span{text}), to / ids_file);
}

result<void> grower::add_nodes(node_type_id type) {
  auto& about = info_.node_types[static_cast<std::size_t>(type)];
  const auto more = new_nodes_of(nodes_, about.name);
  const auto to = node_folder(folder_, info_, type);
  GRAPHMILL_TRYV(make_folders(to));
  about.count += more.count();
  GRAPHMILL_TRYV(add_features(type, more, to));
  const auto& before = before_.nodes(type);
  if (before.times) {
    if (more.count() > 0 && !more.arrays->times)
      return other_shape(about.name, "times");
    GRAPHMILL_TRYV(write_longer(&*before.times, {},
                                more.count() == 0 ? std::span<const std::byte>{}
                                                  : more.arrays->times->bytes(),
                                to / times_file));
  }
  GRAPHMILL_TRYV(add_labels("", about, before, more, to, about.split_counts));
  for (std::size_t s = 0; s < about.label_sets.size(); ++s) {
    auto& set = about.label_sets[s];
    GRAPHMILL_TRYV(add_labels(set.name, with_labels_of(about, set),
                              before.label_sets[s], more, to,
                              set.split_counts));
  }
  return add_ids(type, more, to);
}

result<void> grower::add_edges(edge_type_id type) {
  auto& about = info_.edge_types[static_cast<std::size_t>(type)];
  const auto name = info_.edge_type_name(type);
  const auto there = edges_.info().find_edge_type(name);
  const auto& more = there ? &edges_.edges(*there) : nullptr;
  if (there) {
    const auto& given =
      edges_.info().edge_types[static_cast<std::size_t>(*there)];
    if (given.timed != about.timed
        || (about.timed
            && edges_.info().ticks_per_second != info_.ticks_per_second))
      return fail(ec::invalid_data,
                  "new edges of {} have other times than those that are there",
                  name);
    if (given.weighted != about.weighted
        || given.feature_width != about.feature_width
        || given.feature_type != about.feature_type)
      return fail(ec::invalid_data,
                  "new edges of {} have other weights or features than those "
                  "that are there",
                  name);
  }
  const auto to = edge_folder(folder_, info_, type);
  GRAPHMILL_TRYV(make_folders(to));
  const auto& source = info_.node_types[static_cast<std::size_t>(about.source)];
  const auto& destination =
    info_.node_types[static_cast<std::size_t>(about.destination)];
  const auto same_nodes = [&](node_type_id of) {
    const auto i = static_cast<std::size_t>(of);
    return before_.info().node_types[i].count == info_.node_types[i].count;
  };
  // New rows can hold out old edges of a reverse type.
  const auto levels_stay = !about.leveled || tasks_->stay();
  if ((more == nullptr || more->indices.size() == 0) && levels_stay
      && same_nodes(about.source) && same_nodes(about.destination)) {
    for (const auto* array : before_.edges(type).all())
      GRAPHMILL_TRYV(take_file(array->path(), to / array->path().filename()));
    return ok();
  }
  std::optional<grown_order> order;
  if (about.leveled) {
    GRAPHMILL_TRY(order, tasks_->order_of(type));
  }
  return write_grown_edges({before_.edges(type), more, destination.count,
                            source.count, order ? &*order : nullptr},
                           name, to, about);
}

/// Files beside the arrays, and what has been appended.
result<void> grower::add_records() const {
  std::error_code failed;
  const auto take = [&](const fs::path& name) -> result<void> {
    if (!fs::exists(before_.folder() / name, failed))
      return ok();
    return take_file(before_.folder() / name, folder_ / name);
  };
  const auto tables = edges_.folder() / tables_name;
  if (fs::exists(tables, failed)) {
    GRAPHMILL_TRYV(take_file(tables, folder_ / tables_name));
  } else {
    GRAPHMILL_TRYV(take(tables_name));
  }
  for (const auto* name : kept_names)
    GRAPHMILL_TRYV(take(name));
  for (const auto& type : info_.node_types)
    GRAPHMILL_TRYV(take(fs::path{"nodes"} / type.name / meaning_name));
  for (edge_type_id e = 0; e < std::ssize(info_.edge_types); ++e)
    GRAPHMILL_TRYV(
      take(fs::path{"edges"} / info_.edge_type_name(e) / meaning_name));
  GRAPHMILL_TRY(auto steps, read_growth(before_.folder()));
  growth step{before_.info().digest};
  for (const auto& type : nodes_.info().node_types)
    step.nodes += type.count;
  for (const auto& type : edges_.info().edge_types)
    step.edges += type.count;
  GRAPHMILL_TRY(step.drops_self_loops, drops_self_loops(before_.folder()));
  steps.push_back(std::move(step));
  auto record = nlohmann::json::array();
  for (const auto& each : steps)
    record.push_back({{"before", each.before},
                      {"nodes", each.nodes},
                      {"edges", each.edges},
                      {"drops_self_loops", each.drops_self_loops}});
  return write_text(folder_ / growth_name, record.dump(2) + '\n');
}

/// Fails if there is a type that the dataset lacks.
result<void> expect_types_of(const dataset_info& before,
                             const dataset_info& more) {
  for (const auto& type : more.node_types)
    if (!before.find_node_type(type.name))
      return fail(ec::invalid_argument, "{} has no node type {}", before.name,
                  type.name);
  for (edge_type_id e = 0; e < std::ssize(more.edge_types); ++e)
    if (const auto name = more.edge_type_name(e); !before.find_edge_type(name))
      return fail(ec::invalid_argument, "{} has no edge type {}", before.name,
                  name);
  return ok();
}

/// The name of the first edge type for which `first_overlap` finds a list.
/// Empty: there is none.
result<std::string> mixed_edges(const dataset& data) {
  for (edge_type_id e = 0; e < std::ssize(data.info().edge_types); ++e) {
    const auto& edges = data.edges(e);
    if (!edges.times || !edges.visible)
      continue;
    GRAPHMILL_TRY(const auto lists, checked_lists(edges));
    GRAPHMILL_TRY(const auto times, edges.times->as<std::int64_t>());
    GRAPHMILL_TRY(const auto visible, edges.visible->as<std::int32_t>());
    if (first_overlap(lists, times, visible))
      return data.info().edge_type_name(e);
  }
  return std::string{};
}

result<growth_report> grower::run(const progress_callback& on_progress,
                                  const std::atomic<bool>* stop) {
  GRAPHMILL_TRYV(expect_types_of(before_.info(), nodes_.info()));
  GRAPHMILL_TRYV(expect_types_of(before_.info(), edges_.info()));
  const auto types = info_.node_types.size() + info_.edge_types.size();
  std::size_t done = 0;
  const auto tell = [&]() -> result<void> {
    if (stop != nullptr && stop->load(std::memory_order_relaxed))
      return fail(ec::cancelled,
                  "stopped on request while arrays of {} were "
                  "written",
                  before_.folder().string());
    if (on_progress)
      on_progress({.phase = "write arrays", .done = done++, .total = types});
    return ok();
  };
  for (node_type_id t = 0; t < std::ssize(info_.node_types); ++t) {
    GRAPHMILL_TRYV(tell());
    GRAPHMILL_TRYV(add_nodes(t));
  }
  GRAPHMILL_TRY(auto tasks, grown_tasks::open(before_, edges_, info_, rolls_));
  tasks_.emplace(std::move(tasks));
  for (edge_type_id e = 0; e < std::ssize(info_.edge_types); ++e) {
    GRAPHMILL_TRYV(tell());
    GRAPHMILL_TRYV(add_edges(e));
  }
  if (!info_.tasks.empty())
    GRAPHMILL_TRYV(tasks_->write(folder_));
  GRAPHMILL_TRYV(add_records());
  GRAPHMILL_TRY(const auto written, dataset::open(folder_, info_));
  for (std::size_t t = 0; t < info_.tasks.size(); ++t)
    for (const auto which : all_splits)
      if (const auto& rows =
            written.task(t).splits[static_cast<std::size_t>(which)])
        GRAPHMILL_TRYV(check_rows(info_, info_.tasks[t], which, *rows));
  GRAPHMILL_TRY(const auto digests, digests_of(written, on_progress));
  if (auto fault = mapped_file::first_fault())
    return *std::move(fault);
  info_.digest = digests.content;
  GRAPHMILL_TRYV(write_dataset_info(folder_, info_));
  GRAPHMILL_TRYV(write_array_digests(folder_, digests.arrays));
  growth_report out{before_.info(), info_};
  out.rolled_nodes = std::move(rolled_nodes_);
  if (rolls_)
    for (std::size_t t = 0; t < info_.tasks.size(); ++t)
      out.rolled_tasks[info_.tasks[t].name] = tasks_->rolled(t);
  GRAPHMILL_TRY(const auto mixed_before, mixed_edges(before_));
  GRAPHMILL_TRY(const auto mixed_now, mixed_edges(written));
  if (mixed_before.empty() && !mixed_now.empty())
    out.notes.push_back(fmt::format(
      "some edges of {} that are held out are now older than edges that train: "
      "no run can train with `evaluate.visible: past` until all earlier rows "
      "train (append --roll-forward)",
      mixed_now));
  for (std::size_t t = 0; t < info_.tasks.size(); ++t)
    if (const auto rows = tasks_->repeated_rows(t); rows > 0)
      out.notes.push_back(
        fmt::format("task {}: {} with the nodes of an earlier row",
                    info_.tasks[t].name, pluralized(rows, "new row")));
  return out;
}

} // namespace

result<std::vector<growth>> read_growth(const fs::path& folder) {
  const auto path = folder / growth_name;
  const auto record = read_json(path, largest_growth);
  if (!record && record.error().code == ec::not_found)
    return std::vector<growth>{};
  if (!record)
    return record.error();
  const auto number_in = [](const nlohmann::json& step, const char* key) {
    return step.is_object() ? integer_of(step.value(key, nlohmann::json{}))
                            : std::nullopt;
  };
  const auto damaged = [&path] {
    return fail(ec::invalid_data,
                "{} is damaged: copy it again, or import all tables again",
                path.string());
  };
  if (!record->is_array())
    return damaged();
  std::vector<growth> out;
  for (const auto& step : record.value()) {
    const auto nodes = number_in(step, "nodes");
    const auto edges = number_in(step, "edges");
    if (!nodes || !edges)
      return damaged();
    const auto before = step.value("before", nlohmann::json{});
    const auto drops = step.value("drops_self_loops", nlohmann::json{});
    if (!before.is_string() || !drops.is_boolean())
      return damaged();
    out.push_back(
      {before.get<std::string>(), *nodes, *edges, drops.get<bool>()});
  }
  return out;
}

namespace {

/// What records say that an import did with edges.
struct imported_edges {
  std::string joined_by; ///< An option that looks at all edges together.
  bool drops_self_loops = false;
};

/// Adds what a record of options and sources says.
void add_options(const nlohmann::json& options, imported_edges& to) {
  if (!options.is_object())
    return;
  const auto says = [&options](const char* option, std::string_view word) {
    const auto values = options.value(option, nlohmann::json{});
    return values.is_array()
           && std::any_of(values.begin(), values.end(),
                          [&word](const nlohmann::json& value) {
                            return value.is_string()
                                   && value.get<std::string>() == word;
                          });
  };
  if (options.contains("undirected"))
    to.joined_by = "--undirected";
  if (says("duplicates", "drop") || says("duplicates", "sum"))
    to.joined_by = "--duplicates";
  to.drops_self_loops = to.drops_self_loops || says("self-loops", "drop");
}

/// Adds what the record of columns says, also of changes taken over by --like.
void add_changes(const nlohmann::json& changes, imported_edges& to) {
  if (!changes.is_object())
    return;
  const auto is_set = [&changes](const char* key) {
    const auto value = changes.value(key, nlohmann::json{});
    return value.is_boolean() && value.get<bool>();
  };
  if (is_set("all_undirected")
      || !changes.value("undirected", nlohmann::json::array()).empty())
    to.joined_by = "--undirected";
  if (integer_of(changes.value("duplicates", nlohmann::json{})).value_or(0) > 0)
    to.joined_by = "--duplicates";
  to.drops_self_loops = to.drops_self_loops || is_set("drop_self_loops");
}

/// Appended datasets have no import.json. Nothing joined their edges, for they
/// would not have grown; growth.json says what else there is to know.
result<imported_edges> read_imported_edges(const fs::path& folder) {
  imported_edges out;
  const auto part = [&folder](const char* name,
                              const char* key) -> result<nlohmann::json> {
    const auto record = read_json(folder / name, largest_import_record);
    if (!record && record.error().code != ec::not_found)
      return record.error();
    return record && record->is_object() ? record->value(key, nlohmann::json{})
                                         : nlohmann::json{};
  };
  GRAPHMILL_TRY(const auto options, part("import.json", "options"));
  add_options(options, out);
  GRAPHMILL_TRY(const auto changes, part(tables_name, "changes"));
  add_changes(changes, out);
  GRAPHMILL_TRY(const auto steps, read_growth(folder));
  for (const auto& step : steps)
    out.drops_self_loops = out.drops_self_loops || step.drops_self_loops;
  return out;
}

} // namespace

result<bool> drops_self_loops(const fs::path& folder) {
  GRAPHMILL_TRY(const auto edges, read_imported_edges(folder));
  return edges.drops_self_loops;
}

result<void> expect_growable(const dataset& data) {
  const auto& info = data.info();
  const auto where = data.folder().string();
  if (info.digest.empty())
    return fail(ec::invalid_argument,
                "{} has no digest, so damage to it could not be told from what "
                "it is: import it with graphmill import",
                where);
  GRAPHMILL_TRY(const auto imported, read_imported_edges(data.folder()));
  if (!imported.joined_by.empty())
    return fail(ec::invalid_argument,
                "{} was imported with {}, which looks at all edges together, "
                "and only the new ones are read: import all tables again",
                where, imported.joined_by);
  std::set<std::string> known(kept_names.begin(), kept_names.end());
  known.merge(std::set<std::string>{"dataset.json", "import.json", growth_name,
                                    tables_name, "nodes", "edges"});
  std::set<std::string> tasks;
  for (const auto& task : info.tasks)
    tasks.insert(task.name);
  if (!tasks.empty())
    known.insert("tasks");
  GRAPHMILL_TRYV(expect_known_files(data.folder(), known));
  if (!tasks.empty())
    GRAPHMILL_TRYV(expect_known_files(data.folder() / "tasks", tasks));
  for (const auto& task : tasks)
    GRAPHMILL_TRYV(
      expect_known_files(data.folder() / "tasks" / task, task_files()));
  std::set<std::string> nodes;
  std::set<std::string> edges;
  std::error_code failed;
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    const auto& type = info.node_types[static_cast<std::size_t>(t)];
    nodes.insert(type.name);
    GRAPHMILL_TRYV(expect_known_files(node_folder(data.folder(), info, t),
                                      node_files(type)));
  }
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e) {
    edges.insert(info.edge_type_name(e));
    GRAPHMILL_TRYV(
      expect_known_files(edge_folder(data.folder(), info, e), edge_files()));
  }
  GRAPHMILL_TRYV(expect_known_files(data.folder() / "nodes", nodes));
  if (fs::exists(data.folder() / "edges", failed))
    GRAPHMILL_TRYV(expect_known_files(data.folder() / "edges", edges));
  return ok();
}

result<growth_report>
write_grown_dataset(const dataset& before, const dataset& nodes,
                    const dataset& edges, const fs::path& folder,
                    const progress_callback& on_progress,
                    const std::atomic<bool>* stop, bool rolls) {
  return grower{before, nodes, edges, folder, rolls}.run(on_progress, stop);
}

} // namespace graphmill
