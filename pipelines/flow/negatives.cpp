#include "pipelines/flow/negatives.hpp"

#include "partition/dataset/chosen_task.hpp"

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

/// The same bits everywhere, unlike `std::pow`: roots are rounded correctly.
double to_three_quarters(double x) {
  const auto root = std::sqrt(x);
  return root * std::sqrt(root);
}

/// How many negatives there are: of each row, and in joint lists.
struct negative_numbers {
  std::int64_t destinations = 0;
  std::int64_t sources = 0;
  std::int64_t joint_destinations = 0;
  std::int64_t joint_sources = 0;
};

bool corrupts(corrupted_end which, wrong_end end) {
  return which == corrupted_end::both
         || (which == corrupted_end::source) == (end == wrong_source);
}

/// What evaluations draw for each row: no more than there are nodes.
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
  for (const auto end : {wrong_destination, wrong_source})
    nodes[end] = corrupts(def.negatives.corrupt, end)
                   ? std::min<std::int64_t>(nodes[end], def.evaluate.negatives)
                   : 0;
  return nodes;
}

negative_numbers numbers_of(const definition& def, const dataset_info& info,
                            const edge_task_info& task, phase which) {
  negative_numbers out;
  if (task.kind != edge_task_kind::link)
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
    const negative_numbers evaluated{destinations, sources};
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
  } else {
    drawn(def.negatives.count, out.destinations, out.sources);
  }
  return out;
}

} // namespace

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
                               node_orders orders, const seed_table& training)
  : seed_(def.seed), wanted_(def.negatives), orders_(std::move(orders)),
    by_degree_(info.node_types.size()) {
  const auto evaluated = evaluated_of(def, info, *chosen_task(info));
  std::copy(evaluated.begin(), evaluated.end(), evaluated_.begin());
  orders_.resize(info.node_types.size());
  for (const auto& type : info.node_types)
    counts_.push_back(type.count);
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
  if (task == nullptr || task->kind != edge_task_kind::link)
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
  return std::make_shared<const link_negatives>(def, info, std::move(orders),
                                                *table_of(graph, split::train));
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

/// All nodes but the known ones, in original order.
std::vector<node_id>
link_negatives::unknown_of(node_type_id type,
                           std::span<const node_id> known) const {
  const auto count =
    static_cast<std::uint64_t>(counts_[static_cast<std::size_t>(type)]);
  std::vector<node_id> out;
  for (std::uint64_t original = 0; original < count; ++original)
    if (const auto node = global(type, original);
        !std::binary_search(known.begin(), known.end(), node))
      out.push_back(node);
  return out;
}

/// Draws nodes that are not known.
void link_negatives::draw_unknown(node_type_id type,
                                  std::span<const node_id> known,
                                  random_stream& draws,
                                  std::span<node_id> out) const {
  const auto count =
    static_cast<std::uint64_t>(counts_[static_cast<std::size_t>(type)]);
  std::fill(out.begin(), out.end(), negative_lists::none);
  if (known.size() >= count)
    return;
  if (out.size() >= count) {
    const auto all = unknown_of(type, known);
    std::copy(all.begin(), all.end(), out.begin());
    return;
  }
  std::vector<node_id> left; // Once they are listed.
  for (auto& id : out) {
    for (int i = 0; i < most_vain_draws && left.empty(); ++i)
      if (const auto drawn = global(type, draw_below(draws, count));
          !std::binary_search(known.begin(), known.end(), drawn)) {
        id = drawn;
        break;
      }
    if (id != negative_lists::none)
      continue;
    if (left.empty())
      left = unknown_of(type, known);
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
      for (std::size_t k = 0; k < count(end); ++k)
        out.nodes.push_back(draw(type, draws));
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
      std::span<const node_id> known;
      if (!edges.known.empty()) {
        const auto [from, behind] = edges.known.range(
          edges.known
            .rows[2 * static_cast<std::size_t>(row) + std::size_t{end}]);
        known = edges.known.ids.subspan(from, behind - from);
      }
      random_stream draws{key, static_cast<std::uint64_t>(row), end};
      draw_unknown(table.columns[end == wrong_destination ? 1 : 0].type_of(row),
                   known, draws, to.first(evaluated_[end]));
      to = to.subspan(evaluated_[end]);
    }
  return out;
}

negative_lists link_negatives::of(const seed_table& table,
                                  std::span<const seed_row> rows, phase which,
                                  std::int32_t epoch, std::int64_t step) const {
  if (!table.edges)
    return {};
  if (which != phase::train)
    return table.edges->given > 0 ? given(table, rows) : unknown(table, rows);
  switch (wanted_.kind) {
  case negative_kind::given:
    return given(table, rows);
  case negative_kind::joint:
    return joint(table, epoch, step);
  default:
    return drawn(table, rows, epoch);
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
    each[source] += 1 + numbers.sources;
    each[destination] += 1 + numbers.destinations;
    for (std::size_t t = 0; t < out.size(); ++t)
      out[t] = std::max(out[t], each[t] * rows);
    of_sources[source] = numbers.joint_sources;
    of_destinations[destination] = numbers.joint_destinations;
  }
  for (std::size_t t = 0; t < out.size(); ++t)
    out[t] += of_sources[t] + of_destinations[t];
  return out;
}

std::uint64_t row_bound(const definition& def, const dataset_info& info,
                        phase which, std::int64_t rows) {
  const auto* task = chosen_task(info);
  if (task == nullptr)
    return 0;
  const auto numbers = numbers_of(def, info, *task, which);
  const auto each = std::uint64_t(2 + numbers.destinations + numbers.sources);
  const auto shared =
    std::uint64_t(std::ssize(info.node_types)
                  * (numbers.joint_destinations + numbers.joint_sources));
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto of_row =
    each * sizeof(local_id) + sizeof(edge_id) + sizeof(std::int32_t)
    + sizeof(float)
    + std::max<std::uint64_t>(target.label_bytes(), sizeof(std::int64_t));
  return std::uint64_t(rows) * of_row + shared * sizeof(local_id);
}

} // namespace graphmill
