#include "partition/partitioners/graph/graph_view.hpp"

#include "partition/dataset/label_sets.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace graphmill {

namespace {

/// Rows between two calls of the monitor.
constexpr std::int64_t tell_rows = std::int64_t{1} << 16;

result<id_span> ids_of(const npy_array& array) {
  if (array.type() != dtype::int32 && array.type() != dtype::int64)
    return fail(ec::invalid_data,
                "{} holds {}, but node ids are int32 or "
                "int64",
                array.path().string(), to_string(array.type()));
  return id_span{array.data(), array.size(), array.type() == dtype::int64};
}

result<void> check_rows(const graph_view::relation& edges, std::int64_t sources,
                        const npy_array& indptr, const npy_array& indices,
                        monitor& watch) {
  const auto rows = static_cast<std::int64_t>(edges.indptr.size()) - 1;
  if (edges.indptr[0] != 0 || edges.indptr[rows] != edges.indices.size)
    return fail(ec::invalid_data,
                "{} runs from {} to {}, but must run from 0 to the {} edges in "
                "{}",
                indptr.path().string(), edges.indptr[0], edges.indptr[rows],
                edges.indices.size, indices.path().string());
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto begin = edges.indptr[row];
    const auto end = edges.indptr[row + 1];
    if (begin > end || end > edges.indices.size)
      return fail(ec::invalid_data,
                  "{} does not ascend: row {} runs from {} to {}",
                  indptr.path().string(), row, begin, end);
    for (auto i = begin; i < end; ++i)
      if (const auto id = edges.indices[i]; id < 0 || id >= sources)
        return fail(ec::invalid_data,
                    "edge {} in {} comes from node {}, but there are {} nodes",
                    i, indices.path().string(), id, sources);
    if (row % tell_rows == 0
        && !watch.tell("check edges", static_cast<std::uint64_t>(end),
                       static_cast<std::uint64_t>(edges.indices.size)))
      return watch.check();
  }
  return ok();
}

} // namespace

result<graph_view> graph_view::open(const dataset& data, monitor& watch) {
  graph_view view;
  view.data_ = &data;
  view.type_begin_.push_back(0);
  for (const auto& type : data.info().node_types)
    view.type_begin_.push_back(view.type_begin_.back() + type.count);
  const auto types = static_cast<edge_type_id>(data.info().edge_types.size());
  for (edge_type_id type = 0; type < types; ++type)
    GRAPHMILL_TRYV(view.add_relation(type, watch));
  GRAPHMILL_TRYV(view.check_seeds());
  return view;
}

result<void> graph_view::add_relation(edge_type_id type, monitor& watch) {
  const auto& info = data_->info().edge_types[type];
  const auto& arrays = data_->edges(type);
  const auto& nodes = data_->info().node_types;
  GRAPHMILL_TRYV(
    arrays.indptr.expect_shape({nodes[info.destination].count + 1}));
  GRAPHMILL_TRY(auto indptr, arrays.indptr.as<std::int64_t>());
  GRAPHMILL_TRY(auto indices, ids_of(arrays.indices));
  relation edges{type, info.source, info.destination, indptr, indices};
  GRAPHMILL_TRYV(check_rows(edges, nodes[info.source].count, arrays.indptr,
                            arrays.indices, watch));
  edge_count_ += indices.size;
  relations_.push_back(edges);
  return ok();
}

namespace {

/// The seeds of a type, of its own splits and of those of its label sets.
std::vector<const npy_array*> all_seeds(const dataset& data,
                                        node_type_id type) {
  std::vector<const npy_array*> out;
  for (const auto& of : labels_in(data, type))
    for (const auto& array : of.arrays.splits)
      if (array)
        out.push_back(&*array);
  return out;
}

} // namespace

result<void> graph_view::check_seeds() const {
  const auto& types = data_->info().node_types;
  for (node_type_id type = 0; type < static_cast<node_type_id>(types.size());
       ++type)
    for (const auto* array : all_seeds(*data_, type)) {
      GRAPHMILL_TRY(auto ids, array->as<node_id>());
      std::vector<bool> seen(types[type].count);
      for (auto id : ids) {
        if (id < 0 || id >= types[type].count)
          return fail(ec::invalid_data,
                      "{} names node {}, but there are {} nodes of type {}",
                      array->path().string(), id, types[type].count,
                      types[type].name);
        if (seen[id])
          return fail(ec::invalid_data, "{} names node {} twice",
                      array->path().string(), id);
        seen[id] = true;
      }
    }
  return ok();
}

node_type_id graph_view::type_of(vertex_id v) const {
  const auto after =
    std::upper_bound(type_begin_.begin() + 1, type_begin_.end(), v);
  return static_cast<node_type_id>(after - type_begin_.begin() - 1);
}

std::optional<std::span<const node_id>> graph_view::seeds(node_type_id type,
                                                          split which) const {
  const auto& array =
    data_->nodes(type).splits[static_cast<std::size_t>(which)];
  if (!array)
    return std::nullopt;
  auto ids = array->as<node_id>(); // Type and range were checked by `open`.
  return ids ? std::optional{ids.value()} : std::nullopt;
}

neighbour_lists graph_view::in_neighbours() const {
  return [this](vertex_id v, std::vector<neighbour>& out) {
    out.clear();
    for_each_in_neighbour(v, [&](vertex_id u) {
      if (u != v)
        out.push_back({u, 1});
    });
  };
}

vertex_loads graph_view::loads() const {
  std::vector<std::string> names;
  for (const auto& type : info().node_types)
    names.push_back(type.name);
  std::vector<std::uint8_t> is_seed(vertex_count());
  const auto target = info().target;
  for (auto id :
       seeds(target, split::train).value_or(std::span<const node_id>{}))
    is_seed[type_begin_[target] + id] = 1;
  std::vector<std::int64_t> in_edges(vertex_count());
  for (const auto& edges : relations_)
    for (std::size_t row = 0; row + 1 < edges.indptr.size(); ++row)
      in_edges[type_begin_[edges.destination] + row] +=
        edges.indptr[row + 1] - edges.indptr[row];
  return {std::move(names), type_begin_, std::move(is_seed),
          std::move(in_edges)};
}

} // namespace graphmill
