#include "pipelines/flow/seed_table.hpp"

#include "partition/dataset/chosen_task.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

/// The columns of rows of edges, which a file has side by side.
struct edge_columns {
  std::array<std::vector<node_id>, 2> nodes;
  std::array<std::vector<node_type_id>, 2> types; ///< Empty if all are alike.
  std::vector<std::int64_t> times;                ///< Empty if rows have none.
  std::shared_ptr<const void> keeps;
  // Of rows whose labels are not known:
  std::vector<std::int64_t> classes{};
  std::vector<std::uint8_t> label_rows{};

  /// Gives rows labels that say that there are none.
  void hide_labels(const edge_task_info& task, edge_rows& out) {
    const auto rows = out.ids.size();
    const auto& kind = traits_of(task.kind).labels;
    if (!kind)
      return;
    if (!traits_of(*kind).rows) {
      classes.assign(rows, -1);
      out.classes = classes;
      return;
    }
    out.label_bytes =
      static_cast<std::size_t>(traits_of(*kind).bytes(task.class_count));
    label_rows.assign(rows * out.label_bytes, no_labels);
    if (traits_of(*kind).numbers) {
      const std::vector<float> unknown(label_rows.size() / sizeof(float),
                                       std::numeric_limits<float>::quiet_NaN());
      std::memcpy(label_rows.data(), unknown.data(), label_rows.size());
    }
    out.label_rows = label_rows;
  }
};

/// The elements of an array, whose type has been checked when it was opened.
template <class T>
std::span<const T> elements(const npy_array& array) {
  return {reinterpret_cast<const T*>(array.data()),
          static_cast<std::size_t>(array.size())};
}

/// None if there is no array.
template <class T>
std::span<const T> elements(const std::optional<npy_array>& array) {
  return array ? elements<T>(*array) : std::span<const T>{};
}

template <class Lists>
edge_rows::shared_lists lists_of(const Lists& arrays) {
  return {elements<std::int64_t>(arrays.rows),
          elements<std::int64_t>(arrays.indptr),
          elements<std::int64_t>(arrays.ids)};
}

/// Nodes of the target type, in the order of rows.
struct timed_nodes {
  std::vector<std::int64_t> times;
  std::shared_ptr<const void> keeps;
};

std::shared_ptr<const seed_table> nodes_of(const partitioned_graph& graph,
                                           std::span<const node_id> nodes,
                                           std::shared_ptr<const void> keeps) {
  const auto target = graph.info().target;
  seed_table out;
  out.columns.push_back({target, nodes});
  out.keeps = std::move(keeps);
  if (const auto times = graph.node_times(target); !times.empty()) {
    auto with = std::make_shared<timed_nodes>();
    for (const auto node : nodes)
      with->times.push_back(times[static_cast<std::size_t>(node)]);
    with->keeps = std::move(out.keeps);
    out.times = with->times;
    out.keeps = std::move(with);
  }
  return std::make_shared<const seed_table>(std::move(out));
}

/// @param hidden Whether labels are left out.
edge_rows rows_of(const dataset_info& info, const edge_task_info& task,
                  split which, const task_split_arrays& arrays, bool hidden) {
  edge_rows out;
  out.which = which;
  for (const auto type : task.edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    out.ends.push_back({about.source, about.destination});
  }
  out.relations = elements<std::int32_t>(arrays.types);
  out.ids = elements<edge_id>(arrays.ids);
  out.weights = elements<float>(arrays.weights);
  if (const auto& kind = traits_of(task.kind).labels; kind && !hidden) {
    const auto& labels = traits_of(*kind);
    if (labels.rows) {
      out.label_bytes =
        static_cast<std::size_t>(labels.bytes(task.class_count));
      out.label_rows = {
        reinterpret_cast<const std::uint8_t*>(arrays.labels->data()),
        out.ids.size() * out.label_bytes};
    } else {
      out.classes = elements<std::int64_t>(arrays.labels);
    }
  }
  out.negatives = elements<node_id>(arrays.negatives);
  out.given = out.ids.empty() ? 0 : out.negatives.size() / out.ids.size();
  if (arrays.exclude) {
    out.excluded = lists_of(*arrays.exclude);
    out.excluded_types = elements<std::int32_t>(arrays.exclude->types);
    out.excluded_ends = elements<std::uint8_t>(arrays.exclude->ends);
  }
  if (arrays.known)
    out.known = lists_of(*arrays.known);
  return out;
}

} // namespace

std::shared_ptr<const seed_table>
table_of(std::shared_ptr<const partitioned_graph> graph, split which) {
  seed_table out;
  if (const auto& task = graph->task()) {
    const auto& rows = task->splits[static_cast<std::size_t>(which)];
    if (rows)
      return table_of(graph->info(), *chosen_task(graph->info()), which, *rows,
                      task, graph->hides_labels());
    // No row, but a table of edges like those of the other splits.
    out.columns.resize(2);
    out.edges.emplace().which = which;
    return std::make_shared<const seed_table>(std::move(out));
  }
  const auto nodes = graph->seeds(which);
  return nodes_of(*graph, nodes, graph);
}

std::shared_ptr<const seed_table>
table_of(const partitioned_graph& graph,
         std::shared_ptr<const std::vector<node_id>> nodes) {
  return nodes_of(graph, *nodes, nodes);
}

std::shared_ptr<const seed_table>
table_of(const dataset_info& info, const edge_task_info& task, split which,
         const task_split_arrays& arrays, std::shared_ptr<const void> keeps,
         bool hides_labels) {
  seed_table out;
  auto edges = rows_of(info, task, which, arrays, hides_labels);
  auto columns = std::make_shared<edge_columns>();
  columns->keeps = std::move(keeps);
  if (hides_labels)
    columns->hide_labels(task, edges);
  const auto ends = elements<node_id>(arrays.edges);
  const auto rows = edges.ids.size();
  for (std::size_t c = 0; c < 2; ++c) {
    auto& nodes = columns->nodes[c];
    auto& types = columns->types[c];
    nodes.resize(rows);
    for (std::size_t row = 0; row < rows; ++row)
      nodes[row] = ends[2 * row + c];
    if (!edges.relations.empty()) {
      types.resize(rows);
      for (std::size_t row = 0; row < rows; ++row)
        types[row] = edges.ends[edges.relation(static_cast<seed_row>(row))][c];
    }
    out.columns.push_back({edges.ends.front()[c], nodes, types});
  }
  // `check_rows` has seen that they are whole. Of other edges nobody asks.
  if (has_edge_times(info, task))
    for (const auto time : elements<double>(arrays.times))
      columns->times.push_back(static_cast<std::int64_t>(time));
  out.times = columns->times;
  out.edges = edges;
  out.keeps = std::move(columns);
  return std::make_shared<const seed_table>(std::move(out));
}

result<void> check_order_of_time(const seed_table& table, std::string_view what,
                                 std::int64_t of_step) {
  const auto later = std::ranges::adjacent_find(table.times, std::greater{});
  if (of_step < 2 || later == table.times.end())
    return ok();
  return fail(ec::invalid_argument,
              "{} are not in the order of time: row {} is of time {}, and the "
              "next one of {}. Without `sampler.disjoint`, all rows of a step "
              "see what was before the earliest of them, so that most would "
              "see little: set `sampler.disjoint: true`, or bring rows into "
              "the order of time, as an import that splits --by time does",
              what, later - table.times.begin(), later[0], later[1]);
}

result<std::shared_ptr<const seed_table>>
table_of(const partitioned_graph& graph, std::span<const named_edge> edges) {
  /// What the rows lie in.
  struct content : edge_columns {
    std::vector<std::int32_t> relations;
    std::vector<edge_id> ids;
  };
  const auto& info = graph.info();
  const auto& task = *chosen_task(info);
  const auto rows = edges.size();
  auto made = std::make_shared<content>();
  made->ids.resize(rows);
  std::iota(made->ids.begin(), made->ids.end(), edge_id{0});
  seed_table out;
  auto& about = out.edges.emplace();
  about.which = split::test;
  for (const auto type : task.edge_types) {
    const auto& of = info.edge_types[static_cast<std::size_t>(type)];
    about.ends.push_back({of.source, of.destination});
  }
  for (const auto& edge : edges)
    made->relations.push_back(edge.relation);
  std::vector<std::vector<node_id>> orders(info.node_types.size());
  for (std::size_t c = 0; c < 2; ++c) {
    for (const auto& edge : edges) {
      const auto type = about.ends[static_cast<std::size_t>(edge.relation)][c];
      const auto id = c == 0 ? edge.source : edge.destination;
      auto& order = orders[static_cast<std::size_t>(type)];
      if (order.empty() && !graph.keeps_ids()) {
        GRAPHMILL_TRY(order, graph.order(type));
      }
      made->nodes[c].push_back(
        order.empty() ? id : order[static_cast<std::size_t>(id)]);
      made->types[c].push_back(type);
    }
    out.columns.push_back(
      {about.ends.front()[c], made->nodes[c], made->types[c]});
  }
  if (task.edge_types.size() > 1)
    about.relations = made->relations;
  about.ids = made->ids;
  made->hide_labels(task, about);
  made->times.assign(rows, std::numeric_limits<std::int64_t>::max());
  out.times = made->times;
  out.keeps = std::move(made);
  return std::make_shared<const seed_table>(std::move(out));
}

} // namespace graphmill
