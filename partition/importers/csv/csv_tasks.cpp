#include "partition/importers/csv/csv_tasks.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/importers/edge_split.hpp"
#include "partition/importers/exact_number.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

constexpr std::uint8_t no_split = 3;

/// Rows by the splits that a source says, in the order of edges.
task_rows rows_by_split(std::span<const task_edge> edges,
                        const std::vector<std::vector<std::uint8_t>>& splits) {
  task_rows out;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto s = splits[static_cast<std::size_t>(edges[i].type)]
                         [static_cast<std::size_t>(edges[i].given)];
    if (s != no_split)
      out[s].push_back(i);
  }
  return out;
}

} // namespace

csv_task_reader::csv_task_reader(const csv_import_options& options,
                                 const csv_graph& graph,
                                 const dataset_info& info)
  : options_(options), graph_(graph), task_(info.tasks.front()), info_(info),
    types_(task_.edge_types.size()), texts_({}, nullptr, "task " + task_.name) {
}

result<void> csv_task_reader::check_columns() const {
  if (task_.kind == edge_task_kind::edge_labels)
    return fail(ec::invalid_argument,
                "--task-kind edge_labels: tables have one label for each edge; "
                "save arrays and use graphmill import npy");
  const auto has = [this](std::optional<std::size_t> csv_layout::*column) {
    return std::ranges::any_of(graph_.edges, [column](const auto& file) {
      return (file.layout.*column).has_value();
    });
  };
  const auto labelled = traits_of(task_.kind).labels.has_value();
  const auto has_labels = has(&csv_layout::task_label);
  if (labelled && !has_labels)
    return fail(ec::invalid_argument,
                "--task-kind {}: no edge list has a column of labels; say "
                "which one it is (--task-label COLUMN)",
                traits_of(task_.kind).name);
  if (!labelled && has_labels)
    return fail(ec::invalid_argument,
                "--task-label: a task of kind {} has no labels; say "
                "--task-kind edge_class or edge_value, or leave it out",
                traits_of(task_.kind).name);
  edge_type_id type = 0;
  for (const auto& file : graph_.edges) {
    const auto first = type;
    type += static_cast<edge_type_id>(file.names.size());
    const auto is_of_task = [&](edge_type_id one) {
      return one >= first && one < type;
    };
    if (std::ranges::none_of(task_.edge_types, is_of_task))
      continue;
    for (const auto& [wanted, column, flag] :
         {std::tuple{traits_of(task_.kind).labels.has_value(),
                     file.layout.task_label, "--task-label"},
          std::tuple{task_.timed, file.layout.task_time, "--task-time"},
          std::tuple{task_.weighted, file.layout.task_weight, "--task-weight"}})
      if (wanted && !column && file.layout.count() > 0)
        return fail(
          ec::invalid_argument,
          "task {}: {} has no column for {}, which the task takes "
          "from its other edge lists; say which one it is ({} COLUMN)",
          task_.name, file.table.file.string(), flag, flag);
  }
  const auto split_told =
    has(&csv_layout::task_split) || !options_.task_files.empty();
  if (request().split && split_told)
    return fail(ec::invalid_argument,
                "--split-edges: the source says the splits of edges already; "
                "leave one of both out");
  if (!request().split && !split_told)
    return fail(ec::invalid_argument,
                "task {}: nothing says which edges train: say --split-edges "
                "0.85,0.05,0.1, --task-split COLUMN, or --task-train FILE, "
                "--task-val FILE and --task-test FILE",
                task_.name);
  if (request().split && request().split->order == edge_order::time
      && !has(&csv_layout::task_time) && !has(&csv_layout::edge_time))
    return fail(ec::invalid_argument,
                "--split-edges by time: no edge list has a column of times; "
                "say which one it is (--edge-time COLUMN, or --task-time "
                "COLUMN if nothing else is to know it)");
  return ok();
}

bool says_task_split(const csv_import_options& options,
                     const csv_edge_file& file) {
  const auto is_of_list = [&file](const auto& one) {
    return one.first == file.table.file.native()
           || std::ranges::any_of(file.table.more, [&one](const auto& path) {
                return one.first == path.native();
              });
  };
  return file.layout.task_split
         || std::ranges::any_of(options.task_files, is_of_list);
}

result<std::optional<split>> task_split_in(const csv_import_options& options,
                                           const csv_edge_file& file,
                                           const csv_edge& edge,
                                           const csv_rows& rows) {
  if (file.layout.task_split)
    return parse_csv_split(rows.reader(), edge.task_split);
  const auto& path = rows.reader().path().native();
  const auto at = std::ranges::find(
    options.task_files, path,
    [](const auto& one) -> const std::string& { return one.first; });
  return at == options.task_files.end() ? std::optional<split>{}
                                        : std::optional{at->second};
}

result<std::vector<node_id>>
csv_task_reader::negatives_in(const csv_edge_file& file, const csv_edge& edge,
                              const csv_rows& rows) const {
  std::vector<node_id> out;
  auto rest = edge.task_negatives;
  while (!rest.empty()) {
    const auto end = rest.find_first_of("| ");
    const auto id = trim_blanks(rest.substr(0, end));
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    if (id.empty())
      continue;
    const auto found = graph_.nodes[file.destination].ids.find(id);
    if (!found)
      return rows.reader().wrong(fmt::format(
        "the negative \"{}\" is no node of type {}", printable(std::string{id}),
        graph_.nodes[file.destination].name));
    out.push_back(*found);
  }
  return out;
}

/// All cells are read, also behind one that is wrong.
result<bool> csv_task_reader::add_cells(const csv_edge_file& file,
                                        const csv_edge& edge, csv_rows& rows,
                                        type_rows& to) {
  const auto& layout = file.layout;
  auto good = true;
  const auto take = [&](std::optional<std::size_t> column,
                        auto read) -> result<void> {
    good = good && read;
    return rows.check(column.value_or(0), read);
  };
  const auto number = [&](std::string_view text,
                          const char* what) -> result<double> {
    std::string with_point{text};
    if (options_.decimal_commas) {
      auto replaced = with_decimal_point(text);
      if (!replaced)
        return rows.reader().wrong(
          fmt::format("the {} {}", what, replaced.error().message));
      with_point = *std::move(replaced);
    }
    const auto value = number_from<double>(with_point);
    if (value && std::isfinite(*value))
      return *value;
    return rows.reader().wrong(fmt::format("the {} \"{}\" is no finite number",
                                           what, printable(std::string{text})));
  };
  const auto told_split = task_split_in(options_, file, edge, rows);
  GRAPHMILL_TRYV(take(layout.task_split, told_split));
  auto value = std::numeric_limits<float>::quiet_NaN();
  if (layout.task_label && task_.kind == edge_task_kind::edge_value
      && !edge.task_label.empty()) {
    const auto told = number(edge.task_label, "label");
    GRAPHMILL_TRYV(take(layout.task_label, told));
    value = told ? static_cast<float>(told.value()) : value;
  }
  double time = 0;
  if (layout.task_time) {
    const auto told = number(edge.task_time, "time");
    GRAPHMILL_TRYV(take(layout.task_time, told));
    time = told ? told.value() : 0;
  }
  float weight = 1;
  if (layout.task_weight) {
    const auto told = number(edge.task_weight, "weight of the row");
    GRAPHMILL_TRYV(take(layout.task_weight, told));
    const auto stored = told ? edge_weight_from(told.value()) : std::nullopt;
    if (told && !stored) {
      good = false;
      GRAPHMILL_TRYV(rows.reject(layout.task_weight,
                                 "the weight of the row is negative, or beyond "
                                 "float32"));
    }
    weight = stored.value_or(1);
  }
  std::vector<node_id> negatives;
  if (layout.task_negatives) {
    auto told = negatives_in(file, edge, rows);
    GRAPHMILL_TRYV(take(layout.task_negatives, told));
    if (told)
      negatives = std::move(told).value();
  }
  if (!good || !rows.is_sound())
    return false;
  if (layout.task_label && task_.kind == edge_task_kind::edge_class) {
    GRAPHMILL_TRYV(texts_.add(rows.reader(), edge.task_label));
    to.labels.push_back(labelled_++);
  }
  if (!negatives.empty())
    to.negatives.emplace(std::ssize(to.splits), std::move(negatives));
  to.splits.push_back(told_split.value()
                        ? static_cast<std::uint8_t>(*told_split.value())
                        : no_split);
  to.values.push_back(value);
  to.times.push_back(time);
  to.weights.push_back(weight);
  return true;
}

result<bool> csv_task_reader::add(edge_type_id type, const csv_edge_file& file,
                                  const csv_edge& edge, csv_rows& rows) {
  const auto at = std::ranges::find(task_.edge_types, type);
  if (at == task_.edge_types.end())
    return true;
  return add_cells(
    file, edge, rows,
    types_[static_cast<std::size_t>(at - task_.edge_types.begin())]);
}

result<void> csv_task_reader::finish(dataset_writer& writer) {
  incoming_task out;
  const auto labels = texts_.finish();
  out.class_count = std::ssize(labels.names);
  out.class_names = labels.names;
  if (task_.kind == edge_task_kind::edge_value)
    out.class_count = 1;
  std::vector<std::vector<std::uint8_t>> splits;
  using given =
    std::map<std::pair<std::int32_t, edge_id>, std::vector<node_id>>;
  auto negatives = std::make_shared<given>();
  for (auto& type : types_) {
    const auto keep_label = [&](const auto& values) {
      const auto bytes = std::as_bytes(std::span{values});
      auto& to = out.labels.emplace_back(bytes.size());
      if (!bytes.empty())
        std::memcpy(to.data(), bytes.data(), bytes.size());
    };
    if (task_.kind == edge_task_kind::edge_class) {
      std::vector<std::int64_t> classes;
      for (const auto place : type.labels)
        classes.push_back(labels.labels[place]);
      keep_label(classes);
    } else if (task_.kind == edge_task_kind::edge_value) {
      keep_label(type.values);
    }
    for (auto& [edge, ids] : type.negatives)
      negatives->emplace(
        std::pair{static_cast<std::int32_t>(splits.size()), edge},
        std::move(ids));
    splits.push_back(std::move(type.splits));
    out.times.push_back(std::move(type.times));
    out.weights.push_back(std::move(type.weights));
  }
  if (!negatives->empty())
    out.negatives = [negatives](split, const task_edge& edge) {
      const auto at = negatives->find({edge.type, edge.given});
      return at == negatives->end() ? std::span<const node_id>{}
                                    : std::span<const node_id>{at->second};
    };
  if (const auto& wanted = request().split) {
    std::vector<bool> symmetric;
    for (const auto type : task_.edge_types) {
      const auto& about = info_.edge_types[static_cast<std::size_t>(type)];
      symmetric.push_back(about.source == about.destination);
    }
    out.choose = [wanted, symmetric](std::span<const task_edge> edges) {
      return split_edges(*wanted, edges, symmetric);
    };
  } else {
    out.choose = [splits = std::move(splits)](
                   std::span<const task_edge> edges) -> result<task_rows> {
      return rows_by_split(edges, splits);
    };
  }
  return writer.set_task(0, std::move(out));
}

} // namespace graphmill
