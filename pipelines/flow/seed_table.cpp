#include "pipelines/flow/seed_table.hpp"

#include "partition/dataset/chosen_task.hpp"

#include <utility>

namespace graphmill {

namespace {

/// The columns of rows of edges, which a file has side by side.
struct edge_columns {
  std::array<std::vector<node_id>, 2> nodes;
  std::array<std::vector<node_type_id>, 2> types; ///< Empty if all are alike.
  std::shared_ptr<const void> keeps;
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

edge_rows rows_of(const dataset_info& info, const edge_task_info& task,
                  split which, const task_split_arrays& arrays) {
  edge_rows out;
  out.which = which;
  for (const auto type : task.edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    out.ends.push_back({about.source, about.destination});
  }
  out.relations = elements<std::int32_t>(arrays.types);
  out.ids = elements<edge_id>(arrays.ids);
  out.weights = elements<float>(arrays.weights);
  if (const auto& kind = traits_of(task.kind).labels) {
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
                      task);
    // No row, but a table of edges like those of the other splits.
    out.columns.resize(2);
    out.edges.emplace().which = which;
    return std::make_shared<const seed_table>(std::move(out));
  }
  out.columns.push_back({graph->info().target, graph->seeds(which)});
  out.keeps = std::move(graph);
  return std::make_shared<const seed_table>(std::move(out));
}

std::shared_ptr<const seed_table>
table_of(const dataset_info& info,
         std::shared_ptr<const std::vector<node_id>> nodes) {
  seed_table out;
  out.columns.push_back({info.target, *nodes});
  out.keeps = std::move(nodes);
  return std::make_shared<const seed_table>(std::move(out));
}

std::shared_ptr<const seed_table>
table_of(const dataset_info& info, const edge_task_info& task, split which,
         const task_split_arrays& arrays, std::shared_ptr<const void> keeps) {
  seed_table out;
  const auto edges = rows_of(info, task, which, arrays);
  auto columns = std::make_shared<edge_columns>();
  columns->keeps = std::move(keeps);
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
  out.edges = edges;
  out.keeps = std::move(columns);
  return std::make_shared<const seed_table>(std::move(out));
}

} // namespace graphmill
