#include "partition/writing/task_lists.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Lists that rows share, while they are made.
struct shared_lists {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int64_t> ids;

  std::int64_t close() {
    indptr.push_back(std::ssize(ids));
    return std::ssize(indptr) - 2;
  }
};

node_pair ends_of_row(const task_edge& row) {
  return {row.source, row.destination};
}

} // namespace

std::size_t node_pair_hash::operator()(const node_pair& of) const {
  return mix64(static_cast<std::uint64_t>(of.first)
               ^ mix64(static_cast<std::uint64_t>(of.second)));
}

void held_reverses::add(const task_edge& row, double time, std::uint8_t level) {
  auto& held = levels_[{row.destination, row.source}][time];
  held = std::max(held, level);
}

std::uint8_t held_reverses::level(node_id source, node_id destination,
                                  double time) const {
  std::uint8_t out = 0;
  const auto pair = levels_.find({source, destination});
  if (pair == levels_.end())
    return out;
  for (const auto each : {any_time, time})
    if (const auto held = pair->second.find(each); held != pair->second.end())
      out = std::max(out, held->second);
  return out;
}

/// Edges of higher levels are outside of what a list shows in training anyway.
result<void> write_exclusions(const fs::path& folder, const dataset_info& info,
                              const edge_task_info& of,
                              std::span<const task_edge> rows) {
  std::map<edge_type_id, edge_index> indexes;
  for (std::size_t i = 0; i < of.edge_types.size(); ++i)
    for (const auto& type :
         {std::optional{of.edge_types[i]}, of.reverse_types[i]})
      if (type && !indexes.contains(*type)) {
        GRAPHMILL_TRY(
          auto index,
          edge_index::open(edge_folder(folder, info, *type),
                           info.edge_types[static_cast<std::size_t>(*type)]));
        indexes.emplace(*type, std::move(index));
      }
  shared_lists lists;
  std::vector<std::int32_t> types;
  std::vector<std::uint8_t> ends;
  std::vector<std::unordered_map<node_pair, std::int64_t, node_pair_hash>> seen(
    of.edge_types.size());
  for (const auto& row : rows) {
    const auto place = static_cast<std::size_t>(row.type);
    const auto [at, fresh] = seen[place].try_emplace(ends_of_row(row), 0);
    if (fresh) {
      const auto add = [&](edge_type_id type, const node_pair& nodes,
                           std::uint8_t end) {
        indexes.at(type).each_visible(nodes, [&](edge_id edge) {
          lists.ids.push_back(edge);
          types.push_back(static_cast<std::int32_t>(type));
          ends.push_back(end);
        });
      };
      const auto type = of.edge_types[place];
      const auto& joined = info.edge_types[static_cast<std::size_t>(type)];
      const auto& reverse = of.reverse_types[place];
      const node_pair back{row.destination, row.source};
      // An edge of the same type may go back, whether the type is its own
      // reverse or not.
      const auto goes_back =
        joined.source == joined.destination && row.source != row.destination;
      add(type, ends_of_row(row), 0);
      if (goes_back)
        add(type, back, 1);
      if (reverse && *reverse != type) {
        add(*reverse, back, 1);
        if (goes_back)
          add(*reverse, ends_of_row(row), 0);
      }
      at->second = lists.close();
    }
    lists.rows.push_back(at->second);
  }
  const auto which = split::train;
  GRAPHMILL_TRYV(write_task_array<std::int64_t>(folder, of, which,
                                                "exclude.rows", lists.rows));
  GRAPHMILL_TRYV(write_task_array<std::int64_t>(
    folder, of, which, "exclude.indptr", lists.indptr));
  GRAPHMILL_TRYV(write_task_array<std::int64_t>(folder, of, which,
                                                "exclude.ids", lists.ids));
  GRAPHMILL_TRYV(
    write_task_array<std::int32_t>(folder, of, which, "exclude.types", types));
  return write_task_array<std::uint8_t>(folder, of, which, "exclude.ends",
                                        ends);
}

result<void> write_known_links(const fs::path& folder, const dataset_info& info,
                               const edge_task_info& of, split which,
                               std::span<const task_edge> rows) {
  shared_lists lists;
  lists.rows.resize(2 * rows.size());
  for (std::size_t i = 0; i < of.edge_types.size(); ++i) {
    const auto type = of.edge_types[i];
    GRAPHMILL_TRY(
      const auto index,
      edge_index::open(edge_folder(folder, info, type),
                       info.edge_types[static_cast<std::size_t>(type)]));
    // Of one end of rows, the nodes at the other end.
    const auto add = [&](std::size_t side, node_id task_edge::*own) {
      std::unordered_map<node_id, std::int64_t> list_of;
      for (const auto& row : rows)
        if (std::cmp_equal(row.type, i))
          list_of.try_emplace(row.*own, -1);
      std::vector<node_pair> found;
      for (node_id d = 0; d < index.lists(); ++d)
        for (auto e = index.begin(d); e < index.begin(d + 1); ++e) {
          const auto from = side == 0 ? index.source(e) : d;
          if (list_of.contains(from))
            found.emplace_back(from, side == 0 ? d : index.source(e));
        }
      std::ranges::sort(found);
      found.erase(std::unique(found.begin(), found.end()), found.end());
      for (std::size_t f = 0; f < found.size(); ++f) {
        lists.ids.push_back(found[f].second);
        if (f + 1 == found.size() || found[f + 1].first != found[f].first)
          list_of[found[f].first] = lists.close();
      }
      for (std::size_t r = 0; r < rows.size(); ++r)
        if (std::cmp_equal(rows[r].type, i))
          lists.rows[2 * r + side] = list_of.at(rows[r].*own);
    };
    add(0, &task_edge::source);
    add(1, &task_edge::destination);
  }
  GRAPHMILL_TRYV(write_task_array<std::int64_t>(folder, of, which, "known.rows",
                                                lists.rows, {2}));
  GRAPHMILL_TRYV(write_task_array<std::int64_t>(folder, of, which,
                                                "known.indptr", lists.indptr));
  return write_task_array<std::int64_t>(folder, of, which, "known.ids",
                                        lists.ids);
}

} // namespace graphmill
