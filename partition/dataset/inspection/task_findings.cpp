#include "partition/dataset/inspection/task_findings.hpp"

#include "partition/dataset/inspection/inspect_findings.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/task_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

namespace graphmill {

namespace {

/// An edge type, a source and a destination.
using link_ends = std::tuple<edge_type_id, node_id, node_id>;

/// A node type, and a node of it.
using entity = std::pair<node_type_id, node_id>;

/// Whether a row's edge joins the row's nodes and is hidden as the split wants.
void compare_edge(const dataset& data, edge_type_id type, std::int64_t row,
                  edge_id edge, node_id source, node_id destination,
                  split which, finding& other, finding& seen) {
  const auto& arrays = data.edges(type);
  const auto* begin =
    reinterpret_cast<const std::int64_t*>(arrays.indptr.data()) + destination;
  const id_span sources{arrays.indices.data(), arrays.indices.size(),
                        arrays.indices.type() == dtype::int64};
  if (edge < begin[0] || edge >= begin[1] || sources[edge] != source) {
    other.add([&] {
      return fmt::format("row {} is edge {}, which does not join {} and {}",
                         row, edge, source, destination);
    });
    return;
  }
  const auto level = static_cast<int>(which);
  if (level == 0)
    return;
  const auto visible = reinterpret_cast<const std::int32_t*>(
    arrays.visible->data())[2 * destination + level - 1];
  if (edge - begin[0] < visible)
    seen.add([&] {
      return fmt::format("row {} is edge {}, which {} shows before its split",
                         row, edge, arrays.visible->path().string());
    });
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

task_inspection inspect_task(const dataset& data, std::size_t which_task,
                             std::vector<std::string>& out) {
  const auto& info = data.info();
  const auto& task = info.tasks[which_task];
  task_inspection found;
  std::map<link_ends, split> first; ///< The first split of each link.
  std::set<entity> trained;
  std::set<entity> unseen;
  for (auto which : all_splits) {
    const auto& rows =
      data.task(which_task).splits[static_cast<std::size_t>(which)];
    if (!rows)
      continue;
    if (auto sound = check_rows(info, task, *rows); !sound) {
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
      compare_edge(data, type, row, ids[row], source, destination, which, other,
                   seen);
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
    }
    other.report(rows->ids, out);
    seen.report(rows->ids, out);
  }
  found.unseen = std::ssize(unseen);
  return found;
}

} // namespace graphmill
