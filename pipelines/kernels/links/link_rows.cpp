#include "pipelines/kernels/links/link_rows.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

std::int64_t longest(const std::vector<std::vector<local_id>>& lists) {
  std::size_t out = 0;
  for (const auto& list : lists)
    out = std::max(out, list.size());
  return static_cast<std::int64_t>(out);
}

/// @param ends The node type at the end that is replaced, per edge type.
void add_joint(const std::vector<std::vector<local_id>>& lists, bool sources,
               std::span<const node_type_id> ends,
               std::span<const std::int64_t> offsets, link_rows& out) {
  for (std::size_t t = 0; t < lists.size(); ++t) {
    if (lists[t].empty())
      continue;
    link_rows::joint_list one;
    one.sources = sources;
    one.slot = out.slots.own() + (sources ? out.slots.joint_destinations : 0);
    for (std::size_t i = 0; i < out.relations.size(); ++i)
      if (ends[static_cast<std::size_t>(out.relations[i])]
          == static_cast<node_type_id>(t))
        one.rows.push_back(static_cast<std::int32_t>(i));
    for (const auto node : lists[t])
      one.nodes.push_back(static_cast<local_id>(node + offsets[t]));
    if (!one.rows.empty())
      out.joint.push_back(std::move(one));
  }
}

/// @param ends The node type at the end that is replaced, per edge type.
void add_full(const complete_nodes& nodes, bool sources,
              std::span<const node_type_id> ends,
              std::span<const std::int64_t> offsets, link_rows& out) {
  for (std::size_t t = 0; t < nodes.counts.size(); ++t) {
    link_rows::full_list one;
    one.type = static_cast<node_type_id>(t);
    one.first = offsets[t];
    one.count = nodes.counts[t];
    one.sources = sources;
    for (std::size_t i = 0; i < out.relations.size(); ++i)
      if (ends[static_cast<std::size_t>(out.relations[i])] == one.type)
        one.rows.push_back(static_cast<std::int32_t>(i));
    if (!one.rows.empty())
      out.full.push_back(std::move(one));
  }
}

/// The batch has all nodes that full rankings take, and lists for each row.
result<void> check_full(const full_ranking& full, const seed_batch& rows,
                        std::span<const edge_ends> ends,
                        const sampled_subgraph& graph) {
  const auto complete = [&](node_type_id type) {
    const auto t = static_cast<std::size_t>(type);
    return t < full.nodes->counts.size()
           && full.nodes->counts[t] == graph.nodes[t].found.front();
  };
  for (const auto& one : ends)
    if ((full.destinations && !complete(one.destination))
        || (full.sources && !complete(one.source)))
      return fail(ec::internal,
                  "a batch that ranks all nodes of a type lacks some");
  if ((!full.known.empty() && full.known.size() != 2 * rows.rows())
      || (!full.groups.empty() && full.groups.size() != rows.rows())
      || rows.wrong_pairs != 0)
    return fail(ec::internal, "{} lists and {} groups of {} rows",
                full.known.size(), full.groups.size(), rows.rows());
  return ok();
}

/// Nodes that rows may name.
struct seed_counts {
  const sampled_subgraph& graph;

  bool has(node_type_id type, local_id node) const {
    return node >= 0
           && node < graph.nodes[static_cast<std::size_t>(type)].found.front();
  }
};

result<void> check_joint(const std::vector<std::vector<local_id>>& lists,
                         const seed_counts& seeds) {
  if (!lists.empty() && lists.size() != seeds.graph.nodes.size())
    return fail(ec::internal,
                "a batch has joint negatives of {} node types, and there are "
                "{}",
                lists.size(), seeds.graph.nodes.size());
  for (std::size_t t = 0; t < lists.size(); ++t)
    for (const auto node : lists[t])
      if (!seeds.has(static_cast<node_type_id>(t), node))
        return fail(ec::internal,
                    "a joint negative is node {} of type {}, and no seed is",
                    node, t);
  return ok();
}

result<void> check_row(const seed_batch& rows, std::size_t i,
                       const edge_ends& ends, const seed_counts& seeds) {
  const auto* local = rows.locals.data() + i * rows.columns;
  for (std::size_t c = 0; c < rows.columns; ++c) {
    const auto at_source = rows.at_source(c);
    if ((c < 2 || local[c] != seed_batch::none)
        && !seeds.has(at_source ? ends.source : ends.destination, local[c]))
      return fail(ec::internal,
                  "column {} of row {} of a batch is node {}, and no seed is",
                  c, i, local[c]);
  }
  return ok();
}

} // namespace

result<void> check_link_rows(const seed_batch& rows,
                             std::span<const edge_ends> ends,
                             const sampled_subgraph& graph, bool negatives) {
  const seed_counts seeds{graph};
  const auto single = rows.wrong_destinations + rows.wrong_sources;
  const auto wrong = single + 2 * rows.wrong_pairs;
  const auto joint =
    !rows.joint_destinations.empty() || !rows.joint_sources.empty();
  if (rows.columns != 2 + wrong || rows.locals.size() % rows.columns != 0
      || (!negatives && (wrong != 0 || joint))
      || (rows.wrong_pairs != 0 && (single != 0 || joint)))
    return fail(ec::internal,
                "{} nodes of rows of {} columns, of which {} are negatives",
                rows.locals.size(), rows.columns, wrong);
  const auto fits = [&](const auto& list) {
    return list.empty() || list.size() == rows.rows();
  };
  if (!fits(rows.relations) || !fits(rows.weights))
    return fail(ec::internal, "{} edge types and {} weights of {} rows",
                rows.relations.size(), rows.weights.size(), rows.rows());
  for (const auto weight : rows.weights)
    if (!std::isfinite(weight) || weight < 0)
      return fail(ec::invalid_data, "a row weighs {}", weight);
  if (rows.full)
    GRAPHMILL_TRYV(check_full(*rows.full, rows, ends, graph));
  GRAPHMILL_TRYV(check_joint(rows.joint_destinations, seeds));
  GRAPHMILL_TRYV(check_joint(rows.joint_sources, seeds));
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto relation = rows.relations.empty() ? 0 : rows.relations[i];
    if (relation < 0 || relation >= std::ssize(ends))
      return fail(ec::internal,
                  "row {} of a batch is of edge type {} of {} of the task", i,
                  relation, ends.size());
    GRAPHMILL_TRYV(
      check_row(rows, i, ends[static_cast<std::size_t>(relation)], seeds));
  }
  return ok();
}

link_slots slots_of(const seed_batch& rows) {
  return {static_cast<std::int64_t>(rows.wrong_destinations + rows.wrong_pairs),
          static_cast<std::int64_t>(rows.wrong_sources),
          longest(rows.joint_destinations), longest(rows.joint_sources)};
}

namespace {

/// Every row and each of its wrong pairs is a row.
link_rows rows_of_pairs(const seed_batch& rows, std::span<const edge_ends> ends,
                        std::span<const std::int64_t> offsets) {
  link_rows out;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto relation = rows.relations.empty() ? 0 : rows.relations[i];
    const auto& types = ends[static_cast<std::size_t>(relation)];
    const auto from = offsets[static_cast<std::size_t>(types.source)];
    const auto to = offsets[static_cast<std::size_t>(types.destination)];
    const auto* local = rows.locals.data() + i * rows.columns;
    for (std::size_t c = 0; c < rows.columns; c += 2) {
      const auto exists =
        local[c] != seed_batch::none && local[c + 1] != seed_batch::none;
      const auto* pair = exists ? local + c : local;
      out.sources.push_back(static_cast<local_id>(pair[0] + from));
      out.destinations.push_back(static_cast<local_id>(pair[1] + to));
      out.candidates.push_back(exists ? out.destinations.back()
                                      : seed_batch::none);
      out.relations.push_back(relation);
    }
  }
  return out;
}

} // namespace

link_rows link_rows_of(const seed_batch& rows, std::span<const edge_ends> ends,
                       std::span<const std::int64_t> offsets) {
  if (rows.wrong_pairs != 0)
    return rows_of_pairs(rows, ends, offsets);
  link_rows out;
  out.slots = slots_of(rows);
  out.relations = rows.relations;
  out.relations.resize(rows.rows());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto& types = ends[static_cast<std::size_t>(out.relations[i])];
    const auto* local = rows.locals.data() + i * rows.columns;
    const auto from = offsets[static_cast<std::size_t>(types.source)];
    const auto to = offsets[static_cast<std::size_t>(types.destination)];
    out.sources.push_back(static_cast<local_id>(local[0] + from));
    out.destinations.push_back(static_cast<local_id>(local[1] + to));
    for (std::size_t c = 1; c < rows.columns; ++c) {
      const auto wrong_source = c >= 2 + rows.wrong_destinations;
      out.candidates.push_back(
        local[c] == seed_batch::none
          ? seed_batch::none
          : static_cast<local_id>(local[c] + (wrong_source ? from : to)));
    }
  }
  std::vector<node_type_id> at_source;
  std::vector<node_type_id> at_destination;
  for (const auto& one : ends) {
    at_source.push_back(one.source);
    at_destination.push_back(one.destination);
  }
  add_joint(rows.joint_destinations, false, at_destination, offsets, out);
  add_joint(rows.joint_sources, true, at_source, offsets, out);
  if (rows.full && rows.full->destinations)
    add_full(*rows.full->nodes, false, at_destination, offsets, out);
  if (rows.full && rows.full->sources)
    add_full(*rows.full->nodes, true, at_source, offsets, out);
  return out;
}

bool link_rows::replaces_sources() const {
  return slots.wrong_sources + slots.joint_sources > 0
         || std::any_of(full.begin(), full.end(),
                        [](const full_list& one) { return one.sources; });
}

std::vector<std::vector<std::int32_t>>
rows_by_relation(std::span<const std::int32_t> relations, std::size_t count) {
  std::vector<std::vector<std::int32_t>> out(count);
  for (std::size_t i = 0; i < relations.size(); ++i)
    out[static_cast<std::size_t>(relations[i])].push_back(
      static_cast<std::int32_t>(i));
  return out;
}

} // namespace graphmill
