#include "partition/growing/new_arrays.hpp"

#include "partition/dataset/label_rows.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/growing/grown_dataset.hpp"
#include "partition/importers/edge_split.hpp"
#include "partition/importers/npy/npy_values.hpp"
#include "partition/importers/reverse.hpp"
#include "partition/importers/row_norm.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

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
result<void> check_rows_of(const node_type_info& type, const npy_array& rows,
                           const std::filesystem::path& dataset) {
  const auto width = type.feature_width;
  const auto& shape = rows.shape();
  if (type.timed)
    return fail(ec::invalid_argument, "{}: nodes of type {} have times; {}",
                rows.path().string(), type.name, instead_of_arrays(dataset));
  if (type.sparse_features || width == 0)
    return fail(ec::invalid_argument, "{}: nodes of type {} {}; {}",
                rows.path().string(), type.name,
                width == 0 ? "have no features to tell their number by"
                           : "have sparse features",
                instead_of_arrays(dataset));
  if (shape.empty() || shape.size() > 2 || columns_of(rows) != width)
    return fail(ec::invalid_argument,
                "{}: rows of {} features are expected, as other nodes of "
                "type {} have",
                rows.path().string(), width, type.name);
  return ok();
}

/// How each row of a type was scaled by itself. Fails if that took all rows.
result<row_norm> norm_of_rows(const feature_meaning& meaning,
                              const std::string& type, const npy_array& rows) {
  for (const auto norm : {row_norm::none, row_norm::l1, row_norm::l2})
    if (meaning.scaled == to_string(norm) && meaning.fitted.empty()
        && meaning.scale.empty())
      return norm;
  return fail(ec::invalid_argument,
              "{}: features of type {} were {} when it was imported, which "
              "the array cannot tell for new nodes; {}",
              rows.path().string(), type,
              meaning.fitted.empty()
                  && meaning.scaled != to_string(row_norm::none)
                ? fmt::format("scaled (--normalise {})", meaning.scaled)
                : "fitted to all nodes",
              "import everything again, or append text tables to an import of "
              "text tables");
}

result<void> expect_going_on(const std::atomic<bool>* stop,
                             const npy_array& array) {
  if (stop == nullptr || !stop->load(std::memory_order_relaxed))
    return ok();
  return fail(ec::cancelled, "stopped on request while {} was read",
              array.path().string());
}

result<void> copy_rows(const npy_array& rows, std::int64_t width, row_norm norm,
                       node_type_id type, dataset_writer& writer,
                       const std::atomic<bool>* stop) {
  const auto block = std::max<std::int64_t>(1, values_at_once / width);
  std::vector<float> values;
  std::vector<double> wide;
  for (std::int64_t row = 0; row < rows.rows(); row += block) {
    GRAPHMILL_TRYV(expect_going_on(stop, rows));
    const auto count =
      static_cast<std::size_t>(std::min(block, rows.rows() - row) * width);
    if (norm != row_norm::none) {
      wide.resize(count);
      GRAPHMILL_TRYV(copy_doubles(rows, row * width, wide));
      normalise_rows(wide, width, norm);
      GRAPHMILL_TRYV(writer.append_features(type, rounded(wide, values)));
      continue;
    }
    values.resize(count);
    GRAPHMILL_TRYV(copy_floats(rows, row * width, values));
    GRAPHMILL_TRYV(writer.append_features(type, values));
  }
  return ok();
}

/// @param reverse -1: there is none.
result<void> copy_ends(const npy_array& ends, edge_type_id type,
                       edge_type_id reverse, dataset_writer& writer,
                       const std::atomic<bool>* stop) {
  const auto edges = ends.shape()[1];
  std::vector<std::int64_t> sources;
  std::vector<std::int64_t> destinations;
  for (std::int64_t edge = 0; edge < edges; edge += values_at_once) {
    GRAPHMILL_TRYV(expect_going_on(stop, ends));
    const auto count =
      static_cast<std::size_t>(std::min(values_at_once, edges - edge));
    sources.resize(count);
    destinations.resize(count);
    GRAPHMILL_TRYV(copy_integers(ends, edge, sources));
    GRAPHMILL_TRYV(copy_integers(ends, edges + edge, destinations));
    GRAPHMILL_TRYV(
      append_both_ways(writer, type, reverse, sources, destinations));
  }
  return ok();
}

/// The type whose edges are those of another one, the other way round; types
/// that are only called like that have other degrees.
std::optional<edge_type_id> reverse_of(const dataset& data, edge_type_id type) {
  const auto& types = data.info().edge_types;
  const auto& about = types[static_cast<std::size_t>(type)];
  const auto name = reverse_name(about.name);
  const auto are_same = [](const npy_array& one, const npy_array& other) {
    return std::ranges::equal(one.bytes(), other.bytes());
  };
  for (edge_type_id i = 0; i < std::ssize(types); ++i)
    if (const auto& other = types[static_cast<std::size_t>(i)];
        other.name == name && other.source == about.destination
        && other.destination == about.source
        && are_same(data.edges(i).in_degrees, data.edges(type).out_degrees)
        && are_same(data.edges(i).out_degrees, data.edges(type).in_degrees))
      return i;
  return std::nullopt;
}

/// Fails if edges of a type have more than ends, or are made of those of
/// another type.
result<void> check_ends_of(const dataset& data, edge_type_id type,
                           const npy_array& ends) {
  const auto& info = data.info();
  const auto& about = info.edge_types[static_cast<std::size_t>(type)];
  const auto name = info.edge_type_name(type);
  if (ends.shape().size() != 2 || ends.shape()[0] != 2)
    return fail(ec::invalid_argument,
                "{}: an array [2, edges] is expected, of sources and "
                "destinations",
                ends.path().string());
  if (about.weighted || about.timed || about.feature_width > 0)
    return fail(ec::invalid_argument,
                "{}: edges of {} have {}, which arrays of ends lack; {}",
                ends.path().string(), name,
                about.weighted ? "weights"
                : about.timed  ? "times"
                               : "features",
                instead_of_arrays(data.folder()));
  for (edge_type_id forward = 0; forward < std::ssize(info.edge_types);
       ++forward)
    if (reverse_of(data, forward) == type)
      return fail(ec::invalid_argument,
                  "{}: {} has the edges of {} the other way round; give the "
                  "array of that type alone, of which both are made",
                  ends.path().string(), name, info.edge_type_name(forward));
  return ok();
}

/// The tasks that new edges are rows of, with the edge types of additions.
/// @param added Their edge types.
result<std::vector<edge_task_info>> tasks_of(const dataset_info& before,
                                             const dataset_info& added,
                                             const std::string& dataset) {
  std::vector<edge_task_info> out;
  const auto type_in = [&](edge_type_id type) {
    return added.find_edge_type(before.edge_type_name(type));
  };
  for (const auto& task : before.tasks) {
    edge_task_info to{.name = task.name,
                      .kind = task.kind,
                      .class_count = task.class_count,
                      .class_names = task.class_names};
    for (std::size_t i = 0; i < task.edge_types.size(); ++i) {
      const auto type = type_in(task.edge_types[i]);
      if (!type)
        continue;
      const auto& reverse = task.reverse_types[i];
      to.edge_types.push_back(*type);
      to.reverse_types.push_back(reverse ? type_in(*reverse) : std::nullopt);
    }
    if (to.edge_types.empty())
      continue;
    if (task.timed || task.weighted)
      return fail(ec::invalid_argument,
                  "{}: rows of the task {} have {}, which arrays of ends lack; "
                  "append text tables to an import of text tables",
                  dataset, task.name, task.timed ? "times" : "weights");
    out.push_back(std::move(to));
  }
  return out;
}

/// All edges as rows of a split, without labels.
/// @param edges By edge type.
incoming_task rows_in(const edge_task_info& task, std::optional<split> which,
                      const std::vector<std::int64_t>& edges) {
  incoming_task out;
  out.says_splits = true;
  out.needs_rows = false;
  out.choose = [which](std::span<const task_edge> all) -> result<task_rows> {
    task_rows rows;
    for (std::size_t i = 0; which && i < all.size(); ++i)
      rows[static_cast<std::size_t>(*which)].push_back(i);
    return rows;
  };
  if (const auto& kind = traits_of(task.kind).labels)
    for (const auto type : task.edge_types)
      out.labels.push_back(unknown_labels(
        *kind, task.class_count, edges[static_cast<std::size_t>(type)]));
  return out;
}

} // namespace

std::string instead_of_arrays(const std::filesystem::path& dataset) {
  std::error_code failed;
  return std::filesystem::exists(dataset / "columns.json", failed)
           ? "append them as text tables"
           : "append cannot add them to a dataset of arrays: import all arrays "
             "again";
}

result<void> import_npy_additions(const dataset& data, const new_arrays& arrays,
                                  const additions_folders& folders,
                                  const progress_callback& on_progress,
                                  const std::atomic<bool>* stop) {
  const auto& before = data.info();
  GRAPHMILL_TRY(const auto meanings,
                read_feature_meanings(data.folder(), before));
  GRAPHMILL_TRY(const auto drops, drops_self_loops(data.folder()));
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
  std::vector<row_norm> norms(nodes.size(), row_norm::none);
  dataset_info info;
  info.name = before.name;
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    const auto& type = before.node_types[t];
    info.node_types.push_back({.name = type.name});
    if (!nodes[t])
      continue;
    GRAPHMILL_TRYV(check_rows_of(type, *nodes[t], data.folder()));
    if (const auto meaning = meanings.find(type.name);
        meaning != meanings.end()) {
      GRAPHMILL_TRY(norms[t],
                    norm_of_rows(meaning->second, type.name, *nodes[t]));
    }
    info.node_types.back().count = nodes[t]->rows();
    info.node_types.back().feature_width = type.feature_width;
    info.node_types.back().feature_type = type.feature_type;
  }
  dataset_writer::options options{.on_progress = on_progress,
                                  .needs_seeds = false};
  GRAPHMILL_TRY(auto new_nodes,
                dataset_writer::create(folders.nodes, info, options));
  for (std::size_t t = 0; t < nodes.size(); ++t)
    if (nodes[t])
      GRAPHMILL_TRYV(copy_rows(*nodes[t], before.node_types[t].feature_width,
                               norms[t], static_cast<node_type_id>(t),
                               new_nodes, stop));
  GRAPHMILL_TRYV(new_nodes.finish());
  for (std::size_t t = 0; t < nodes.size(); ++t)
    info.node_types[t] = {.name = before.node_types[t].name,
                          .count = before.node_types[t].count
                                   + info.node_types[t].count};
  struct given_edges {
    const npy_array* ends;
    edge_type_id type;
    edge_type_id reverse = -1;
  };
  std::vector<given_edges> given;
  const auto declare = [&](edge_type_id id) {
    const auto& type = before.edge_types[static_cast<std::size_t>(id)];
    info.edge_types.push_back({type.source, type.name, type.destination});
    return static_cast<edge_type_id>(std::ssize(info.edge_types) - 1);
  };
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (!edges[e])
      continue;
    const auto id = static_cast<edge_type_id>(e);
    GRAPHMILL_TRYV(check_ends_of(data, id, *edges[e]));
    given.push_back({&*edges[e], declare(id)});
    if (const auto reverse = reverse_of(data, id))
      given.back().reverse = declare(*reverse);
  }
  GRAPHMILL_TRY(info.tasks, tasks_of(before, info, data.folder().string()));
  std::vector<std::int64_t> counts(info.edge_types.size());
  for (const auto& one : given)
    counts[static_cast<std::size_t>(one.type)] = one.ends->shape()[1];
  options.edges.resize(info.edge_types.size(), {.drop_self_loops = drops});
  GRAPHMILL_TRY(auto new_edges,
                dataset_writer::create(folders.edges, info, options));
  for (const auto& [ends, type, reverse] : given)
    GRAPHMILL_TRYV(copy_ends(*ends, type, reverse, new_edges, stop));
  for (std::size_t t = 0; t < info.tasks.size(); ++t)
    GRAPHMILL_TRYV(new_edges.set_task(
      t, rows_in(info.tasks[t], split_for(arrays.rows, info.tasks[t].name),
                 counts)));
  GRAPHMILL_TRYV(new_edges.finish());
  return ok();
}

} // namespace graphmill
