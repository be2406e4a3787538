#include "pipelines/flow/seed_batch.hpp"

#include "partition/sampling/id_table.hpp"

#include <algorithm>
#include <numeric>

namespace graphmill {

namespace {

void take_single(const seed_table::column& column,
                 std::span<const seed_row> rows, seed_batch& out) {
  auto& nodes = out.nodes[static_cast<std::size_t>(column.type)];
  nodes.reserve(rows.size());
  for (const auto row : rows)
    nodes.push_back(column.node_of(row));
  std::iota(out.locals.begin(), out.locals.end(), local_id{0});
}

/// Numbers the nodes of a batch, type by type, in the order in which they are
/// added. Those of other types do not matter to a type's numbers.
class node_numbers {
public:
  /// @param trees Rows whose nodes are apart; 0: they share them.
  node_numbers(const dataset_info& info, std::size_t trees)
    : info_(info), trees_(trees), types_(info.node_types.size()) {}

  /// @param local Where the local id goes; stays there until `finish`.
  /// @param row Does not matter unless rows are apart.
  void add(node_type_id type, node_id id, local_id* local,
           std::size_t row = 0) {
    if (id == negative_lists::none) {
      *local = seed_batch::none;
      return;
    }
    auto& of_type = types_[static_cast<std::size_t>(type)];
    if (trees_ != 0)
      id += static_cast<std::int64_t>(row) * count(type);
    of_type.ids.push_back(id);
    of_type.places.push_back(local);
  }

  void finish(batch_seeds& out) {
    if (trees_ != 0)
      out.trees.resize(types_.size());
    for (std::size_t t = 0; t < types_.size(); ++t) {
      auto& [ids, places] = types_[t];
      if (ids.empty())
        continue;
      std::vector<local_id> locals(ids.size());
      pod_vector<node_id> distinct;
      const auto nodes = count(static_cast<node_type_id>(t));
      id_table numbers{
        nodes * std::max<std::int64_t>(static_cast<std::int64_t>(trees_), 1),
        nullptr};
      numbers.number(std::span<const node_id>{ids}, locals.data(), distinct);
      for (std::size_t i = 0; i < ids.size(); ++i)
        *places[i] = locals[i];
      out.nodes[t].assign(distinct.begin(), distinct.end());
      for (auto& id : out.nodes[t]) {
        if (trees_ == 0)
          break;
        out.trees[t].push_back(static_cast<std::int32_t>(id / nodes));
        id %= nodes;
      }
    }
  }

private:
  struct of_type {
    std::vector<node_id> ids;
    std::vector<local_id*> places;
  };
  std::int64_t count(node_type_id type) const {
    return info_.node_types[static_cast<std::size_t>(type)].count;
  }

  const dataset_info& info_;
  std::size_t trees_;
  std::vector<of_type> types_;
};

/// What rows that are edges have besides their nodes.
void take_contents(const edge_rows& edges, std::span<const seed_row> rows,
                   seed_batch& out) {
  const auto take = [rows](const auto& from, auto& to) {
    if (from.empty())
      return;
    to.reserve(rows.size());
    for (const auto row : rows)
      to.push_back(from[static_cast<std::size_t>(row)]);
  };
  take(edges.relations, out.relations);
  take(edges.weights, out.weights);
  take(edges.classes, out.classes);
  take(edges.ids, out.edge_ids);
  const auto width = edges.label_bytes;
  out.label_rows.reserve(rows.size() * width);
  for (const auto row : rows) {
    const auto* labels =
      edges.label_rows.data() + static_cast<std::size_t>(row) * width;
    out.label_rows.insert(out.label_rows.end(), labels, labels + width);
  }
}

void add_joint(const std::vector<std::vector<node_id>>& nodes,
               node_numbers& numbers,
               std::vector<std::vector<local_id>>& locals) {
  locals.resize(nodes.size());
  for (std::size_t t = 0; t < nodes.size(); ++t) {
    locals[t].resize(nodes[t].size());
    for (std::size_t i = 0; i < nodes[t].size(); ++i)
      numbers.add(static_cast<node_type_id>(t), nodes[t][i], &locals[t][i]);
  }
}

/// @param locals Must stay until `finish`.
void add_complete(const complete_nodes& nodes, node_numbers& numbers,
                  std::vector<local_id>& locals) {
  locals.resize(static_cast<std::size_t>(
    *std::max_element(nodes.counts.begin(), nodes.counts.end())));
  for (std::size_t t = 0; t < nodes.counts.size(); ++t)
    for (std::int64_t original = 0; original < nodes.counts[t]; ++original) {
      const auto at = static_cast<std::size_t>(original);
      numbers.add(static_cast<node_type_id>(t),
                  nodes.orders[t] ? (*nodes.orders[t])[at] : original,
                  &locals[at]);
    }
}

void take_several(const seed_table& table, std::span<const seed_row> rows,
                  const dataset_info& info, const negative_lists& negatives,
                  bool disjoint, seed_batch& out) {
  node_numbers numbers{info, disjoint ? rows.size() : 0};
  std::vector<local_id> complete; // Which are known: they are original ids.
  if (out.full)
    add_complete(*negatives.full->nodes, numbers, complete);
  auto* local = out.locals.data();
  const auto each = negatives.of_each();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const auto& column : table.columns)
      numbers.add(column.type_of(rows[r]), column.node_of(rows[r]), local++, r);
    for (std::size_t k = 0; k < each; ++k) {
      const auto end = out.at_source(2 + k) ? 0U : 1U;
      numbers.add(table.columns[end].type_of(rows[r]),
                  negatives.nodes[r * each + k], local++, r);
    }
  }
  add_joint(negatives.joint_destinations, numbers, out.joint_destinations);
  add_joint(negatives.joint_sources, numbers, out.joint_sources);
  numbers.finish(out);
}

} // namespace

std::uint64_t seed_batch::row_bytes() const {
  auto bytes =
    locals.size() * sizeof(local_id) + relations.size() * sizeof(std::int32_t)
    + weights.size() * sizeof(float) + classes.size() * sizeof(std::int64_t)
    + label_rows.size() + edge_ids.size() * sizeof(edge_id);
  bytes += (row_numbers.size() + until.size()) * sizeof(std::int64_t);
  for (const auto& of_type : trees)
    bytes += of_type.size() * sizeof(std::int32_t);
  for (const auto* lists : {&joint_destinations, &joint_sources})
    for (const auto& list : *lists)
      bytes += list.size() * sizeof(local_id);
  return full ? bytes + full->bytes() : bytes;
}

seed_batch batch_of(const seed_table& table, std::span<const seed_row> rows,
                    const dataset_info& info, const negative_lists& negatives,
                    bool disjoint) {
  seed_batch out;
  out.columns = table.columns.size() + negatives.of_each();
  out.wrong_destinations = negatives.wrong_destinations;
  out.wrong_sources = negatives.wrong_sources;
  out.wrong_pairs = negatives.wrong_pairs;
  if (!rows.empty())
    out.full = negatives.full;
  out.nodes.resize(info.node_types.size());
  out.locals.resize(rows.size() * out.columns);
  if (out.columns == 1)
    take_single(table.columns.front(), rows, out);
  else
    take_several(table, rows, info, negatives, disjoint, out);
  if (disjoint) {
    out.trees.resize(info.node_types.size());
    if (out.columns == 1) {
      auto& trees =
        out.trees[static_cast<std::size_t>(table.columns.front().type)];
      trees.resize(rows.size());
      std::iota(trees.begin(), trees.end(), 0);
    }
    for (const auto row : rows) {
      out.until.push_back(table.times[static_cast<std::size_t>(row)]);
      out.row_numbers.push_back(row);
    }
  }
  if (table.edges)
    take_contents(*table.edges, rows, out);
  return out;
}

std::vector<std::int64_t>
earliest_of(const seed_table& table,
            std::span<const std::vector<seed_row>> ranks) {
  std::vector<std::int64_t> out;
  for (const auto& rows : ranks)
    for (const auto row : rows) {
      const auto time = table.times[static_cast<std::size_t>(row)];
      if (out.empty())
        out.push_back(time);
      out.front() = std::min(out.front(), time);
    }
  return out;
}

std::vector<excluded_edges>
exclusions_of(const seed_table& table,
              std::span<const std::vector<seed_row>> ranks,
              const dataset_info& info, const time_rule& time) {
  if (!table.edges || table.edges->excluded.empty())
    return {};
  const auto& edges = *table.edges;
  // Strictly before its row there is no edge of the time of the row. Edges
  // whose time is that of their source are another matter.
  const auto comes_later = [&](edge_type_id type) {
    const auto& of = info.edge_types[static_cast<std::size_t>(type)];
    return time.used && !time.inclusive && of.timed
           && !info.node_types[static_cast<std::size_t>(of.source)].timed;
  };
  std::vector<std::vector<excluded_edges::entry>> entries(
    info.edge_types.size());
  for (const auto& rows : ranks)
    for (std::size_t place = 0; place < rows.size(); ++place) {
      const auto row = rows[place];
      const auto [from, to] = edges.excluded.range(
        edges.excluded.rows[static_cast<std::size_t>(row)]);
      for (auto i = from; i < to; ++i) {
        const auto type = edges.excluded_types[i];
        if (comes_later(type))
          continue;
        const auto end =
          info.edge_types[static_cast<std::size_t>(type)].destination;
        const auto tree =
          time.disjoint
            ? static_cast<std::int64_t>(place)
                * info.node_types[static_cast<std::size_t>(end)].count
            : 0;
        entries[static_cast<std::size_t>(type)].push_back(
          {tree
             + table.columns[edges.excluded_ends[i] == 0 ? 1 : 0].node_of(row),
           edges.excluded.ids[i]});
      }
    }
  std::vector<excluded_edges> out;
  for (auto& of_type : entries)
    out.push_back(excluded_edges::of(std::move(of_type)));
  return out;
}

} // namespace graphmill
