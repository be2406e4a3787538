#include "partition/growing/new_arrays.hpp"

#include "partition/files/npy/npy.hpp"
#include "partition/importers/npy/npy_values.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

constexpr std::int64_t values_at_once = std::int64_t{1} << 20;

/// The place of a type that an array is of. @param count Of types.
/// @param what "node" or "edge".
result<std::int32_t> type_of_array(const new_array& array,
                                   std::optional<std::int32_t> found,
                                   std::size_t count, const char* what,
                                   const std::string& dataset) {
  if (array.type.empty() && count == 1)
    return 0;
  if (array.type.empty())
    return fail(ec::invalid_argument,
                "{} has {} {} types; say which one {} is of, as TYPE=FILE",
                dataset, count, what, array.file.string());
  if (!found)
    return fail(ec::invalid_argument, "{} has no {} type \"{}\"", dataset, what,
                array.type);
  return *found;
}

/// Arrays by type. @param find Looks for a type by its name.
template <class Find>
result<std::vector<std::optional<npy_array>>>
arrays_by_type(const std::vector<new_array>& arrays, std::size_t types,
               const char* what, const std::string& dataset, Find find) {
  std::vector<std::optional<npy_array>> out(types);
  for (const auto& array : arrays) {
    GRAPHMILL_TRY(const auto type,
                  type_of_array(array, find(array.type), types, what, dataset));
    auto& to = out[static_cast<std::size_t>(type)];
    if (to)
      return fail(ec::invalid_argument,
                  "two arrays are of one {} type: {} and {}", what,
                  to->path().string(), array.file.string());
    GRAPHMILL_TRY(to, npy_array::open_any(array.file));
  }
  return out;
}

/// Fails unless rows of an array are features of a type.
result<void> check_rows_of(const node_type_info& type, const npy_array& rows) {
  const auto width = type.feature_width;
  const auto& shape = rows.shape();
  if (type.timed)
    return fail(ec::invalid_argument,
                "{}: nodes of type {} have times; append them as text tables",
                rows.path().string(), type.name);
  if (type.sparse_features || width == 0)
    return fail(ec::invalid_argument,
                "{}: nodes of type {} {}; append them as text tables",
                rows.path().string(), type.name,
                width == 0 ? "have no features to tell their number by"
                           : "have sparse features");
  if (shape.empty() || shape.size() > 2
      || (shape.size() == 2 ? shape[1] : 1) != width)
    return fail(ec::invalid_argument,
                "{}: rows of {} features are expected, as other nodes of "
                "type {} have",
                rows.path().string(), width, type.name);
  return ok();
}

result<void> copy_rows(const npy_array& rows, std::int64_t width,
                       node_type_id type, dataset_writer& writer) {
  const auto block = std::max<std::int64_t>(1, values_at_once / width);
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows.rows(); row += block) {
    values.resize(
      static_cast<std::size_t>(std::min(block, rows.rows() - row) * width));
    GRAPHMILL_TRYV(copy_floats(rows, row * width, values));
    GRAPHMILL_TRYV(writer.append_features(type, values));
  }
  return ok();
}

result<void> copy_ends(const npy_array& ends, edge_type_id type,
                       dataset_writer& writer) {
  const auto edges = ends.shape()[1];
  std::vector<std::int64_t> sources;
  std::vector<std::int64_t> destinations;
  for (std::int64_t edge = 0; edge < edges; edge += values_at_once) {
    const auto count =
      static_cast<std::size_t>(std::min(values_at_once, edges - edge));
    sources.resize(count);
    destinations.resize(count);
    GRAPHMILL_TRYV(copy_integers(ends, edge, sources));
    GRAPHMILL_TRYV(copy_integers(ends, edges + edge, destinations));
    GRAPHMILL_TRYV(writer.append_edges(type, sources, destinations));
  }
  return ok();
}

/// Fails if edges of a type have more than ends, or their reverses are missing.
result<void> check_ends_of(const dataset_info& info, edge_type_id type,
                           const std::vector<std::optional<npy_array>>& edges) {
  const auto& about = info.edge_types[static_cast<std::size_t>(type)];
  const auto& ends = *edges[static_cast<std::size_t>(type)];
  const auto name = info.edge_type_name(type);
  if (ends.shape().size() != 2 || ends.shape()[0] != 2)
    return fail(ec::invalid_argument,
                "{}: an array [2, edges] is expected, of sources and "
                "destinations",
                ends.path().string());
  if (about.weighted || about.timed || about.feature_width > 0)
    return fail(ec::invalid_argument,
                "{}: edges of {} have {}, which arrays of ends lack; append "
                "them as text tables",
                ends.path().string(), name,
                about.weighted ? "weights"
                : about.timed  ? "times"
                               : "features");
  for (std::size_t i = 0; i < info.edge_types.size(); ++i)
    if (info.edge_types[i].name == "rev_" + about.name
        && info.edge_types[i].source == about.destination
        && info.edge_types[i].destination == about.source && !edges[i])
      return fail(ec::invalid_argument,
                  "{} has the reverse of {} as {}; give that an array, too",
                  info.name, name,
                  info.edge_type_name(static_cast<edge_type_id>(i)));
  return ok();
}

} // namespace

result<void> import_npy_additions(const dataset_info& before,
                                  const new_arrays& arrays,
                                  const additions_folders& folders,
                                  const progress_callback& on_progress) {
  GRAPHMILL_TRY(
    const auto nodes,
    arrays_by_type(arrays.nodes, before.node_types.size(), "node", before.name,
                   [&](const auto& name) -> std::optional<std::int32_t> {
                     return before.find_node_type(name);
                   }));
  GRAPHMILL_TRY(
    const auto edges,
    arrays_by_type(arrays.edges, before.edge_types.size(), "edge", before.name,
                   [&](const auto& name) -> std::optional<std::int32_t> {
                     return before.find_edge_type(name);
                   }));
  dataset_info info;
  info.name = before.name;
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    const auto& type = before.node_types[t];
    info.node_types.push_back({.name = type.name});
    if (!nodes[t])
      continue;
    GRAPHMILL_TRYV(check_rows_of(type, *nodes[t]));
    info.node_types.back().count = nodes[t]->rows();
    info.node_types.back().feature_width = type.feature_width;
    info.node_types.back().feature_type = type.feature_type;
  }
  const dataset_writer::options options{.on_progress = on_progress,
                                        .needs_seeds = false};
  GRAPHMILL_TRY(auto new_nodes,
                dataset_writer::create(folders.nodes, info, options));
  for (std::size_t t = 0; t < nodes.size(); ++t)
    if (nodes[t])
      GRAPHMILL_TRYV(copy_rows(*nodes[t], before.node_types[t].feature_width,
                               static_cast<node_type_id>(t), new_nodes));
  GRAPHMILL_TRYV(new_nodes.finish());
  for (std::size_t t = 0; t < nodes.size(); ++t)
    info.node_types[t] = {.name = before.node_types[t].name,
                          .count = before.node_types[t].count
                                   + info.node_types[t].count};
  std::vector<edge_type_id> types;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (!edges[e])
      continue;
    const auto& type = before.edge_types[e];
    GRAPHMILL_TRYV(check_ends_of(before, static_cast<edge_type_id>(e), edges));
    types.push_back(static_cast<edge_type_id>(e));
    info.edge_types.push_back({type.source, type.name, type.destination});
  }
  GRAPHMILL_TRY(auto new_edges,
                dataset_writer::create(folders.edges, info, options));
  for (std::size_t i = 0; i < types.size(); ++i)
    GRAPHMILL_TRYV(copy_ends(*edges[static_cast<std::size_t>(types[i])],
                             static_cast<edge_type_id>(i), new_edges));
  GRAPHMILL_TRYV(new_edges.finish());
  return ok();
}

} // namespace graphmill
