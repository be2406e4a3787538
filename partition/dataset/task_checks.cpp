#include "partition/dataset/task_checks.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/dataset/label_rows.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

bool same_ends(const edge_type_info& a, const edge_type_info& b) {
  return a.source == b.source && a.destination == b.destination;
}

bool opposite_ends(const edge_type_info& a, const edge_type_info& b) {
  return a.source == b.destination && a.destination == b.source;
}

result<void> check_types(const dataset_info& info, const edge_task_info& task,
                         std::string_view where) {
  if (task.edge_types.empty())
    return fail(ec::invalid_data, "{} has no edge types", where);
  if (task.reverse_types.size() != task.edge_types.size())
    return fail(ec::invalid_data,
                "{} has {} edge types and {} reverse types; as many expected, "
                "null where there is none",
                where, task.edge_types.size(), task.reverse_types.size());
  for (std::size_t i = 0; i < task.edge_types.size(); ++i) {
    const auto type = task.edge_types[i];
    for (const auto held : {type, task.reverse_types[i].value_or(type)})
      if (held < 0 || held >= std::ssize(info.edge_types))
        return fail(ec::invalid_data,
                    "{} is of edge type {}, but there are {} edge types", where,
                    held, info.edge_types.size());
    if (std::ranges::count(task.edge_types, type) != 1)
      return fail(ec::invalid_data, "{} names the edge type {} twice", where,
                  info.edge_type_name(type));
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    const auto& first =
      info.edge_types[static_cast<std::size_t>(task.edge_types.front())];
    if (traits_of(task.kind).labels && !same_ends(about, first))
      return fail(ec::invalid_data,
                  "{}: {} and {} join other types of nodes; give each a task "
                  "of its own",
                  where, info.edge_type_name(task.edge_types.front()),
                  info.edge_type_name(type));
    const auto& reverse = task.reverse_types[i];
    for (const auto held : {type, reverse.value_or(type)})
      if (!info.edge_types[static_cast<std::size_t>(held)].leveled)
        return fail(ec::invalid_data,
                    "{} holds out edges of {}, which is not \"visible\": write "
                    "visible.npy, with the ends of levels of each list",
                    where, info.edge_type_name(held));
    if (reverse
        && !opposite_ends(about,
                          info.edge_types[static_cast<std::size_t>(*reverse)]))
      return fail(ec::invalid_data,
                  "{}: {} cannot be the reverse of {}: it joins other types of "
                  "nodes",
                  where, info.edge_type_name(*reverse),
                  info.edge_type_name(type));
  }
  return ok();
}

result<void> check_labels_of(const edge_task_info& task,
                             std::string_view where) {
  const auto& labels = traits_of(task.kind).labels;
  const auto most = labels ? traits_of(*labels).most : 0;
  if (task.class_count < (labels ? 1 : 0) || task.class_count > most)
    return fail(ec::invalid_data, "{} has {} {}; {} expected", where,
                task.class_count, labels ? traits_of(*labels).units : "classes",
                labels ? fmt::format("1 to {}", most) : "none");
  if (!task.class_names.empty()
      && std::ssize(task.class_names) != task.class_count)
    return fail(ec::invalid_data, "{} has {} classes, but {} names for them",
                where, task.class_count, task.class_names.size());
  const std::set<std::string> names{task.class_names.begin(),
                                    task.class_names.end()};
  if (names.size() != task.class_names.size())
    return fail(ec::invalid_data,
                "{}: two classes have one name; give each a name of its own",
                where);
  return ok();
}

result<void> check_counts(const edge_task_info& task, std::string_view where) {
  for (auto which : all_splits) {
    const auto i = static_cast<std::size_t>(which);
    const auto rows = task.split_counts[i];
    const auto negatives = task.negative_counts[i];
    if (rows < 0 || rows > most_items || negatives < 0
        || negatives > most_columns
        || (rows > 0 && negatives > most_items / rows))
      return fail(ec::invalid_data,
                  "{}: the {} split has {} rows with {} negatives each, more "
                  "than an array may have",
                  where, file_stem(which), rows, negatives);
    if (negatives > 0 && !traits_of(task.kind).negatives)
      return fail(ec::invalid_data,
                  "{} has negatives, which links have alone: leave them out",
                  where);
  }
  const auto tested = task.split_counts[static_cast<std::size_t>(split::test)];
  if (task.unlabelled < 0
      || task.unlabelled > (traits_of(task.kind).labels ? tested : 0))
    return fail(ec::invalid_data,
                "{}: {} rows without a label, more than rows of the test split "
                "that could have one",
                where, task.unlabelled);
  return ok();
}

result<npy_array> open_rows(const fs::path& path, dtype type,
                            const std::vector<std::int64_t>& shape) {
  GRAPHMILL_TRY(auto array, npy_array::open(path));
  GRAPHMILL_TRYV(array.expect_type(type));
  GRAPHMILL_TRYV(array.expect_shape(shape));
  return array;
}

/// Where the arrays of a split are, and how many rows they have.
struct split_place {
  const fs::path& folder;
  const edge_task_info& task;
  split which;

  std::int64_t rows() const {
    return task.split_counts[static_cast<std::size_t>(which)];
  }

  result<npy_array> open(std::string_view name, dtype type,
                         std::vector<std::int64_t> row_shape = {}) const {
    row_shape.insert(row_shape.begin(), rows());
    return open_rows(path(name), type, row_shape);
  }

  fs::path path(std::string_view name) const {
    return folder / task_file(task.name, file_stem(which), name);
  }

  /// Lists that rows share. @param kind "exclude" or "known".
  template <class Lists>
  result<void> open_lists(const std::string& kind, Lists& out) const {
    GRAPHMILL_TRY(out.indptr,
                  open_rows(path(kind + ".indptr"), dtype::int64, {-1}));
    GRAPHMILL_TRY(out.ids, open_rows(path(kind + ".ids"), dtype::int64, {-1}));
    GRAPHMILL_TRY(const auto ends, out.indptr.template as<std::int64_t>());
    if (ends.empty() || ends.front() != 0 || ends.back() != out.ids.size()
        || !std::ranges::is_sorted(ends))
      return fail(ec::invalid_data,
                  "{} should ascend from 0 to {}, the number of entries",
                  out.indptr.path().string(), out.ids.size());
    return ok();
  }
};

result<task_split_arrays> open_split(const split_place& at) {
  const auto& task = at.task;
  const auto link = traits_of(task.kind).negatives;
  task_split_arrays out;
  GRAPHMILL_TRY(out.edges, at.open("edges", dtype::int64, {2}));
  GRAPHMILL_TRY(out.ids, at.open("ids", dtype::int64));
  if (task.edge_types.size() > 1) {
    GRAPHMILL_TRY(out.types, at.open("types", dtype::int32));
  }
  if (const auto& kind = traits_of(task.kind).labels) {
    const auto& labels = traits_of(*kind);
    GRAPHMILL_TRY(out.labels,
                  at.open("labels", labels.element,
                          labels.rows ? std::vector{task.class_count}
                                      : std::vector<std::int64_t>{}));
  }
  if (task.timed) {
    GRAPHMILL_TRY(out.times, at.open("times", dtype::float64));
  }
  if (task.weighted) {
    GRAPHMILL_TRY(out.weights, at.open("weights", dtype::float32));
  }
  if (const auto each =
        task.negative_counts[static_cast<std::size_t>(at.which)];
      each > 0) {
    GRAPHMILL_TRY(out.negatives, at.open("negatives", dtype::int64, {each}));
  }
  if (link && at.which == split::train) {
    auto& lists = out.exclude.emplace();
    GRAPHMILL_TRY(lists.rows, at.open("exclude.rows", dtype::int64));
    GRAPHMILL_TRYV(at.open_lists("exclude", lists));
    const auto entries = lists.ids.size();
    GRAPHMILL_TRY(lists.types,
                  open_rows(at.path("exclude.types"), dtype::int32, {entries}));
    GRAPHMILL_TRY(lists.ends,
                  open_rows(at.path("exclude.ends"), dtype::uint8, {entries}));
  }
  if (link && at.which != split::train) {
    auto& lists = out.known.emplace();
    GRAPHMILL_TRY(lists.rows, at.open("known.rows", dtype::int64, {2}));
    GRAPHMILL_TRYV(at.open_lists("known", lists));
  }
  return out;
}

/// Fails at the first value outside of [0, `below`).
template <class T>
result<void> check_below(const npy_array& array, std::int64_t below,
                         std::string_view what) {
  GRAPHMILL_TRY(const auto values, array.as<T>());
  const auto bad = std::ranges::find_if_not(values, [below](T one) {
    return std::cmp_greater_equal(one, 0) && std::cmp_less(one, below);
  });
  if (bad != values.end())
    return fail(ec::invalid_data, "{}: element {} is {}, but there are {} {}",
                array.path().string(), bad - values.begin(), *bad, below, what);
  return ok();
}

/// Fails unless as many rows lack a label as a task says of the split.
result<void> check_unlabelled(const edge_task_info& task, split which,
                              const npy_array& labels,
                              std::int64_t unlabelled) {
  const auto told = which == split::test ? task.unlabelled : 0;
  if (unlabelled == told)
    return ok();
  return fail(ec::invalid_data,
              "{}: {} rows have no label, and {} of the {} split may lack one",
              labels.path().string(), unlabelled, told, file_stem(which));
}

result<void> check_labels_in(const edge_task_info& task, split which,
                             const npy_array& labels) {
  const auto kind = *traits_of(task.kind).labels;
  const auto& traits = traits_of(kind);
  std::int64_t unlabelled = 0;
  if (!traits.rows) {
    GRAPHMILL_TRY(const auto classes, labels.as<std::int64_t>());
    for (std::size_t row = 0; row < classes.size(); ++row) {
      if (classes[row] < -1 || classes[row] >= task.class_count)
        return fail(
          ec::invalid_data, "{}: element {} is {}, but there are {} classes",
          labels.path().string(), row, classes[row], task.class_count);
      unlabelled += classes[row] < 0 ? 1 : 0;
    }
    return check_unlabelled(task, which, labels, unlabelled);
  }
  const auto width = static_cast<std::size_t>(task.class_count);
  const std::span rows{reinterpret_cast<const std::uint8_t*>(labels.data()),
                       labels.bytes().size()};
  if (const auto bad = find_bad_label(kind, rows, width))
    return fail(ec::invalid_data, "{}: {} {} of row {} is {}; {}",
                labels.path().string(), traits.unit, *bad % width, *bad / width,
                label_text(kind, rows, *bad), traits.expected);
  for (std::int64_t row = 0; row < labels.rows(); ++row)
    if (!is_known(kind, task.class_count, labels,
                  static_cast<std::size_t>(row)))
      ++unlabelled;
  return check_unlabelled(task, which, labels, unlabelled);
}

/// Nodes of rows, by the edge type of each.
result<void> check_nodes_in(const dataset_info& info,
                            const edge_task_info& task,
                            const task_split_arrays& arrays) {
  GRAPHMILL_TRY(const auto edges, arrays.edges.as<std::int64_t>());
  GRAPHMILL_TRY(const auto ids, arrays.ids.as<std::int64_t>());
  std::span<const std::int32_t> types;
  if (arrays.types) {
    GRAPHMILL_TRYV(check_below<std::int32_t>(
      *arrays.types, std::ssize(task.edge_types), "edge types of the task"));
    GRAPHMILL_TRY(types, arrays.types->as<std::int32_t>());
  }
  std::span<const std::int64_t> negatives;
  if (arrays.negatives) {
    GRAPHMILL_TRY(negatives, arrays.negatives->as<std::int64_t>());
  }
  const auto each = ids.empty() ? 0 : negatives.size() / ids.size();
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const auto place = types.empty() ? 0 : types[row];
    const auto type = task.edge_types[static_cast<std::size_t>(place)];
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    const auto check = [&](const npy_array& where, std::int64_t id,
                           std::int64_t count,
                           std::string_view what) -> result<void> {
      if (id >= 0 && id < count)
        return ok();
      return fail(ec::invalid_data, "{}: row {} has {} {}, but {} has {}",
                  where.path().string(), row, what, id,
                  info.edge_type_name(type), count);
    };
    const auto sources = info.node_types[about.source].count;
    const auto destinations = info.node_types[about.destination].count;
    GRAPHMILL_TRYV(check(arrays.edges, edges[2 * row], sources, "source"));
    GRAPHMILL_TRYV(
      check(arrays.edges, edges[2 * row + 1], destinations, "destination"));
    GRAPHMILL_TRYV(check(arrays.ids, ids[row], about.count, "edge"));
    for (const auto id : negatives.subspan(row * each, each))
      GRAPHMILL_TRYV(
        check(*arrays.negatives, id, destinations, "the negative"));
  }
  return ok();
}

/// @param whole Whether times are those of edges, which count ticks.
result<void> check_numbers(const task_split_arrays& arrays, bool whole) {
  if (arrays.times) {
    GRAPHMILL_TRY(const auto times, arrays.times->as<double>());
    constexpr double most = 9007199254740992; // 2^53
    const auto part = std::ranges::find_if_not(times, [](double time) {
      return std::abs(time) <= most && std::floor(time) == time;
    });
    if (whole && part != times.end() && std::isfinite(*part))
      return fail(ec::invalid_data,
                  "{}: the time of row {} is {}, and those of edges with times "
                  "are whole numbers up to 2^53",
                  arrays.times->path().string(), part - times.begin(), *part);
    const auto bad = std::ranges::find_if_not(
      times, [](double time) { return std::isfinite(time); });
    if (bad != times.end())
      return fail(ec::invalid_data,
                  "{}: the time of row {} is {}; a finite number expected",
                  arrays.times->path().string(), bad - times.begin(), *bad);
  }
  if (arrays.weights) {
    GRAPHMILL_TRY(const auto weights, arrays.weights->as<float>());
    for (std::size_t row = 0; row < weights.size(); ++row)
      if (!edge_weight_from(weights[row]))
        return no_edge_weight(
          weights[row],
          fmt::format("{}: row {}", arrays.weights->path().string(), row));
  }
  return ok();
}

result<void> check_exclusions(const dataset_info& info,
                              const exclude_arrays& lists) {
  GRAPHMILL_TRYV(
    check_below<std::int64_t>(lists.rows, lists.indptr.size() - 1, "lists"));
  GRAPHMILL_TRYV(check_below<std::int32_t>(
    lists.types, std::ssize(info.edge_types), "edge types"));
  GRAPHMILL_TRYV(check_below<std::uint8_t>(lists.ends, 2, "ends of an edge"));
  GRAPHMILL_TRY(const auto ids, lists.ids.as<std::int64_t>());
  GRAPHMILL_TRY(const auto types, lists.types.as<std::int32_t>());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto count =
      info.edge_types[static_cast<std::size_t>(types[i])].count;
    if (ids[i] < 0 || ids[i] >= count)
      return fail(ec::invalid_data, "{}: entry {} is edge {}, but {} has {}",
                  lists.ids.path().string(), i, ids[i],
                  info.edge_type_name(types[i]), count);
  }
  return ok();
}

/// Lists ascend, and their nodes are of the type at the end that they are for.
result<void> check_known(const dataset_info& info, const edge_task_info& task,
                         const task_split_arrays& arrays) {
  const auto& lists = *arrays.known;
  GRAPHMILL_TRYV(
    check_below<std::int64_t>(lists.rows, lists.indptr.size() - 1, "lists"));
  GRAPHMILL_TRY(const auto rows, lists.rows.as<std::int64_t>());
  GRAPHMILL_TRY(const auto indptr, lists.indptr.as<std::int64_t>());
  GRAPHMILL_TRY(const auto ids, lists.ids.as<std::int64_t>());
  std::vector<node_type_id> types(indptr.size() - 1, -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    GRAPHMILL_TRY(const auto type, edge_type_of_row(task, arrays, i / 2));
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    const auto wanted = i % 2 == 0 ? about.destination : about.source;
    auto& of_list = types[static_cast<std::size_t>(rows[i])];
    if (of_list >= 0 && of_list != wanted)
      return fail(ec::invalid_data, "{}: list {} is for nodes of two types",
                  lists.rows.path().string(), rows[i]);
    of_list = wanted;
  }
  for (std::size_t list = 0; list < types.size(); ++list) {
    const auto own =
      ids.subspan(static_cast<std::size_t>(indptr[list]),
                  static_cast<std::size_t>(indptr[list + 1] - indptr[list]));
    std::int64_t least = 0;
    const auto count =
      types[list] < 0
        ? 0
        : info.node_types[static_cast<std::size_t>(types[list])].count;
    for (const auto id : own) {
      if (id < least || id >= count)
        return fail(ec::invalid_data,
                    "{}: list {} has node {}, where {} to {} can follow",
                    lists.ids.path().string(), list, id, least, count - 1);
      least = id + 1;
    }
  }
  return ok();
}

} // namespace

bool has_edge_times(const dataset_info& info, const edge_task_info& task) {
  return std::ranges::all_of(task.edge_types, [&info](edge_type_id type) {
    return info.edge_types[static_cast<std::size_t>(type)].timed;
  });
}

fs::path task_file(std::string_view task, std::string_view split_stem,
                   std::string_view name) {
  return fs::path{"tasks"} / task / fmt::format("{}.{}.npy", split_stem, name);
}

std::vector<std::pair<std::string_view, const npy_array*>>
task_split_arrays::all() const {
  std::vector<std::pair<std::string_view, const npy_array*>> out{
    {"edges", &edges}, {"ids", &ids}};
  const auto add = [&out](std::string_view name,
                          const std::optional<npy_array>& array) {
    if (array)
      out.emplace_back(name, &*array);
  };
  add("types", types);
  add("labels", labels);
  add("times", times);
  add("weights", weights);
  add("negatives", negatives);
  if (exclude)
    out.insert(out.end(), {{"exclude.rows", &exclude->rows},
                           {"exclude.indptr", &exclude->indptr},
                           {"exclude.ids", &exclude->ids},
                           {"exclude.types", &exclude->types},
                           {"exclude.ends", &exclude->ends}});
  if (known)
    out.insert(out.end(), {{"known.rows", &known->rows},
                           {"known.indptr", &known->indptr},
                           {"known.ids", &known->ids}});
  return out;
}

result<void> check_tasks(const dataset_info& info, std::string_view where) {
  std::set<std::string> names;
  for (const auto& task : info.tasks) {
    GRAPHMILL_TRYV(check_name(task.name, where));
    const auto place = fmt::format("{}: task {}", where, task.name);
    if (!names.insert(task.name).second)
      return fail(ec::invalid_data, "{} stands there twice", place);
    GRAPHMILL_TRYV(check_types(info, task, place));
    GRAPHMILL_TRYV(check_labels_of(task, place));
    GRAPHMILL_TRYV(check_counts(task, place));
  }
  return ok();
}

result<task_arrays> open_task(const fs::path& folder,
                              const edge_task_info& task) {
  task_arrays out;
  for (auto which : all_splits) {
    const split_place at{folder, task, which};
    if (at.rows() > 0) {
      GRAPHMILL_TRY(out.splits[static_cast<std::size_t>(which)],
                    open_split(at));
    }
  }
  return out;
}

result<task_arrays> open_task(const fs::path& folder, const dataset_info& info,
                              std::string_view name) {
  const auto found = info.find_task(name);
  if (!found) {
    std::vector<std::string_view> names;
    for (const auto& task : info.tasks)
      names.push_back(task.name);
    return fail(ec::invalid_argument, "{} has no task \"{}\"; it has {}",
                folder.string(), name,
                names.empty() ? "none: import it with --task-edges"
                              : fmt::format("{}", fmt::join(names, ", ")));
  }
  GRAPHMILL_TRY(auto out, open_task(folder, info.tasks[*found]));
  for (auto which : all_splits)
    if (const auto& rows = out.splits[static_cast<std::size_t>(which)])
      GRAPHMILL_TRYV(check_rows(info, info.tasks[*found], which, *rows));
  if (auto fault = mapped_file::first_fault())
    return std::move(*fault);
  return out;
}

result<edge_type_id> edge_type_of_row(const edge_task_info& task,
                                      const task_split_arrays& arrays,
                                      std::size_t row) {
  std::size_t place = 0;
  if (arrays.types) {
    GRAPHMILL_TRY(const auto types, arrays.types->as<std::int32_t>());
    place = static_cast<std::size_t>(types[row]);
  }
  return task.edge_types[place];
}

result<void> check_rows(const dataset_info& info, const edge_task_info& task,
                        split which, const task_split_arrays& arrays) {
  GRAPHMILL_TRYV(check_nodes_in(info, task, arrays));
  if (arrays.labels)
    GRAPHMILL_TRYV(check_labels_in(task, which, *arrays.labels));
  GRAPHMILL_TRYV(check_numbers(arrays, has_edge_times(info, task)));
  if (arrays.exclude)
    GRAPHMILL_TRYV(check_exclusions(info, *arrays.exclude));
  return arrays.known ? check_known(info, task, arrays) : ok();
}

std::optional<std::size_t>
first_overlap(std::span<const std::int64_t> indptr,
              std::span<const std::int64_t> times,
              std::span<const std::int32_t> visible) {
  const auto rows = times.empty() ? 0 : visible.size() / 2;
  for (std::size_t row = 0; row < rows && row + 1 < indptr.size(); ++row) {
    const auto begin = indptr[row];
    const auto end = indptr[row + 1];
    if (begin < 0 || std::cmp_greater(end, times.size()))
      continue;
    for (std::size_t level = 0; level < 2; ++level)
      if (const auto next = begin + visible[2 * row + level];
          next > begin && next < end
          && times[static_cast<std::size_t>(next - 1)]
               > times[static_cast<std::size_t>(next)])
        return row;
  }
  return std::nullopt;
}

} // namespace graphmill
