#include "partition/importers/csv/csv_tasks.hpp"

#include "messages/base/printable.hpp"
#include "messages/words/number_text.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/importers/edge_split.hpp"
#include "partition/importers/exact_number.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

constexpr std::uint8_t no_split = 3;

/// What stands in a column of the row; nothing if there is no such column.
std::string_view cell(const csv_rows& rows, std::optional<std::size_t> column) {
  return column ? trim_blanks(rows.fields()[*column]) : std::string_view{};
}

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
                                 const dataset_info& info, std::size_t place,
                                 const no_label_values& none,
                                 const known_classes& known)
  : options_(options), graph_(graph), place_(place), task_(info.tasks[place]),
    info_(info), new_split_(split_for(options.new_rows, task_.name)),
    types_(task_.edge_types.size()),
    known_(traits_of(task_.kind).labels == label_kind::classes
             ? known.find_task(task_.name)
             : nullptr),
    texts_(none, known_, "task " + task_.name),
    numbers_("--task-kind edge_value", none, options.decimal_commas) {}

/// Fails if the splits of new edges are said twice.
result<void> csv_task_reader::check_new_split(const csv_edge_file& file) const {
  const auto column = file.layout.task(place_).split;
  const auto* said = said_for(options_.new_rows, task_.name);
  if (!column || said == nullptr)
    return ok();
  return fail(ec::invalid_argument,
              "--split {}: column {} of {} says the splits of its edges for "
              "the task {} already; leave one of both out{}",
              *said ? file_stem(**said) : "none",
              column_text(file.layout, *column), file.table.file.string(),
              task_.name,
              info_.tasks.size() == 1
                ? ""
                : ", or say --split TASK=SPLIT of other tasks alone");
}

/// Fails unless something says which edges train.
result<void> csv_task_reader::check_split(bool split_told, bool timed) const {
  if (request().split && split_told)
    return fail(ec::invalid_argument,
                "--split-edges: the source says the splits of edges already; "
                "leave one of both out{}",
                options_.changes.tasks.size() == 1
                  ? ""
                  : fmt::format(" for the task {}, or say TASK= before each",
                                task_.name));
  if (!request().split && !split_told)
    return fail(ec::invalid_argument,
                "task {}: nothing says which edges train: say --split-edges "
                "0.85,0.05,0.1, --task-split COLUMN, or --task-train FILE, "
                "--task-val FILE and --task-test FILE",
                task_.name);
  if (request().split && request().split->order == edge_order::time && !timed)
    return fail(ec::invalid_argument,
                "--split-edges by time: no edge list has a column of times; "
                "say which one it is (--edge-time COLUMN, or --task-time "
                "COLUMN if nothing else is to know it)");
  return ok();
}

result<void> csv_task_reader::check_columns() const {
  if (task_.kind == edge_task_kind::edge_labels)
    return fail(ec::invalid_argument,
                "--task-kind edge_labels: tables have one label for each edge; "
                "save arrays and use graphmill import npy");
  std::vector<const csv_edge_file*> lists; // With edges of the task.
  edge_type_id type = 0;
  for (const auto& file : graph_.edges) {
    const auto first = type;
    type += static_cast<edge_type_id>(file.names.size());
    if (std::ranges::any_of(task_.edge_types, [&](edge_type_id one) {
          return one >= first && one < type;
        }))
      lists.push_back(&file);
  }
  const auto columns_of = [this](const csv_edge_file* file) {
    return file->layout.task(place_);
  };
  const auto labelled = traits_of(task_.kind).labels.has_value();
  const auto has_labels = std::ranges::any_of(
    lists, [&](auto* file) { return columns_of(file).label.has_value(); });
  // Edges that are to be predicted need none.
  const auto is_like = task_.kind == edge_task_kind::edge_class
                         ? known_ != nullptr
                         : !options_.like.empty();
  if (labelled && !has_labels && !is_like)
    return fail(ec::invalid_argument,
                "--task-kind {}: no edge list has a column of labels; say "
                "which one it is (--task-label COLUMN), or take the classes of "
                "a dataset with this task over (--like DATASET)",
                traits_of(task_.kind).name);
  if (!labelled && has_labels)
    return fail(ec::invalid_argument,
                "--task-label: a task of kind {} has no labels; say "
                "--task-kind edge_class or edge_value, or leave it out",
                traits_of(task_.kind).name);
  auto timed = false;
  auto split_told = false;
  const auto appended = !options_.after.empty();
  for (const auto* file : lists) {
    const auto columns = columns_of(file);
    if (appended)
      GRAPHMILL_TRYV(check_new_split(*file));
    split_told = split_told || says_task_split(*file, place_);
    timed = timed || columns.time || file->layout.edge_time;
    for (const auto& [wanted, column, flag] :
         {std::tuple{has_labels && !appended, columns.label, "--task-label"},
          std::tuple{task_.timed, columns.time, "--task-time"},
          std::tuple{task_.weighted, columns.weight, "--task-weight"}})
      if (wanted && !column && file->layout.count() > 0)
        return fail(
          ec::invalid_argument,
          "task {}: {} has no column for {}, which the task takes "
          "from its other edge lists; say which one it is ({} COLUMN)",
          task_.name, file->table.file.string(), flag, flag);
  }
  return options_.after.empty() ? check_split(split_told, timed) : ok();
}

bool is_of_task(const edge_task_request& task, const csv_graph& graph,
                const csv_edge_file& file) {
  const auto has_name = [&](const std::string& middle) {
    const auto whole = fmt::format("{}__{}__{}", graph.nodes[file.source].name,
                                   middle, graph.nodes[file.destination].name);
    return std::ranges::any_of(task.edge_types, [&](const std::string& name) {
      return name == middle || name == whole;
    });
  };
  return task.edge_types.empty() || std::ranges::any_of(file.names, has_name);
}

bool says_task_split(const csv_edge_file& file, std::size_t task) {
  return file.layout.task(task).split
         || std::ranges::any_of(file.splits_of_files, [](const auto& said) {
              return said.has_value();
            });
}

result<std::optional<split>> task_split_in(const csv_edge_file& file,
                                           std::size_t task,
                                           const csv_rows& rows) {
  if (const auto column = file.layout.task(task).split)
    return parse_csv_split(rows.reader(), cell(rows, column));
  return file.splits_of_files[rows.file()];
}

result<std::vector<node_id>>
csv_task_reader::negatives_in(const csv_edge_file& file, std::string_view text,
                              const csv_rows& rows) const {
  std::vector<node_id> out;
  while (!text.empty()) {
    const auto end = text.find_first_of("| ");
    const auto id = trim_blanks(text.substr(0, end));
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    if (id.empty())
      continue;
    const auto found = graph_.nodes[file.destination].find(hashed_id{id});
    if (!found)
      return rows.reader().wrong(fmt::format(
        "the negative \"{}\" is no node of type {}", printable(std::string{id}),
        graph_.nodes[file.destination].name));
    out.push_back(*found);
  }
  return out;
}

/// All cells are read, also behind one that is wrong.
result<bool> csv_task_reader::read_cells(const csv_edge_file& file,
                                         csv_rows& rows) {
  const auto columns = file.layout.task(place_);
  auto good = true;
  const auto take = [&](std::optional<std::size_t> column,
                        auto read) -> result<void> {
    good = good && read;
    return rows.check(column.value_or(0), read);
  };
  const auto number = [&](std::optional<std::size_t> column,
                          const char* what) -> result<double> {
    const auto text = cell(rows, column);
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
    return rows.reader().wrong(fmt::format(
      "the {} \"{}\" is no finite number{}", what, printable(std::string{text}),
      number_hint(text, options_.decimal_commas ? "" : decimal_flag)));
  };
  const auto told_split = task_split_in(file, place_, rows);
  GRAPHMILL_TRYV(take(columns.split, told_split));
  auto in = told_split ? told_split.value() : std::nullopt;
  if (!columns.split && !options_.after.empty())
    in = new_split_;
  if (in)
    last_.split = static_cast<std::uint8_t>(*in);
  last_.label = cell(rows, columns.label);
  if (task_.kind == edge_task_kind::edge_value) {
    const auto told = numbers_.read(rows.reader(), last_.label);
    GRAPHMILL_TRYV(take(columns.label, told));
    last_.value = told ? told.value() : last_.value;
  } else if (task_.kind == edge_task_kind::edge_class) {
    const auto told = texts_.check(rows.reader(), last_.label);
    GRAPHMILL_TRYV(take(columns.label, told));
  }
  if (columns.time) {
    const auto told = number(columns.time, "time");
    GRAPHMILL_TRYV(take(columns.time, told));
    last_.time = told ? told.value() : 0;
  }
  if (columns.weight) {
    const auto told = number(columns.weight, "weight of the row");
    GRAPHMILL_TRYV(take(columns.weight, told));
    const auto stored = told ? edge_weight_from(told.value()) : std::nullopt;
    if (told && !stored) {
      good = false;
      GRAPHMILL_TRYV(rows.reject(columns.weight,
                                 "the weight of the row is negative, or beyond "
                                 "float32"));
    }
    last_.weight = stored.value_or(1);
  }
  if (columns.negatives) {
    auto told = negatives_in(file, cell(rows, columns.negatives), rows);
    GRAPHMILL_TRYV(take(columns.negatives, told));
    if (told)
      last_.negatives = std::move(told).value();
  }
  return good && rows.is_sound();
}

result<bool> csv_task_reader::read(edge_type_id type, const csv_edge_file& file,
                                   csv_rows& rows) {
  last_ = {};
  const auto at = std::ranges::find(task_.edge_types, type);
  if (at == task_.edge_types.end())
    return true;
  last_.to = &types_[static_cast<std::size_t>(at - task_.edge_types.begin())];
  return read_cells(file, rows);
}

result<void> csv_task_reader::keep(const csv_reader& rows) {
  if (last_.to == nullptr)
    return ok();
  auto& to = *last_.to;
  if (task_.kind == edge_task_kind::edge_class) {
    GRAPHMILL_TRYV(texts_.add(rows, last_.label));
  } else if (task_.kind == edge_task_kind::edge_value) {
    numbers_.keep(last_.value);
  }
  if (traits_of(task_.kind).labels)
    to.labels.push_back(labelled_++);
  if (!last_.negatives.empty())
    to.negatives.emplace(std::ssize(to.splits), std::move(last_.negatives));
  to.splits.push_back(last_.split);
  to.times.push_back(last_.time);
  to.weights.push_back(last_.weight);
  return ok();
}

result<unlabelled_nodes> csv_task_reader::finish(dataset_writer& writer) {
  incoming_task out;
  out.needs_rows = options_.after.empty();
  const auto is_value = task_.kind == edge_task_kind::edge_value;
  auto labels = is_value ? numbers_.finish() : texts_.finish();
  if (known_ != nullptr)
    labels.names = *known_;
  note_unlabelled(labels.unlabelled, "task " + task_.name, options_.on_note,
                  "edge");
  out.class_count = is_value ? 1 : std::ssize(labels.names);
  out.class_names = std::move(labels.names);
  GRAPHMILL_TRYV(check_class_names(out.class_names, "task " + task_.name));
  std::vector<std::vector<std::uint8_t>> splits;
  using given =
    std::map<std::pair<std::int32_t, edge_id>, std::vector<node_id>>;
  auto negatives = std::make_shared<given>();
  for (auto& type : types_) {
    if (const auto& kind = traits_of(task_.kind).labels) {
      const auto all = is_value ? std::as_bytes(std::span{labels.values})
                                : std::as_bytes(std::span{labels.labels});
      const auto each = traits_of(*kind).bytes(1);
      auto& to = out.labels.emplace_back(type.labels.size() * each);
      for (std::size_t i = 0; i < type.labels.size(); ++i)
        std::memcpy(to.data() + i * each, all.data() + type.labels[i] * each,
                    each);
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
    out.says_splits = true;
    out.choose = [splits = std::move(splits)](
                   std::span<const task_edge> edges) -> result<task_rows> {
      return rows_by_split(edges, splits);
    };
  }
  GRAPHMILL_TRYV(writer.set_task(place_, std::move(out)));
  return std::move(labels.unlabelled);
}

} // namespace graphmill
