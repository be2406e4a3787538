#include "partition/dataset/inspection/task_findings.hpp"

#include "partition/dataset/inspection/inspect_findings.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/task_checks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <tuple>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// An edge type, a source and a destination.
using link_ends = std::tuple<edge_type_id, node_id, node_id>;

/// A node type, and a node of it.
using entity = std::pair<node_type_id, node_id>;

/// The in-edges of a destination.
struct edge_list {
  id_span sources;        ///< Of all edges of the folder.
  std::int64_t first = 0; ///< Where the list begins there.
  std::int64_t size = 0;
  edge_id begin = 0; ///< The original id of its first edge.
  /// Edges at the front of the list that are of level 0, and of 0 or 1.
  std::array<std::int64_t, 2> visible{};
};

using list_finder = std::function<edge_list(edge_type_id, node_id)>;

std::array<std::int64_t, 2> visible_in(std::span<const std::int32_t> ends,
                                       std::int64_t destination,
                                       std::int64_t all) {
  const auto at = 2 * static_cast<std::size_t>(destination);
  return ends.empty() ? std::array{all, all}
                      : std::array<std::int64_t, 2>{ends[at], ends[at + 1]};
}

/// Whether a row's edge joins the row's nodes and is hidden as the split wants.
void compare_edge(const edge_list& list, const std::string& type_name,
                  std::int64_t row, edge_id edge, node_id source,
                  node_id destination, split which, finding& other,
                  finding& seen) {
  const auto place = edge - list.begin;
  if (place < 0 || place >= list.size
      || list.sources[list.first + place] != source) {
    other.add([&] {
      return fmt::format("row {} is edge {}, which does not join {} and {}",
                         row, edge, source, destination);
    });
    return;
  }
  const auto level = static_cast<std::size_t>(which);
  if (level != 0 && place < list.visible[level - 1])
    seen.add([&] {
      return fmt::format("row {} is edge {} of {}, which is shown before its "
                         "split",
                         row, edge, type_name);
    });
}

/// Calls `visit` with the edge type and the nodes of each row.
/// @pre `check_rows` holds.
template <class Visit>
void each_link(const edge_task_info& task, const task_split_arrays& rows,
               Visit visit) {
  const auto* edges = reinterpret_cast<const std::int64_t*>(rows.edges.data());
  const auto* types =
    rows.types ? reinterpret_cast<const std::int32_t*>(rows.types->data())
               : nullptr;
  for (std::int64_t row = 0; row < rows.edges.rows(); ++row)
    visit(task.edge_types[static_cast<std::size_t>(types ? types[row] : 0)],
          edges[2 * row], edges[2 * row + 1]);
}

/// Rows of later splits that training shows the other way round. Reads only
/// lists that may have such an edge.
std::int64_t count_shown_back(const dataset_info& info,
                              const edge_task_info& task,
                              const task_arrays& arrays,
                              const list_finder& find) {
  // By the list in which the edge back would be: its source, and how many rows
  // it shows.
  std::map<std::pair<edge_type_id, node_id>, std::map<node_id, std::int64_t>>
    back;
  for (const auto which : {split::validation, split::test})
    if (const auto& rows = arrays.splits[static_cast<std::size_t>(which)];
        rows && check_rows(info, task, which, *rows))
      each_link(
        task, *rows,
        [&](edge_type_id type, node_id source, node_id destination) {
          const auto& about = info.edge_types[static_cast<std::size_t>(type)];
          if (about.source == about.destination && source != destination)
            ++back[{type, source}][destination];
        });
  std::int64_t shown = 0;
  for (auto& [at, rows] : back) {
    const auto list = find(at.first, at.second);
    // Damage is told elsewhere.
    const auto visible =
      std::clamp<std::int64_t>(list.visible[0], 0, list.size);
    for (auto e = list.first; e < list.first + visible; ++e)
      if (const auto row = rows.find(list.sources[e]); row != rows.end()) {
        shown += row->second;
        rows.erase(row);
      }
  }
  return shown;
}

/// @param nodes At the destination and at the source of the row.
void count_without_others(const std::optional<known_arrays>& known,
                          std::int64_t row,
                          const std::array<std::int64_t, 2>& nodes,
                          task_inspection& found) {
  if (!known)
    return;
  const auto* lists =
    reinterpret_cast<const std::int64_t*>(known->rows.data()) + 2 * row;
  const auto* begin =
    reinterpret_cast<const std::int64_t*>(known->indptr.data());
  for (std::size_t end = 0; end < nodes.size(); ++end)
    if (begin[lists[end] + 1] - begin[lists[end]] >= nodes[end])
      ++found.without_others[end];
}

task_inspection inspect_task(const dataset_info& info,
                             const edge_task_info& task,
                             const task_arrays& arrays, const list_finder& find,
                             std::vector<std::string>& out) {
  task_inspection found;
  std::map<link_ends, split> first; ///< The first split of each link.
  std::set<entity> trained;
  std::set<entity> unseen;
  std::set<edge_type_id> trained_types;
  for (auto which : all_splits) {
    const auto& rows = arrays.splits[static_cast<std::size_t>(which)];
    if (!rows)
      continue;
    if (auto sound = check_rows(info, task, which, *rows); !sound) {
      out.push_back(std::move(sound).error().message);
      continue;
    }
    finding other;
    finding seen;
    const auto* edges =
      reinterpret_cast<const std::int64_t*>(rows->edges.data());
    const auto* ids = reinterpret_cast<const std::int64_t*>(rows->ids.data());
    const auto* types =
      rows->types ? reinterpret_cast<const std::int32_t*>(rows->types->data())
                  : nullptr;
    for (std::int64_t row = 0; row < rows->edges.rows(); ++row) {
      const auto place = static_cast<std::size_t>(types ? types[row] : 0);
      const auto type = task.edge_types[place];
      const auto& about = info.edge_types[static_cast<std::size_t>(type)];
      const auto source = edges[2 * row];
      const auto destination = edges[2 * row + 1];
      compare_edge(find(type, destination), info.edge_type_name(type), row,
                   ids[row], source, destination, which, other, seen);
      const link_ends link{type, source, destination};
      const auto [at, fresh] = first.try_emplace(link, which);
      if (!fresh)
        ++(at->second == which ? found.repeated : found.overlapping);
      const auto earlier = [&](edge_type_id reverse) {
        const auto back = first.find({reverse, destination, source});
        return back != first.end() && back->second < which;
      };
      const auto is_loop =
        about.source == about.destination && source == destination;
      if (!is_loop
          && ((about.source == about.destination && earlier(type))
              || (task.reverse_types[place]
                  && earlier(*task.reverse_types[place]))))
        ++found.reversed;
      for (const auto& one : {entity{about.source, source},
                              entity{about.destination, destination}})
        if (which == split::train)
          trained.insert(one);
        else if (!trained.contains(one))
          unseen.insert(one);
      if (which == split::train)
        trained_types.insert(type);
      else if (!trained_types.contains(type))
        ++found.untrained;
      count_without_others(
        rows->known, row,
        {info.node_types[static_cast<std::size_t>(about.destination)].count,
         info.node_types[static_cast<std::size_t>(about.source)].count},
        found);
    }
    other.report(rows->ids, out);
    seen.report(rows->ids, out);
  }
  found.unseen = std::ssize(unseen);
  found.shown_back = count_shown_back(info, task, arrays, find);
  return found;
}

/// In the folder of a whole dataset.
edge_list list_in(const dataset& data, edge_type_id type, node_id destination) {
  const auto& arrays = data.edges(type);
  const auto* begin =
    reinterpret_cast<const std::int64_t*>(arrays.indptr.data()) + destination;
  std::span<const std::int32_t> ends;
  if (arrays.visible)
    ends = {reinterpret_cast<const std::int32_t*>(arrays.visible->data()),
            static_cast<std::size_t>(arrays.visible->size())};
  return {{arrays.indices.data(), arrays.indices.size(),
           arrays.indices.type() == dtype::int64},
          begin[0],
          begin[1] - begin[0],
          begin[0],
          visible_in(ends, destination, begin[1] - begin[0])};
}

/// In the part that owns the destination.
edge_list list_in(const shard& part, edge_type_id type, node_id destination) {
  const auto& info = part.info();
  const auto& of = part.edges(type);
  const auto local =
    destination
    - part.nodes(info.edge_types[static_cast<std::size_t>(type)].destination)
        .begin;
  const auto row = static_cast<std::size_t>(local);
  const auto size = of.indptr[row + 1] - of.indptr[row];
  return {of.indices, of.indptr[row], size,
          of.original_begin.empty() ? of.indptr[row] : of.original_begin[row],
          visible_in(of.visible, local, size)};
}

/// Whether a map from global to original ids is the inverse of another one.
void find_bad_inverse(const fs::path& path, std::span<const node_id> order,
                      std::vector<std::string>& out) {
  const auto array = npy_array::open(path);
  const auto sound = array ? array.value().expect_shape({std::ssize(order)})
                           : result<void>{array.error()};
  if (!sound) {
    out.push_back(sound.error().message);
    return;
  }
  const auto& values = array.value();
  if (values.type() != dtype::int32 && values.type() != dtype::int64) {
    out.push_back(fmt::format("{} holds {}; ids expected", path.string(),
                              to_string(values.type())));
    return;
  }
  const id_span originals{values.data(), values.size(),
                          values.type() == dtype::int64};
  finding bad;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (originals[order[i]] != static_cast<node_id>(i))
      bad.add([&] {
        return fmt::format("node {} was {}, but {} is what it has become",
                           order[i], originals[order[i]], i);
      });
  bad.report(values, out);
}

} // namespace

void find_bad_levels(const npy_array& visible, const npy_array& indptr,
                     std::vector<std::string>& out) {
  finding bad;
  const auto* ends = reinterpret_cast<const std::int32_t*>(visible.data());
  const auto* begin = reinterpret_cast<const std::int64_t*>(indptr.data());
  for (std::int64_t d = 0; d < visible.rows(); ++d)
    if (ends[2 * d] < 0 || ends[2 * d] > ends[2 * d + 1]
        || ends[2 * d + 1] > begin[d + 1] - begin[d])
      bad.add([&] {
        return fmt::format("levels of node {} end at {} and {} of {} edges", d,
                           ends[2 * d], ends[2 * d + 1],
                           begin[d + 1] - begin[d]);
      });
  bad.report(visible, out);
}

void find_bad_times(const npy_array& times, const npy_array& indptr,
                    const npy_array* visible, std::vector<std::string>& out) {
  finding bad;
  const auto* of = reinterpret_cast<const std::int64_t*>(times.data());
  const auto* begin = reinterpret_cast<const std::int64_t*>(indptr.data());
  for (std::int64_t d = 0; d + 1 < indptr.rows(); ++d) {
    const auto degree = begin[d + 1] - begin[d];
    std::array<std::int64_t, 4> cuts{0, degree, degree, degree};
    if (visible != nullptr) {
      const auto* ends =
        reinterpret_cast<const std::int32_t*>(visible->data()) + 2 * d;
      cuts = {0, ends[0], ends[1], degree};
    }
    for (std::size_t level = 0; level < 3; ++level)
      if (cuts[level] >= 0 && cuts[level] <= cuts[level + 1]
          && cuts[level + 1] <= degree
          && !std::is_sorted(of + begin[d] + cuts[level],
                             of + begin[d] + cuts[level + 1]))
        bad.add([&] {
          return fmt::format(
            "the times of the in-edges of node {} do not ascend "
            "within level {}",
            d, level);
        });
  }
  bad.report(times, out);
}

task_inspection inspect_task(const dataset& data, std::size_t which_task,
                             std::vector<std::string>& out) {
  const auto& info = data.info();
  return inspect_task(
    info, info.tasks[which_task], data.task(which_task),
    [&data](edge_type_id type, node_id destination) {
      return list_in(data, type, destination);
    },
    out);
}

std::vector<std::string> notes_on_tasks(const dataset& data) {
  const auto& info = data.info();
  std::vector<std::string> out;
  for (std::size_t t = 0; t < info.tasks.size(); ++t) {
    const auto& task = info.tasks[t];
    // With times, what was before a link may tell of it.
    if (!traits_of(task.kind).negatives || task.timed)
      continue;
    const auto shown = count_shown_back(
      info, task, data.task(t), [&data](edge_type_id type, node_id node) {
        return list_in(data, type, node);
      });
    if (shown > 0)
      out.push_back(fmt::format(
        "task {}: training shows the other direction of {} of {} held-out "
        "links. If links have no direction, that tells the answer. Give each "
        "pair once and --undirected, or use --by pair, or give both "
        "directions of a pair one split.",
        task.name, shown, task.split_counts[1] + task.split_counts[2]));
  }
  return out;
}

result<std::vector<task_inspection>>
inspect_tasks(const fs::path& folder, const partitioned_graph& graph,
              std::vector<std::string>& out) {
  const auto& info = graph.info();
  std::vector<std::shared_ptr<const shard>> parts;
  for (part_id p = 0; p < graph.part_count() && !info.tasks.empty(); ++p) {
    GRAPHMILL_TRY(parts.emplace_back(), graph.open_shard(p));
  }
  const auto find = [&](edge_type_id type, node_id destination) {
    const auto to = info.edge_types[static_cast<std::size_t>(type)].destination;
    return list_in(
      *parts[static_cast<std::size_t>(graph.owner(to, destination))], type,
      destination);
  };
  std::vector<task_inspection> found;
  for (const auto& task : info.tasks) {
    GRAPHMILL_TRY(const auto arrays, open_task(folder, task));
    found.push_back(inspect_task(info, task, arrays, find, out));
  }
  return found;
}

void find_bad_orders(const fs::path& folder, const partitioned_graph& graph,
                     std::vector<std::string>& out) {
  const auto& info = graph.info();
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    const auto order = graph.order(static_cast<node_type_id>(t));
    if (!order && order.error().code != ec::not_found)
      out.push_back(order.error().message);
    std::error_code unreadable;
    const auto inverse = folder / originals_file(info.node_types[t]);
    if (order && fs::exists(inverse, unreadable))
      find_bad_inverse(inverse, order.value(), out);
  }
}

} // namespace graphmill
