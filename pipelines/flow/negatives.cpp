#include "pipelines/flow/negatives.hpp"

#include "partition/dataset/chosen_task.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/task/ranked_ends.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

/// Vain draws of a negative, after which the nodes that are left are listed.
constexpr int most_vain_draws = 16;

/// The last word of a stream's counter.
enum wrong_end : std::uint32_t { wrong_destination = 0, wrong_source = 1 };

constexpr std::uint32_t joint_words(wrong_end end, std::size_t type) {
  return 2 * (static_cast<std::uint32_t>(type) + 1) + end;
}

purpose purpose_of(split which) {
  switch (which) {
  case split::train:
    return purpose::train_negatives;
  case split::validation:
    return purpose::validation_negatives;
  case split::test:
    break;
  }
  return purpose::test_negatives;
}

/// What is known at an end of a row, in any split.
std::span<const node_id> known_of(const edge_rows& edges, seed_row row,
                                  wrong_end end) {
  if (edges.known.empty())
    return {};
  const auto [from, behind] = edges.known.range(
    edges.known.rows[2 * static_cast<std::size_t>(row) + std::size_t{end}]);
  return edges.known.ids.subspan(from, behind - from);
}

/// The same bits everywhere, unlike `std::pow`: roots are rounded correctly.
double to_three_quarters(double x) {
  const auto root = std::sqrt(x);
  return root * std::sqrt(root);
}

/// Whether negatives replace this end alone.
bool corrupts(corrupted_end which, wrong_end end) {
  if (which == corrupted_end::pair)
    return false;
  return which == corrupted_end::both
         || (which == corrupted_end::source) == (end == wrong_source);
}

/// What evaluations draw for each row: no more than there are nodes, and
/// nothing where all nodes are ranked.
std::array<std::int64_t, 2> evaluated_of(const definition& def,
                                         const dataset_info& info,
                                         const edge_task_info& task) {
  std::array<std::int64_t, 2> nodes{};
  for (const auto type : task.edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    for (const auto end : {wrong_destination, wrong_source})
      nodes[end] = std::max(
        nodes[end],
        info
          .node_types[static_cast<std::size_t>(
            end == wrong_destination ? about.destination : about.source)]
          .count);
  }
  const auto all = ends_ranked_among_all(def, info, task);
  for (const auto end : {wrong_destination, wrong_source})
    nodes[end] = corrupts(def.negatives.corrupt, end) && !all[end]
                   ? std::min<std::int64_t>(nodes[end], def.evaluate.negatives)
                   : 0;
  return nodes;
}

/// Adds the edges of a type in all parts, which are mapped one after another.
/// @param originals Original ids by global id; null: they are the same.
result<void> add_edges(const partitioned_graph& graph, edge_type_id type,
                       const link_negatives::node_orders& originals,
                       std::vector<unknown_pairs::pair>& out) {
  const auto& about = graph.info().edge_types[static_cast<std::size_t>(type)];
  const auto original = [&](node_type_id of, node_id global) {
    const auto& back = originals[static_cast<std::size_t>(of)];
    return static_cast<std::uint64_t>(
      back ? (*back)[static_cast<std::size_t>(global)] : global);
  };
  const auto sources =
    graph.info().node_types[static_cast<std::size_t>(about.source)].count;
  out.reserve(static_cast<std::size_t>(about.count));
  for (part_id p = 0; p < graph.part_count(); ++p) {
    const auto part = graph.open_shard(p);
    if (!part)
      return fail(
        part.error().code,
        "`negatives.corrupt: pair` draws no edge of \"{}\", and some are "
        "rows of no split, so that all parts are needed where a "
        "trainer is; copy them there, or use both: {}",
        graph.info().name, part.error().message);
    const auto& edges = part.value()->edges(type);
    const auto first = part.value()->nodes(about.destination).begin;
    for (std::size_t row = 0; row + 1 < edges.indptr.size(); ++row) {
      const auto begin = edges.indptr[row];
      const auto end = edges.indptr[row + 1];
      if (begin < 0 || end > edges.indices.size)
        return fail(
          ec::invalid_data,
          "edges of type \"{}\" of part {} of \"{}\" are damaged: the list "
          "of node {} lies at {} to {} of {}; import it again",
          about.name, p, graph.info().name, first + static_cast<node_id>(row),
          begin, end, edges.indices.size);
      for (auto at = begin; at < end; ++at) {
        const auto source = edges.indices[at];
        if (source < 0 || source >= sources)
          return fail(
            ec::invalid_data,
            "edges of type \"{}\" of part {} of \"{}\" are damaged: one is "
            "of node {} of {}; import it again",
            about.name, p, graph.info().name, source, sources);
        out.emplace_back(
          original(about.source, source),
          original(about.destination, first + static_cast<node_id>(row)));
      }
    }
  }
  return ok();
}

/// All but the rows of all splits of a task, and the other edges of its types.
result<std::shared_ptr<const unknown_pairs>>
pairs_unknown_in(const std::shared_ptr<const partitioned_graph>& graph,
                 const link_negatives::node_orders& orders) {
  const auto& info = graph->info();
  const auto& task = *chosen_task(info);
  link_negatives::node_orders originals(orders.size()); // By global id.
  for (std::size_t t = 0; t < orders.size(); ++t) {
    if (!orders[t])
      continue;
    std::vector<node_id> back(orders[t]->size());
    for (std::size_t i = 0; i < back.size(); ++i)
      back[static_cast<std::size_t>((*orders[t])[i])] = static_cast<node_id>(i);
    originals[t] =
      std::make_shared<const std::vector<node_id>>(std::move(back));
  }
  std::vector<std::vector<unknown_pairs::pair>> known(task.edge_types.size());
  for (const auto which : {split::train, split::validation, split::test}) {
    const auto table = table_of(graph, which);
    const auto original = [&](std::size_t column, seed_row row) {
      const auto& of = table->columns[column];
      const auto& back = originals[static_cast<std::size_t>(of.type_of(row))];
      const auto id = of.node_of(row);
      return static_cast<std::uint64_t>(
        back ? (*back)[static_cast<std::size_t>(id)] : id);
    };
    for (seed_row row = 0; row < table->rows(); ++row)
      known[table->edges->relation(row)].emplace_back(original(0, row),
                                                      original(1, row));
  }
  GRAPHMILL_TRY(auto made, unknown_pairs::make(info, task, std::move(known)));
  for (std::size_t r = 0; r < task.edge_types.size(); ++r) {
    const auto type = task.edge_types[r];
    const auto edges = info.edge_types[static_cast<std::size_t>(type)].count;
    if (std::cmp_greater_equal(made.known(r), edges))
      continue; // All are rows.
    std::vector<unknown_pairs::pair> more;
    GRAPHMILL_TRYV(add_edges(*graph, type, originals, more));
    made.add(r, std::move(more));
  }
  return std::make_shared<const unknown_pairs>(std::move(made));
}

} // namespace

// -- negative_numbers

negative_numbers numbers_of(const definition& def, const dataset_info& info,
                            const edge_task_info& task, phase which) {
  negative_numbers out;
  if (!traits_of(task.kind).negatives)
    return out;
  const auto given = [&task](split from) {
    return task.negative_counts[static_cast<std::size_t>(from)];
  };
  const auto drawn = [&def](std::int64_t count, auto& destinations,
                            auto& sources) {
    destinations =
      corrupts(def.negatives.corrupt, wrong_destination) ? count : 0;
    sources = corrupts(def.negatives.corrupt, wrong_source) ? count : 0;
  };
  if (which != phase::train) {
    const auto [destinations, sources] = evaluated_of(def, info, task);
    negative_numbers evaluated;
    evaluated.destinations = destinations;
    evaluated.sources = sources;
    evaluated.all = ends_ranked_among_all(def, info, task);
    if (def.negatives.corrupt == corrupted_end::pair)
      evaluated.pairs = def.evaluate.negatives;
    const auto from =
      which == phase::validation ? split::validation : split::test;
    if (given(from) > 0)
      out.destinations = given(from);
    else
      out = evaluated;
  } else if (def.negatives.kind == negative_kind::given) {
    out.destinations = given(split::train);
  } else if (def.negatives.kind == negative_kind::joint) {
    drawn(def.negatives.count, out.joint_destinations, out.joint_sources);
  } else if (def.negatives.corrupt == corrupted_end::pair) {
    out.pairs = def.negatives.count;
  } else {
    drawn(def.negatives.count, out.destinations, out.sources);
  }
  return out;
}

// -- alias_table

alias_table::alias_table(std::span<const double> weights)
  : kept_(weights.size(), UINT32_MAX), other_(weights.size()) {
  std::iota(other_.begin(), other_.end(), std::uint32_t{0});
  const auto total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(total > 0))
    return; // All keep their places.
  const auto mean = total / static_cast<double>(weights.size());
  std::vector<double> left(weights.size());
  std::vector<std::uint32_t> poor;
  std::vector<std::uint32_t> rich;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left[i] = weights[i] / mean;
    (left[i] < 1 ? poor : rich).push_back(static_cast<std::uint32_t>(i));
  }
  const auto heaviest = static_cast<std::uint32_t>(
    std::max_element(weights.begin(), weights.end()) - weights.begin());
  while (!poor.empty() && !rich.empty()) {
    const auto from = poor.back();
    const auto to = rich.back();
    poor.pop_back();
    kept_[from] = static_cast<std::uint32_t>(left[from] * 0x1p32);
    other_[from] = to;
    left[to] -= 1 - left[from];
    if (left[to] < 1) {
      rich.pop_back();
      poor.push_back(to);
    }
  }
  // Rounding leaves some; what has no weight must not be drawn for all that.
  for (const auto i : poor)
    if (weights[i] == 0) {
      kept_[i] = 0;
      other_[i] = heaviest;
    }
}

std::size_t alias_table::draw(random_stream& draws) const {
  const auto place = static_cast<std::size_t>(draw_below(draws, size()));
  return draws.next() < kept_[place] ? place : other_[place];
}

// -- link_negatives

link_negatives::link_negatives(const definition& def, const dataset_info& info,
                               node_orders orders, const seed_table& training,
                               std::shared_ptr<const unknown_pairs> unknown)
  : seed_(def.seed), wanted_(def.negatives), unknown_(std::move(unknown)),
    orders_(std::move(orders)), by_degree_(info.node_types.size()) {
  if (wanted_.corrupt == corrupted_end::pair)
    evaluated_pairs_ = def.evaluate.negatives;
  const auto evaluated = evaluated_of(def, info, *chosen_task(info));
  std::copy(evaluated.begin(), evaluated.end(), evaluated_.begin());
  orders_.resize(info.node_types.size());
  dated_.resize(info.node_types.size());
  for (const auto& type : info.node_types)
    counts_.push_back(type.count);
  all_ = ends_ranked_among_all(def, info, *chosen_task(info));
  if (all_[wrong_destination] || all_[wrong_source])
    complete_ = complete_at_ends(info);
  if (def.negatives.weight != negative_weight::degree)
    return;
  std::vector<std::vector<double>> degrees(info.node_types.size());
  for (const auto& column : training.columns)
    for (seed_row row = 0; row < training.rows(); ++row) {
      const auto type = static_cast<std::size_t>(column.type_of(row));
      degrees[type].resize(static_cast<std::size_t>(counts_[type]));
      ++degrees[type][static_cast<std::size_t>(column.node_of(row))];
    }
  for (std::size_t t = 0; t < degrees.size(); ++t) {
    if (degrees[t].empty())
      continue;
    std::vector<double> weights(degrees[t].size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = to_three_quarters(degrees[t][static_cast<std::size_t>(
        global(static_cast<node_type_id>(t), i))]);
    by_degree_[t] = std::make_shared<const alias_table>(weights);
  }
}

result<std::shared_ptr<const link_negatives>>
link_negatives::make(const std::shared_ptr<const partitioned_graph>& graph,
                     const definition& def) {
  const auto& info = graph->info();
  const auto* task = chosen_task(info);
  if (task == nullptr || !traits_of(task->kind).negatives)
    return std::shared_ptr<const link_negatives>{};
  if (def.negatives.kind == negative_kind::given && task->split_counts[0] > 0
      && task->negative_counts[0] == 0)
    return fail(ec::invalid_argument,
                "`negatives.kind` is given, but the training edges of task "
                "\"{}\" of \"{}\" have no negatives: import them with "
                "--task-negatives, or leave it out, so that they are drawn",
                task->name, info.name);
  node_orders orders(info.node_types.size());
  for (const auto type : task->edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    for (const auto end : {about.source, about.destination}) {
      auto& order = orders[static_cast<std::size_t>(end)];
      if (order || graph->keeps_ids())
        continue;
      GRAPHMILL_TRY(auto ids, graph->order(end));
      order = std::make_shared<const std::vector<node_id>>(std::move(ids));
      if (def.negatives.weight == negative_weight::degree
          && order->size() > std::numeric_limits<std::uint32_t>::max())
        return fail(ec::invalid_argument,
                    "`negatives.weight: degree` is for up to {} nodes of a "
                    "type, and type \"{}\" has {}: leave it out",
                    std::numeric_limits<std::uint32_t>::max(),
                    info.node_types[static_cast<std::size_t>(end)].name,
                    order->size());
    }
  }
  std::shared_ptr<const unknown_pairs> unknown;
  if (def.negatives.corrupt == corrupted_end::pair) {
    GRAPHMILL_TRY(unknown, pairs_unknown_in(graph, orders));
  }
  const auto training = table_of(graph, split::train);
  auto made = std::make_shared<link_negatives>(def, info, std::move(orders),
                                               *training, std::move(unknown));
  if (def.sampler.is_timed()) {
    made->know_times(*graph, def.sampler.time == time_use::inclusive);
    for (const auto which : {split::train, split::validation, split::test})
      GRAPHMILL_TRYV(made->check_ages(*table_of(graph, which), which, info));
  }
  for (const auto which : {split::validation, split::test})
    GRAPHMILL_TRYV(made->check_known(*table_of(graph, which), info));
  return std::shared_ptr<const link_negatives>{std::move(made)};
}

/// All nodes of the types at the ends that they replace.
std::shared_ptr<const complete_nodes>
link_negatives::complete_at_ends(const dataset_info& info) const {
  complete_nodes out;
  out.counts.resize(counts_.size());
  out.orders = orders_;
  out.originals.resize(counts_.size());
  const auto add = [&](node_type_id end) {
    const auto t = static_cast<std::size_t>(end);
    if (out.counts[t] != 0)
      return;
    out.counts[t] = counts_[t];
    if (!orders_[t])
      return;
    std::vector<local_id> back(orders_[t]->size());
    for (std::size_t i = 0; i < back.size(); ++i)
      back[static_cast<std::size_t>((*orders_[t])[i])] =
        static_cast<local_id>(i);
    out.originals[t] =
      std::make_shared<const std::vector<local_id>>(std::move(back));
  };
  for (const auto type : chosen_task(info)->edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    if (all_[wrong_destination])
      add(about.destination);
    if (all_[wrong_source])
      add(about.source);
  }
  return std::make_shared<const complete_nodes>(std::move(out));
}

node_id link_negatives::global(node_type_id type,
                               std::uint64_t original) const {
  const auto& order = orders_[static_cast<std::size_t>(type)];
  return order ? (*order)[static_cast<std::size_t>(original)]
               : static_cast<node_id>(original);
}

/// A node in training.
node_id link_negatives::draw(node_type_id type, random_stream& draws) const {
  const auto t = static_cast<std::size_t>(type);
  return global(type,
                by_degree_[t]
                  ? by_degree_[t]->draw(draws)
                  : draw_below(draws, static_cast<std::uint64_t>(counts_[t])));
}

std::uint64_t link_negatives::dated_nodes::until(std::int64_t time) const {
  const auto end = inclusive
                     ? std::upper_bound(times.begin(), times.end(), time)
                     : std::lower_bound(times.begin(), times.end(), time);
  return static_cast<std::uint64_t>(end - times.begin());
}

void link_negatives::know_times(const partitioned_graph& graph,
                                bool inclusive) {
  for (std::size_t t = 0; t < dated_.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    const auto times = graph.node_times(type);
    if (times.empty())
      continue;
    auto& out = dated_[t];
    out.inclusive = inclusive;
    for (std::int64_t original = 0; original < counts_[t]; ++original)
      out.nodes.push_back(global(type, static_cast<std::uint64_t>(original)));
    const auto time_of = [times](node_id node) {
      return times[static_cast<std::size_t>(node)];
    };
    std::ranges::stable_sort(out.nodes, {}, time_of);
    for (const auto node : out.nodes)
      out.times.push_back(time_of(node));
  }
}

/// That each row has a negative. A row that is ranked among none would be
/// counted as found at once.
result<void> link_negatives::check_ages(const seed_table& rows, split which,
                                        const dataset_info& info) const {
  const auto given = which == split::train
                       ? wanted_.kind == negative_kind::given
                       : rows.edges->given > 0;
  for (seed_row row = 0; row < rows.rows() && !given; ++row)
    for (const auto end : {wrong_destination, wrong_source}) {
      const auto type =
        rows.columns[end == wrong_destination ? 1 : 0].type_of(row);
      const auto& dated = dated_[static_cast<std::size_t>(type)];
      if (!corrupts(wanted_.corrupt, end) || !dated.dated())
        continue;
      const auto time = rows.times[static_cast<std::size_t>(row)];
      if (dated.until(time) == 0)
        return fail(ec::invalid_argument,
                    "{} edge {} of \"{}\" is of time {}, and no node of "
                    "type \"{}\" is older, so that it has no negatives: leave "
                    "such edges out, or correct the times",
                    which == split::train        ? "training"
                    : which == split::validation ? "validation"
                                                 : "test",
                    row, info.name, time,
                    info.node_types[static_cast<std::size_t>(type)].name);
    }
  return ok();
}

/// That some row of an evaluation has a negative at each end. Otherwise all
/// edges would be counted as found at once.
result<void> link_negatives::check_known(const seed_table& rows,
                                         const dataset_info& info) const {
  const auto& edges = *rows.edges;
  if (edges.given > 0 || rows.rows() == 0)
    return ok();
  const auto name = edges.which == split::validation ? "validation" : "test";
  if (unknown_) {
    random_stream draws{0, 0};
    for (seed_row row = 0; row < rows.rows(); ++row)
      if (unknown_->draw(edges.relation(row), draws))
        return ok();
    return fail(ec::invalid_argument,
                "no {} edge of \"{}\" has a negative: all pairs of nodes are "
                "known links; replace one end (`negatives.corrupt`), import "
                "negatives (--task-negatives), or choose other edges",
                name, info.name);
  }
  for (const auto end : {wrong_destination, wrong_source}) {
    if (!corrupts(wanted_.corrupt, end))
      continue;
    const auto nodes_of = [&](seed_row row) {
      return counts_[static_cast<std::size_t>(
        rows.columns[end == wrong_destination ? 1 : 0].type_of(row))];
    };
    seed_row row = 0;
    while (row < rows.rows()
           && std::cmp_greater_equal(known_of(edges, row, end).size(),
                                     nodes_of(row)))
      ++row;
    if (row < rows.rows())
      continue;
    return fail(ec::invalid_argument,
                "no {} edge of \"{}\" has a negative: {} of each has known "
                "links {} all nodes of its type, and negatives are no known "
                "links; replace the other end (`negatives.corrupt`), import "
                "negatives (--task-negatives), or choose other edges",
                name, info.name,
                end == wrong_destination ? "the source" : "the destination",
                end == wrong_destination ? "to" : "from");
  }
  return ok();
}

/// All nodes but the known ones, in order.
std::vector<node_id> link_negatives::unknown_of(std::span<const node_id> known,
                                                std::uint64_t count,
                                                const auto& node_at) const {
  std::vector<node_id> out;
  for (std::uint64_t i = 0; i < count; ++i)
    if (const auto node = node_at(i);
        !std::binary_search(known.begin(), known.end(), node))
      out.push_back(node);
  return out;
}

/// Draws nodes that are not known.
/// @param time Of the row, where it decides which nodes are there.
void link_negatives::draw_unknown(node_type_id type,
                                  std::span<const node_id> known,
                                  std::optional<std::int64_t> time,
                                  random_stream& draws,
                                  std::span<node_id> out) const {
  const auto& dated = dated_[static_cast<std::size_t>(type)];
  const auto count =
    time ? dated.until(*time)
         : static_cast<std::uint64_t>(counts_[static_cast<std::size_t>(type)]);
  const auto node_at = [&](std::uint64_t i) {
    return time ? dated.nodes[static_cast<std::size_t>(i)] : global(type, i);
  };
  std::fill(out.begin(), out.end(), negative_lists::none);
  if (count == 0 || (!time && known.size() >= count))
    return;
  if (out.size() >= count) {
    const auto all = unknown_of(known, count, node_at);
    std::copy(all.begin(), all.end(), out.begin());
    return;
  }
  std::vector<node_id> left; // Once they are listed.
  for (auto& id : out) {
    for (int i = 0; i < most_vain_draws && left.empty(); ++i)
      if (const auto drawn = node_at(draw_below(draws, count));
          !std::binary_search(known.begin(), known.end(), drawn)) {
        id = drawn;
        break;
      }
    if (id != negative_lists::none)
      continue;
    if (left.empty())
      left = unknown_of(known, count, node_at);
    if (left.empty())
      return;
    id = left[static_cast<std::size_t>(draw_below(draws, left.size()))];
  }
}

negative_lists link_negatives::given(const seed_table& table,
                                     std::span<const seed_row> rows) const {
  const auto& edges = *table.edges;
  negative_lists out{edges.given, 0};
  for (const auto row : rows) {
    const auto* ids =
      edges.negatives.data() + static_cast<std::size_t>(row) * edges.given;
    out.nodes.insert(out.nodes.end(), ids, ids + edges.given);
  }
  return out;
}

negative_lists link_negatives::drawn(const seed_table& table,
                                     std::span<const seed_row> rows,
                                     std::int32_t epoch) const {
  const auto count = [this](wrong_end end) -> std::size_t {
    return corrupts(wanted_.corrupt, end) ? wanted_.count : 0;
  };
  negative_lists out{count(wrong_destination), count(wrong_source)};
  out.nodes.reserve(rows.size() * out.of_each());
  const auto key = stream_key(seed_, purpose::train_negatives,
                              static_cast<std::uint64_t>(epoch), 0);
  for (const auto row : rows)
    for (const auto end : {wrong_destination, wrong_source}) {
      random_stream draws{key, static_cast<std::uint64_t>(row), end};
      const auto type =
        table.columns[end == wrong_destination ? 1 : 0].type_of(row);
      const auto& dated = dated_[static_cast<std::size_t>(type)];
      const auto there =
        dated.dated() ? dated.until(table.times[static_cast<std::size_t>(row)])
                      : 0;
      for (std::size_t k = 0; k < count(end); ++k)
        out.nodes.push_back(
          dated.dated()
            ? dated.nodes[static_cast<std::size_t>(draw_below(draws, there))]
            : draw(type, draws));
    }
  return out;
}

negative_lists link_negatives::drawn_pairs(const seed_table& table,
                                           std::span<const seed_row> rows,
                                           std::int32_t epoch) const {
  negative_lists out;
  out.wrong_pairs = wanted_.count;
  out.nodes.reserve(rows.size() * out.of_each());
  const auto key = stream_key(seed_, purpose::train_negatives,
                              static_cast<std::uint64_t>(epoch), 0);
  for (const auto row : rows) {
    const auto index = static_cast<std::uint64_t>(row);
    random_stream sources{key, index, wrong_source};
    random_stream destinations{key, index, wrong_destination};
    for (std::size_t k = 0; k < out.wrong_pairs; ++k) {
      out.nodes.push_back(draw(table.columns[0].type_of(row), sources));
      out.nodes.push_back(draw(table.columns[1].type_of(row), destinations));
    }
  }
  return out;
}

negative_lists
link_negatives::pairs_unknown(const seed_table& table,
                              std::span<const seed_row> rows) const {
  negative_lists out;
  out.wrong_pairs = evaluated_pairs_;
  out.nodes.reserve(rows.size() * out.of_each());
  const auto key = stream_key(seed_, purpose_of(table.edges->which), 0, 0);
  for (const auto row : rows) {
    random_stream draws{key, static_cast<std::uint64_t>(row)};
    for (std::size_t k = 0; k < out.wrong_pairs; ++k) {
      const auto drawn = unknown_->draw(table.edges->relation(row), draws);
      const auto add = [&](std::size_t column, std::uint64_t original) {
        out.nodes.push_back(
          drawn ? global(table.columns[column].type_of(row), original)
                : negative_lists::none);
      };
      add(0, drawn ? drawn->first : 0);
      add(1, drawn ? drawn->second : 0);
    }
  }
  return out;
}

negative_lists link_negatives::joint(const seed_table& table,
                                     std::int32_t epoch,
                                     std::int64_t step) const {
  negative_lists out;
  const auto key = stream_key(seed_, purpose::train_negatives,
                              static_cast<std::uint64_t>(epoch),
                              static_cast<std::uint64_t>(step));
  for (const auto end : {wrong_destination, wrong_source}) {
    if (!corrupts(wanted_.corrupt, end))
      continue;
    auto& lists =
      end == wrong_destination ? out.joint_destinations : out.joint_sources;
    lists.resize(counts_.size());
    for (const auto& ends : table.edges->ends) {
      const auto type = ends[end == wrong_destination ? 1 : 0];
      auto& list = lists[static_cast<std::size_t>(type)];
      if (!list.empty())
        continue;
      random_stream draws{key, 0,
                          joint_words(end, static_cast<std::size_t>(type))};
      for (std::uint32_t k = 0; k < wanted_.count; ++k)
        list.push_back(draw(type, draws));
    }
  }
  return out;
}

negative_lists link_negatives::unknown(const seed_table& table,
                                       std::span<const seed_row> rows) const {
  const auto& edges = *table.edges;
  negative_lists out{evaluated_[wrong_destination], evaluated_[wrong_source]};
  out.nodes.resize(rows.size() * out.of_each());
  std::span<node_id> to{out.nodes};
  const auto key = stream_key(seed_, purpose_of(edges.which), 0, 0);
  for (const auto row : rows)
    for (const auto end : {wrong_destination, wrong_source}) {
      random_stream draws{key, static_cast<std::uint64_t>(row), end};
      const auto type =
        table.columns[end == wrong_destination ? 1 : 0].type_of(row);
      std::optional<std::int64_t> time;
      if (dated_[static_cast<std::size_t>(type)].dated())
        time = table.times[static_cast<std::size_t>(row)];
      draw_unknown(type, known_of(edges, row, end), time, draws,
                   to.first(evaluated_[end]));
      to = to.subspan(evaluated_[end]);
    }
  if (complete_)
    out.full = ranking_of(table, rows);
  return out;
}

std::shared_ptr<const full_ranking>
link_negatives::ranking_of(const seed_table& table,
                           std::span<const seed_row> rows) const {
  const auto& edges = *table.edges;
  full_ranking out;
  out.destinations = all_[wrong_destination];
  out.sources = all_[wrong_source];
  out.nodes = complete_;
  out.keeps.push_back(table.keeps);
  if (!edges.known.empty())
    for (const auto row : rows)
      for (const auto end : {wrong_destination, wrong_source})
        out.known.push_back(known_of(edges, row, end));
  if (out.destinations) {
    auto& made = groups_[static_cast<std::size_t>(edges.which)];
    std::call_once(made.once, [&] {
      made.groups = std::make_shared<const link_groups>(table);
    });
    for (const auto row : rows)
      out.groups.push_back(made.groups->of(row));
    out.keeps.push_back(made.groups);
  }
  return std::make_shared<const full_ranking>(std::move(out));
}

negative_lists link_negatives::of(const seed_table& table,
                                  std::span<const seed_row> rows, phase which,
                                  std::int32_t epoch, std::int64_t step) const {
  if (!table.edges)
    return {};
  if (which != phase::train) {
    if (table.edges->given > 0)
      return given(table, rows);
    return evaluated_pairs_ > 0 ? pairs_unknown(table, rows)
                                : unknown(table, rows);
  }
  switch (wanted_.kind) {
  case negative_kind::given:
    return given(table, rows);
  case negative_kind::joint:
    return joint(table, epoch, step);
  default:
    return wanted_.corrupt == corrupted_end::pair
             ? drawn_pairs(table, rows, epoch)
             : drawn(table, rows, epoch);
  }
}

// -- bounds

std::vector<std::int64_t> seed_bound(const definition& def,
                                     const dataset_info& info, phase which,
                                     std::int64_t rows) {
  std::vector<std::int64_t> out(info.node_types.size());
  const auto* task = chosen_task(info);
  if (task == nullptr) {
    out[static_cast<std::size_t>(info.target)] = rows;
    return out;
  }
  const auto numbers = numbers_of(def, info, *task, which);
  std::vector<std::int64_t> of_sources(out.size());
  std::vector<std::int64_t> of_destinations(out.size());
  for (const auto type : task->edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    const auto source = static_cast<std::size_t>(about.source);
    const auto destination = static_cast<std::size_t>(about.destination);
    std::vector<std::int64_t> each(out.size());
    each[source] += 1 + numbers.sources + numbers.pairs;
    each[destination] += 1 + numbers.destinations + numbers.pairs;
    for (std::size_t t = 0; t < out.size(); ++t)
      out[t] = std::max(out[t], each[t] * rows);
    of_sources[source] = numbers.joint_sources;
    of_destinations[destination] = numbers.joint_destinations;
  }
  for (std::size_t t = 0; t < out.size(); ++t)
    out[t] += of_sources[t] + of_destinations[t];
  for (const auto type : task->edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    const auto take_all = [&](node_type_id end) {
      const auto t = static_cast<std::size_t>(end);
      out[t] = info.node_types[t].count;
    };
    if (numbers.all[wrong_destination])
      take_all(about.destination);
    if (numbers.all[wrong_source])
      take_all(about.source);
  }
  return out;
}

std::uint64_t row_bound(const definition& def, const dataset_info& info,
                        phase which, std::int64_t rows) {
  const auto* task = chosen_task(info);
  // With trees, each row has a number, a time and the places of its nodes.
  const auto of_tree = [&def](std::uint64_t nodes) -> std::uint64_t {
    return def.sampler.disjoint
             ? 2 * sizeof(std::int64_t) + nodes * sizeof(std::int32_t)
             : 0;
  };
  if (task == nullptr)
    return std::uint64_t(rows) * of_tree(1);
  const auto numbers = numbers_of(def, info, *task, which);
  const auto each = std::uint64_t(2 + numbers.destinations + numbers.sources
                                  + 2 * numbers.pairs);
  const auto shared =
    std::uint64_t(std::ssize(info.node_types)
                  * (numbers.joint_destinations + numbers.joint_sources));
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto of_row =
    each * sizeof(local_id) + of_tree(each) + sizeof(edge_id)
    + sizeof(std::int32_t) + sizeof(float)
    + std::max<std::uint64_t>(target.label_bytes(), sizeof(std::int64_t))
    + (numbers.all[wrong_destination] || numbers.all[wrong_source]
         ? 3 * sizeof(std::span<const node_id>) // Of `full_ranking`.
         : 0)
    + sizeof(float) * static_cast<std::uint64_t>(decoded_edge_width(def, info));
  return std::uint64_t(rows) * of_row + shared * sizeof(local_id);
}

} // namespace graphmill
