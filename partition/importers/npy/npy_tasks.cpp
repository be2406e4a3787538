#include "partition/importers/npy/npy_tasks.hpp"

#include "partition/dataset/edge_weights.hpp"
#include "partition/importers/npy/npy_labels.hpp"
#include "partition/importers/npy/npy_source.hpp"
#include "partition/importers/npy/npy_values.hpp"
#include "partition/importers/npy/npy_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

/// Labels up to it cost little, whether an edge has them or not.
constexpr std::int64_t cheap_edge_classes = 1024;

using optional_array = std::optional<npy_array> npy_task_arrays::*;

result<std::optional<npy_array>>
open_list(npy_folder& folder, const std::string& name, std::int64_t edges) {
  GRAPHMILL_TRY(auto out, folder.array_if_there(name));
  if (out)
    GRAPHMILL_TRYV(expect_numbers(*out, edges));
  return out;
}

result<std::optional<npy_array>>
open_rows(npy_folder& folder, const std::string& name, std::int64_t edges) {
  GRAPHMILL_TRY(auto out, folder.array_if_there(name));
  if (out)
    GRAPHMILL_TRYV(expect_columns(*out, edges));
  return out;
}

bool has(const npy_source& source, optional_array which) {
  return std::ranges::any_of(source.edges, [which](const auto& type) {
    return (type.task.*which).has_value();
  });
}

using task_list = std::vector<edge_task_request>;

/// An array of a task, which is its own or one of all tasks; null: there is
/// none. Of several tasks, those without labels or negatives take none that are
/// of all.
const npy_array* array_of(const npy_edge_source& type, const task_list& tasks,
                          std::size_t place, optional_array which) {
  if (place < type.own.size() && type.own[place].*which)
    return &*(type.own[place].*which);
  const auto& kind = traits_of(tasks[place].kind);
  const auto takes =
    tasks.size() == 1
    || (which == &npy_task_arrays::labels      ? kind.labels.has_value()
        : which == &npy_task_arrays::negatives ? kind.negatives
                                               : true);
  return takes && type.task.*which ? &*(type.task.*which) : nullptr;
}

/// Whether an edge type is one of a task, as far as names tell.
bool is_of_task(const edge_task_request& task, const npy_edge_source& type) {
  const auto whole =
    fmt::format("{}__{}__{}", type.source, type.name, type.destination);
  return task.edge_types.empty()
         || std::ranges::any_of(task.edge_types, [&](const std::string& name) {
              return name == type.name || name == whole;
            });
}

/// Whether a task has such an array.
bool has(const npy_source& source, const task_list& tasks, std::size_t place,
         optional_array which) {
  return std::ranges::any_of(source.edges, [&](const auto& type) {
    return is_of_task(tasks[place], type)
           && array_of(type, tasks, place, which) != nullptr;
  });
}

/// Reads numbers of a task and gives the bytes of labels to a writer.
class npy_task_copier {
public:
  npy_task_copier(const npy_source& source, const dataset_info& info,
                  const task_list& tasks, std::size_t place,
                  const no_label_values& none)
    : source_(source), info_(info), tasks_(tasks), place_(place),
      task_(info.tasks[place]), none_(none) {}

  /// The labels for none that `copy` has found.
  const unlabelled_nodes& unlabelled() const { return unlabelled_; }

  result<incoming_task> copy() {
    for (const auto type : task_.edge_types)
      GRAPHMILL_TRYV(copy_type(at(type)));
    out_.class_count = classes_;
    if (!negatives_->empty())
      out_.negatives = [negatives = negatives_](split, const task_edge& edge) {
        const auto found = negatives->find({edge.type, edge.given});
        return found == negatives->end()
                 ? std::span<const node_id>{}
                 : std::span<const node_id>{found->second};
      };
    if (const auto& wanted = tasks_[place_].split) {
      std::vector<bool> symmetric;
      for (const auto type : task_.edge_types) {
        const auto& about = info_.edge_types[static_cast<std::size_t>(type)];
        symmetric.push_back(about.source == about.destination);
      }
      out_.choose = [wanted, symmetric](std::span<const task_edge> edges) {
        return split_edges(*wanted, edges, symmetric);
      };
      return std::move(out_);
    }
    out_.says_splits = true;
    out_.choose = [splits = std::move(splits_)](
                    std::span<const task_edge> edges) -> result<task_rows> {
      task_rows rows;
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const auto& of_type = splits[static_cast<std::size_t>(edges[i].type)];
        const auto which =
          of_type.empty() ? -1
                          : of_type[static_cast<std::size_t>(edges[i].given)];
        if (which >= 0)
          rows[static_cast<std::size_t>(which)].push_back(i);
      }
      return rows;
    };
    return std::move(out_);
  }

private:
  const npy_edge_source& at(edge_type_id type) const {
    return source_.edges[static_cast<std::size_t>(type)];
  }

  result<void> copy_type(const npy_edge_source& type) {
    const auto array = [&](optional_array which) {
      return array_of(type, tasks_, place_, which);
    };
    const auto edges = type.edges.shape()[1];
    auto& splits = splits_.emplace_back();
    if (const auto* given = array(&npy_task_arrays::splits)) {
      GRAPHMILL_TRY(splits, read_integers(*given));
      const auto wrong = std::ranges::find_if(
        splits, [](std::int64_t which) { return which < -1 || which > 2; });
      if (wrong != splits.end())
        return fail(ec::invalid_data,
                    "{}: edge {} has the split {}; 0 (training), 1 "
                    "(validation), 2 (test) or -1 (none) expected",
                    given->path().string(), wrong - splits.begin(), *wrong);
    }
    if (task_.timed) {
      GRAPHMILL_TRY(auto times, read_doubles(*array(&npy_task_arrays::times)));
      out_.times.push_back(std::move(times));
    }
    if (task_.weighted) {
      std::vector<float> weights(static_cast<std::size_t>(edges));
      GRAPHMILL_TRYV(
        copy_weights(*array(&npy_task_arrays::weights), 0, weights));
      out_.weights.push_back(std::move(weights));
    }
    if (const auto* negatives = array(&npy_task_arrays::negatives))
      GRAPHMILL_TRYV(copy_negatives(*negatives));
    if (traits_of(task_.kind).labels)
      return copy_labels(*array(&npy_task_arrays::labels), edges);
    return ok();
  }

  result<void> copy_negatives(const npy_array& from) {
    GRAPHMILL_TRY(const auto ids, read_integers(from));
    const auto columns = static_cast<std::size_t>(columns_of(from));
    const auto type = static_cast<std::int32_t>(splits_.size()) - 1;
    for (std::size_t i = 0; columns != 0 && i < ids.size(); i += columns) {
      const auto row = std::span{ids}.subspan(i, columns);
      const auto none = std::ranges::count(row, -1);
      if (none == std::ssize(row))
        continue;
      if (none != 0)
        return fail(ec::invalid_data,
                    "{}: edge {} has -1 beside other negatives; -1 throughout "
                    "means that it has none",
                    from.path().string(), i / columns);
      negatives_->emplace(std::pair{type, static_cast<edge_id>(i / columns)},
                          std::vector<node_id>{row.begin(), row.end()});
    }
    return ok();
  }

  template <class T>
  void keep_labels(const std::vector<T>& values) {
    auto& to = out_.labels.emplace_back(values.size() * sizeof(T));
    if (!to.empty())
      std::memcpy(to.data(), values.data(), to.size());
  }

  result<void> copy_labels(const npy_array& from, std::int64_t edges) {
    const auto columns = columns_of(from);
    if (task_.kind == edge_task_kind::edge_class)
      return copy_classes(from);
    if (classes_ != 0 && classes_ != columns)
      return fail(ec::invalid_data,
                  "{} has {} columns, and the edges of another type have {}",
                  from.path().string(), columns, classes_);
    classes_ = columns;
    std::vector<double> values(static_cast<std::size_t>(edges * columns));
    GRAPHMILL_TRYV(copy_doubles(from, 0, values));
    take_out<double>(values, 0, columns, none_, unlabelled_);
    if (task_.kind == edge_task_kind::edge_labels)
      return copy_marks(from, values, static_cast<std::size_t>(columns));
    std::vector<float> numbers;
    numbers.reserve(values.size());
    for (const auto value : values)
      numbers.push_back(static_cast<float>(value));
    keep_labels(numbers);
    return ok();
  }

  result<void> copy_classes(const npy_array& from) {
    if (from.shape().size() == 2 && columns_of(from) != 1)
      return fail(ec::invalid_data,
                  "{} has {} columns; one class for each edge expected, or say "
                  "--task-kind edge_labels or edge_value",
                  from.path().string(), columns_of(from));
    unlabelled_nodes found; // Among others -1, which nobody has named.
    GRAPHMILL_TRY(const auto classes,
                  read_class_labels(from, numbers_for_none(none_, {}), found));
    for (const auto& [label, edges] : found)
      if (none_.find(label) != nullptr)
        unlabelled_[label] += edges;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (classes[i] < -1
          || classes[i] >= std::ssize(classes) + cheap_edge_classes)
        return fail(ec::invalid_data,
                    "{0}: edge {1} has the class {2}; number classes from 0, "
                    "and -1 for none. If {2} is none, too, import with "
                    "--no-label {2}",
                    from.path().string(), i, classes[i]);
      classes_ = std::max(classes_, classes[i] + 1);
    }
    keep_labels(classes);
    return ok();
  }

  /// Rows of 0 and 1; without a label known all are -1, 255 or no numbers.
  result<void> copy_marks(const npy_array& from, std::span<const double> values,
                          std::size_t columns) {
    std::vector<std::uint8_t> marks;
    marks.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = values[i];
      const auto unknown = std::isnan(value) || value == -1 || value == 255;
      const auto mark = unknown ? no_labels : static_cast<std::uint8_t>(value);
      if (!unknown && value != 0 && value != 1)
        return fail(ec::invalid_data,
                    "{}: edge {} has {}; 0 and 1 expected, or -1 throughout "
                    "for none",
                    from.path().string(), i / columns, value);
      const auto first = i % columns == 0 ? mark : marks[i - i % columns];
      if ((first == no_labels) != (mark == no_labels))
        return fail(ec::invalid_data,
                    "{}: edge {} has some labels unknown and others not",
                    from.path().string(), i / columns);
      marks.push_back(mark);
    }
    keep_labels(marks);
    return ok();
  }

  const npy_source& source_;
  const dataset_info& info_;
  const task_list& tasks_;
  std::size_t place_;
  const edge_task_info& task_;
  const no_label_values& none_;
  unlabelled_nodes unlabelled_;
  incoming_task out_;
  std::int64_t classes_ = 0;
  std::vector<std::vector<std::int64_t>> splits_; ///< By place in the task.
  std::shared_ptr<
    std::map<std::pair<std::int32_t, edge_id>, std::vector<node_id>>>
    negatives_ = std::make_shared<
      std::map<std::pair<std::int32_t, edge_id>, std::vector<node_id>>>();
};

} // namespace

result<npy_task_arrays> open_npy_task(npy_folder& folder,
                                      const std::string& prefix,
                                      const std::string& task,
                                      std::int64_t edges) {
  const auto name = [&](const char* what) {
    return fmt::format("{}edge_{}{}{}.npy", prefix, what,
                       task.empty() ? "" : ".", task);
  };
  npy_task_arrays out;
  GRAPHMILL_TRY(out.splits, open_list(folder, name("split"), edges));
  GRAPHMILL_TRY(out.labels, open_rows(folder, name("label"), edges));
  GRAPHMILL_TRY(out.times, open_list(folder, name("time"), edges));
  GRAPHMILL_TRY(out.weights, open_list(folder, name("row_weight"), edges));
  GRAPHMILL_TRY(out.negatives, open_rows(folder, name("negatives"), edges));
  return out;
}

namespace {

/// Fails if arrays are there that no task is made for.
/// @param edge_times As for `npy_task_requests`.
result<void> expect_no_task(const npy_source& source, bool edge_times) {
  for (const auto& type : source.edges)
    for (const auto* array :
         {&type.task.times, &type.task.weights, &type.task.negatives})
      if (*array && !(edge_times && array == &type.task.times))
        return fail(ec::invalid_data,
                    "{} is for a task of edges; say --task-edges TYPE and "
                    "--split-edges 0.85,0.05,0.1, {}or leave it out by name "
                    "(--ignore {})",
                    (*array)->path().string(),
                    array == &type.task.times
                      ? "or --edge-time for sampling by time, "
                      : "",
                    file_of(**array));
  return ok();
}

/// Fails if a task lacks arrays that it needs, or has some that it cannot use.
result<void> check_request(const npy_source& source, const task_list& tasks,
                           std::size_t place) {
  const auto& task = tasks[place];
  const auto has_array = [&](optional_array which) {
    return has(source, tasks, place, which);
  };
  const auto own = tasks.size() == 1
                     ? ""
                     : fmt::format(", nor edge_label.{}.npy", name_of(task));
  const auto labelled = traits_of(task.kind).labels.has_value();
  const auto has_labels = has_array(&npy_task_arrays::labels);
  const auto has_splits = has_array(&npy_task_arrays::splits);
  if (labelled && !has_labels)
    return fail(ec::invalid_argument,
                "--task-kind {}: there is no edge_label.npy, nor "
                "TYPE.edge_label.npy{}",
                traits_of(task.kind).name, own);
  if (!labelled && has_labels)
    return fail(ec::invalid_argument,
                "edge_label.npy: a task of kind {} has no labels; say "
                "--task-kind edge_class, edge_labels or edge_value, or leave "
                "it out by name (--ignore)",
                traits_of(task.kind).name);
  if (task.split && has_splits)
    return fail(
      ec::invalid_argument,
      "--split-edges: edge_split.npy says the splits of edges "
      "already; leave one of both out{}",
      tasks.size() == 1 ? "" : fmt::format(" for the task {}", name_of(task)));
  if (!task.split && !has_splits)
    return fail(ec::invalid_argument,
                "{}nothing says which edges train: say --split-edges "
                "0.85,0.05,0.1, or give edge_split.npy with 0, 1, 2 and -1 for "
                "the edges of training, validation, test and of no split",
                tasks.size() == 1 ? ""
                                  : fmt::format("task {}: ", name_of(task)));
  if (task.split && task.split->order == edge_order::time
      && !has_array(&npy_task_arrays::times))
    return fail(ec::invalid_argument,
                "--split-edges by time: there is no edge_time.npy");
  return ok();
}

/// Fails if an array is of all tasks and none of several takes it.
/// @param edge_times As for `npy_task_requests`.
result<void> expect_taken(const npy_source& source, const task_list& tasks,
                          bool edge_times) {
  for (const auto& type : source.edges)
    for (const auto which : {&npy_task_arrays::splits, &npy_task_arrays::labels,
                             &npy_task_arrays::times, &npy_task_arrays::weights,
                             &npy_task_arrays::negatives}) {
      const auto& array = type.task.*which;
      if (!array || (edge_times && which == &npy_task_arrays::times))
        continue;
      auto taken = false;
      for (std::size_t t = 0; t < tasks.size(); ++t)
        taken = taken
                || (is_of_task(tasks[t], type)
                    && array_of(type, tasks, t, which) == &*array);
      if (!taken)
        return fail(ec::invalid_data,
                    "{}: none of the tasks {} takes it: each has an array of "
                    "its own, or no labels; leave it out by name (--ignore {})",
                    array->path().string(), names_of(tasks), file_of(*array));
    }
  return ok();
}

} // namespace

result<task_list> npy_task_requests(const npy_source& source,
                                    const task_list& wanted, bool edge_times) {
  auto out = wanted;
  if (out.empty()
      && (has(source, &npy_task_arrays::splits)
          || has(source, &npy_task_arrays::labels)))
    out.emplace_back();
  if (out.empty())
    GRAPHMILL_TRYV(expect_no_task(source, edge_times));
  for (std::size_t t = 0; t < out.size(); ++t) {
    const auto has_own_times =
      std::ranges::any_of(source.edges, [&](const auto& type) {
        return t < type.own.size() && type.own[t].times;
      });
    out[t].timed =
      has_own_times
      || (!edge_times && has(source, out, t, &npy_task_arrays::times));
    out[t].weighted = has(source, out, t, &npy_task_arrays::weights);
    GRAPHMILL_TRYV(check_request(source, out, t));
  }
  if (out.size() > 1)
    GRAPHMILL_TRYV(expect_taken(source, out, edge_times));
  return out;
}

result<unlabelled_nodes>
copy_npy_tasks(const npy_source& source, const dataset_info& info,
               const task_list& tasks, const no_label_values& none,
               const note_callback& on_note, dataset_writer& writer) {
  unlabelled_nodes found;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto& task = info.tasks[t];
    for (const auto type : task.edge_types) {
      const auto lacks = [&](optional_array which) {
        return array_of(source.edges[static_cast<std::size_t>(type)], tasks, t,
                        which)
               == nullptr;
      };
      for (const auto& [needed, which, file] :
           {std::tuple{traits_of(task.kind).labels.has_value(),
                       &npy_task_arrays::labels, "edge_label.npy"},
            std::tuple{task.timed, &npy_task_arrays::times, "edge_time.npy"},
            std::tuple{task.weighted, &npy_task_arrays::weights,
                       "edge_row_weight.npy"}})
        if (needed && lacks(which))
          return fail(ec::invalid_data,
                      "task {}: there is no {} for {}, which other edge types "
                      "of the task have",
                      task.name, file, info.edge_type_name(type));
    }
    npy_task_copier copier{source, info, tasks, t, none};
    GRAPHMILL_TRY(auto rows, copier.copy());
    note_unlabelled(copier.unlabelled(), "task " + task.name, on_note, "edge");
    found.insert(copier.unlabelled().begin(), copier.unlabelled().end());
    GRAPHMILL_TRYV(writer.set_task(t, std::move(rows)));
  }
  return found;
}

} // namespace graphmill
