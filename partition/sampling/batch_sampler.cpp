#include "partition/sampling/draws.hpp"
#include "partition/sampling/id_table.hpp"
#include "partition/sampling/node_budget.hpp"
#include "partition/sampling/request_round.hpp"
#include "partition/sampling/reverses.hpp"
#include "partition/sampling/sampling.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

error no_memory(int hop) {
  return fail(ec::out_of_memory, "no memory for hop {} of a batch", hop);
}

/// The nodes of one type that a hop expands.
struct frontier {
  std::size_t begin = 0; ///< Local ids [begin, end).
  std::size_t end = 0;
  dealt_nodes dealt;
  // With trees, what ids stand for:
  std::vector<node_id> ids;
  std::vector<std::int64_t> until; ///< The times of rows.
  std::vector<std::int64_t> rows;  ///< The numbers of rows.
};

/// Edges of one type that the batch is without. With trees, destinations are
/// those of one tree.
struct type_exclusion {
  excluded_edges edges;
  /// Destinations that no hop has expanded yet, by number.
  std::vector<std::size_t> left;
};

/// Grows to exactly `size`; without `reserve`, the array could get twice the
/// memory that it has now. @returns where the new elements begin.
template <class T>
T* extend(pod_vector<T>& values, std::size_t size) {
  const auto old = values.size();
  values.reserve(size);
  values.resize(size);
  return values.data() + old;
}

} // namespace

struct batch_sampler::impl {
  /// Nodes are found, hop by hop or step by step; then perhaps edges among them
  /// are asked for.
  enum class stage { made, finding, closing, done };

  impl(const partitioned_graph& of, const sampling_scheme& how,
       std::uint64_t step, std::shared_ptr<buffer_pool> memory);

  const partitioned_graph& graph;
  const sampling_scheme scheme;
  const std::uint64_t key;
  const std::shared_ptr<buffer_pool> pool;
  sampled_subgraph out;
  stage at = stage::made;
  int hop = 0; ///< Hops finished.
  std::vector<id_table> tables;
  std::vector<frontier> frontiers;
  request_round round;
  std::vector<std::int64_t> pending{};      ///< Sources to number, by type.
  std::vector<type_exclusion> exclusions{}; ///< Per edge type; empty: no edges.
  std::vector<std::int64_t> until{};        ///< As in `batch_seeds`.
  std::vector<std::int64_t> rows{};         ///< Likewise.
  std::vector<node_subset> subsets{};       ///< What closing requests refer to.
  std::vector<dealt_nodes> walkers{};       ///< Per edge type, in a step.
  std::vector<std::optional<visit_walks>> walks{}; ///< Of a hop, per edge type.
  std::optional<root_walks> roots{};
  std::vector<node_budget> budgets{}; ///< Per node type.

  const dataset_info& info() const { return graph.info(); }
  node_type_id source_of(edge_type_id type) const {
    return info().edge_types[static_cast<std::size_t>(type)].source;
  }
  node_type_id destination_of(edge_type_id type) const {
    return info().edge_types[static_cast<std::size_t>(type)].destination;
  }
  // With trees, a node is what it is in one tree. Until the batch is taken, its
  // id is that of the node and, times the number of nodes, the place of the
  // row.
  bool trees() const { return scheme.time.disjoint; }
  node_id node_of(node_type_id type, node_id id) const {
    return trees() ? id % info().node_types[type].count : id;
  }
  std::size_t tree_of(node_type_id type, node_id id) const {
    return static_cast<std::size_t>(id / info().node_types[type].count);
  }
  /// Numbers of so many ids are below this.
  std::int64_t universe(node_type_id type) const {
    return info().node_types[type].count
           * (trees() ? std::max<std::int64_t>(std::ssize(rows), 1) : 1);
  }
  /// All edges among the nodes replace those by which they were found.
  bool induces() const { return scheme.subgraph == subgraph_kind::induced; }
  /// Whether edges of the present requests are those of the batch.
  bool keeps_edges() const { return at == stage::closing || !induces(); }
  bool reports_ids() const { return scheme.edge_ids && keeps_edges(); }
  bool reports_weights(edge_type_id type) const {
    return scheme.weighs(info().edge_types[type]) && keeps_edges();
  }
  bool reports_places(edge_type_id type) const {
    return scheme.places && info().edge_types[type].feature_width > 0
           && keeps_edges();
  }
  bool reports_ages(edge_type_id type) const {
    return scheme.ages && info().edge_types[type].timed && keeps_edges();
  }
  result<void> check_scheme() const;
  result<void> check_method() const;
  bool leads_back() const;
  result<void> seed(const batch_seeds& seeds);
  result<void> check_times(const batch_seeds& seeds) const;
  result<void> plant_trees(const batch_seeds& seeds);
  result<void> seed_type(node_type_id type, std::span<const node_id> seeds,
                         std::span<const std::int32_t> trees);
  void separate_trees();

  void begin(const batch_seeds& seeds);
  void next_hop();
  void deal(node_type_id type);
  std::vector<shortened_list> shortened_lists(edge_type_id type);
  void ask_lists(edge_type_id type, draw_rule rule, const node_subset* among);
  void close();
  void count_blocks();

  result<void> check_room() const;
  void reserve_nodes(node_type_id type);
  void finish_edges(edge_type_id type);
  result<void> finish_lists();
  result<void> finish_closing();
  result<void> finish();

  struct answers {
    pod_vector<std::int64_t> ends; ///< Of each list among the sources.
    pod_vector<node_id> sources;
    pod_vector<edge_id> edges;
  };
  answers answers_of(std::size_t number, const dealt_nodes& nodes,
                     bool edge_ids);
  void ask_walkers(std::size_t number, edge_type_id type,
                   std::span<const node_id> places,
                   std::span<const std::int64_t> tokens, std::int32_t draws,
                   int step);
  void begin_visits();
  void ask_visitors();
  result<void> finish_visits();
  result<void> add_visited(edge_type_id type);
  void ask_roots();
  result<void> finish_roots();
  void finish_budgets();
};

result<void> batch_sampler::impl::check_scheme() const {
  if (scheme.hops() > max_hops)
    return fail(ec::invalid_argument, "{} hops are more than {}", scheme.hops(),
                max_hops);
  GRAPHMILL_TRYV(check_level(scheme.level));
  const auto& time = scheme.time;
  if (!time.used && time != time_rule{})
    return fail(ec::invalid_argument,
                "inclusive or latest edges, a window and trees are for seeds "
                "that see their past alone (sampler.time)");
  if (induces() && trees())
    return fail(ec::invalid_argument,
                "all edges among the nodes of a batch are wanted, whose rows "
                "have trees of their own: leave out sampler.subgraph or "
                "sampler.disjoint");
  if (scheme.subgraph == subgraph_kind::bidirectional
      && (scheme.places || scheme.ages
          || scheme.opposites.size() != info().edge_types.size()))
    return fail(
      ec::invalid_argument,
      "reverses of sampled edges have no features or ages, and need a type "
      "for each of {} edge types",
      info().edge_types.size());
  if (scheme.ages && !time.used)
    return fail(ec::invalid_argument,
                "edges have ages for seeds that see their past alone "
                "(sampler.time)");
  for (const auto& fanouts : scheme.fanouts)
    if (fanouts.size() != info().edge_types.size())
      return fail(ec::invalid_argument,
                  "a hop has {} fanouts, but \"{}\" has {} edge types",
                  fanouts.size(), info().name, info().edge_types.size());
  return check_method();
}

/// Whether walks between two node types can turn.
bool batch_sampler::impl::leads_back() const {
  for (edge_type_id type = 0; type < std::ssize(info().edge_types); ++type) {
    const auto back = scheme.opposites[static_cast<std::size_t>(type)];
    if (scheme.samples(type) && source_of(type) != destination_of(type)
        && (back < 0 || source_of(back) != destination_of(type)
            || destination_of(back) != source_of(type)))
      return false;
  }
  return true;
}

/// What methods need that take no lists as they are.
result<void> batch_sampler::impl::check_method() const {
  if (draws_lists(scheme.method))
    return ok();
  if (trees() || scheme.time.latest)
    return fail(ec::invalid_argument,
                "walks and budgets know no trees and no latest edges: leave "
                "out sampler.method, or sampler.disjoint and sampler.latest");
  if (scheme.method == sampling_method::pinsage) {
    if (scheme.edge_ids || scheme.places || scheme.ages
        || scheme.subgraph != subgraph_kind::directional
        || scheme.opposites.size() != info().edge_types.size() || !leads_back())
      return fail(ec::invalid_argument,
                  "nodes that walks visit have no edges with ids, features or "
                  "reverses, and walks need a type back for each of {} edge "
                  "types",
                  info().edge_types.size());
  } else if (!induces()) {
    return fail(ec::invalid_argument,
                "edges among nodes that were found by walks or budgets are all "
                "edges: sampler.subgraph is induced");
  }
  if (scheme.walk.walks < 1 || scheme.walk.length < 1
      || scheme.walk.length > max_hops)
    return fail(ec::invalid_argument,
                "{} walks of {} steps are no walks: up to {} steps are",
                scheme.walk.walks, scheme.walk.length, max_hops);
  if (scheme.method == sampling_method::hgt
      && (std::cmp_not_equal(scheme.budgets.size(), scheme.hops())
          || std::ranges::any_of(scheme.budgets, [this](const auto& of_hop) {
               return of_hop.size() != info().node_types.size();
             })))
    return fail(ec::invalid_argument,
                "each of {} hops needs a budget for each of {} node types",
                scheme.hops(), info().node_types.size());
  return ok();
}

result<void> batch_sampler::impl::seed(const batch_seeds& seeds) {
  if (seeds.nodes.size() != info().node_types.size())
    return fail(ec::invalid_argument,
                "seeds of {} node types are given, but \"{}\" has {}",
                seeds.nodes.size(), info().name, info().node_types.size());
  if (!seeds.excluded.empty()
      && seeds.excluded.size() != info().edge_types.size())
    return fail(ec::invalid_argument,
                "edges of {} types are to be excluded, but \"{}\" has {} edge "
                "types",
                seeds.excluded.size(), info().name, info().edge_types.size());
  GRAPHMILL_TRYV(check_times(seeds));
  until = seeds.until;
  if (trees())
    GRAPHMILL_TRYV(plant_trees(seeds));
  for (std::size_t t = 0; t < seeds.nodes.size(); ++t)
    GRAPHMILL_TRYV(seed_type(
      static_cast<node_type_id>(t), seeds.nodes[t],
      seeds.trees.empty() ? std::span<const std::int32_t>{}
                          : std::span<const std::int32_t>{seeds.trees[t]}));
  for (const auto& edges : seeds.excluded) {
    auto& out = exclusions.emplace_back();
    out.edges = edges;
    out.left.resize(edges.destinations.size());
    std::iota(out.left.begin(), out.left.end(), std::size_t{0});
  }
  return ok();
}

result<void> batch_sampler::impl::check_times(const batch_seeds& seeds) const {
  const auto expected = !scheme.time.used ? 0
                        : trees()         ? seeds.row_numbers.size()
                                          : 1;
  if (seeds.until.size() != expected && seeds.count() != 0)
    return fail(ec::invalid_argument,
                "seeds have {} times, and the definition takes {}: "
                "sampler.time decides whether seeds have one, and "
                "sampler.disjoint whether each row has its own",
                seeds.until.size(), expected);
  if (!trees() && !(seeds.row_numbers.empty() && seeds.trees.empty()))
    return fail(ec::invalid_argument,
                "seeds are of {} trees, and without sampler.disjoint there are "
                "none",
                seeds.row_numbers.size());
  return ok();
}

/// Takes the rows, and makes room for ids of each of them.
result<void> batch_sampler::impl::plant_trees(const batch_seeds& seeds) {
  rows = seeds.row_numbers;
  // A rank may have no row in a step, and then it has no trees.
  if (seeds.trees.size() != seeds.nodes.size()
      && !(seeds.trees.empty() && seeds.count() == 0))
    return fail(ec::invalid_argument,
                "the trees of seeds of {} node types are given, of {}",
                seeds.trees.size(), seeds.nodes.size());
  auto sorted = rows;
  std::sort(sorted.begin(), sorted.end());
  if ((!sorted.empty() && sorted.front() < 0)
      || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return fail(ec::invalid_argument,
                "rows are numbers from 0 on, each once in a batch");
  tables.clear();
  for (const auto& type : info().node_types) {
    std::int64_t ids = 0;
    if (__builtin_mul_overflow(type.count, std::ssize(rows) + 1, &ids))
      return fail(ec::invalid_argument,
                  "{} trees over {} nodes are too many: use smaller batches",
                  rows.size(), type.count);
    tables.emplace_back(
      universe(static_cast<node_type_id>(&type - info().node_types.data())),
      pool);
  }
  return ok();
}

result<void>
batch_sampler::impl::seed_type(node_type_id of, std::span<const node_id> seeds,
                               std::span<const std::int32_t> trees_of) {
  if (trees_of.size() != (trees() ? seeds.size() : 0))
    return fail(ec::invalid_argument, "{} seeds are of {} trees", seeds.size(),
                trees_of.size());
  if (seeds.empty())
    return ok();
  const auto& type = info().node_types[of];
  for (auto id : seeds)
    if (id < 0 || id >= type.count)
      return fail(ec::invalid_argument,
                  "seed {} is not a node: type \"{}\" has {} nodes", id,
                  type.name, type.count);
  std::vector<node_id> planted;
  for (std::size_t i = 0; i < trees_of.size(); ++i) {
    if (trees_of[i] < 0 || std::cmp_greater_equal(trees_of[i], rows.size()))
      return fail(ec::invalid_argument, "a seed is of tree {} of {}",
                  trees_of[i], rows.size());
    planted.push_back(seeds[i] + trees_of[i] * type.count);
  }
  if (trees())
    seeds = planted;
  auto& list = out.nodes[of].ids;
  pod_vector<local_id> locals{pool};
  locals.resize(seeds.size());
  tables[of].reserve(list, static_cast<std::int64_t>(seeds.size()));
  tables[of].number(seeds, locals.data(), list);
  if (list.size() != seeds.size())
    return fail(ec::invalid_argument,
                "{} of {} seeds are repetitions: seeds must be distinct{}",
                seeds.size() - list.size(), seeds.size(),
                trees() ? " in each tree" : "");
  return ok();
}

/// Begins with the first hop.
void batch_sampler::impl::begin(const batch_seeds& seeds) {
  round.limit(trees() ? std::span<const std::int64_t>{} : until);
  for (std::size_t e = 0; e < out.edges.size(); ++e)
    walkers.emplace_back(pool);
  if (scheme.method == sampling_method::hgt)
    for (const auto& type : info().node_types)
      budgets.emplace_back(type.count, pool);
  if (scheme.method == sampling_method::saint) {
    std::vector<bool> used;
    for (std::size_t e = 0; e < out.edges.size(); ++e)
      used.push_back(scheme.samples(static_cast<edge_type_id>(e)));
    roots.emplace(info(), scheme.walk, key, std::move(used), seeds.nodes);
    hop = scheme.hops(); // Steps of walks are all that there is.
  }
  next_hop();
}

/// The nodes found last are those to expand now.
void batch_sampler::impl::next_hop() {
  round.clear();
  for (std::size_t t = 0; t < out.nodes.size(); ++t) {
    auto& nodes = out.nodes[t];
    nodes.found.push_back(static_cast<std::int64_t>(nodes.ids.size()));
    frontiers[t].begin = frontiers[t].end;
    frontiers[t].end = nodes.ids.size();
  }
  if (roots && !roots->over())
    return ask_roots();
  if (hop == scheme.hops())
    return close();
  if (scheme.method == sampling_method::pinsage)
    return begin_visits();
  for (std::size_t t = 0; t < out.nodes.size(); ++t)
    deal(static_cast<node_type_id>(t));
  for (std::size_t e = 0; e < out.edges.size(); ++e) {
    const auto type = static_cast<edge_type_id>(e);
    if (const auto rule = scheme.rule(hop, type); rule.fanout != 0)
      ask_lists(type, rule, nullptr);
  }
}

/// All nodes count as found by the first hop, so that each layer sees all.
void batch_sampler::impl::count_blocks() {
  out.hops = scheme.blocks();
  for (auto& nodes : out.nodes) {
    nodes.found.resize(1);
    nodes.found.resize(static_cast<std::size_t>(out.hops) + 1,
                       std::ssize(nodes.ids.span()));
  }
}

/// Adds edges to those that were sampled, or asks for those that replace them.
void batch_sampler::impl::close() {
  at = stage::done;
  if (scheme.hops() == 0 || scheme.subgraph == subgraph_kind::directional)
    return;
  count_blocks();
  if (!induces())
    return add_reverses(info(), scheme, out, pool);
  at = stage::closing;
  for (auto& [edges, left] : exclusions) { // Some lists are asked for again.
    left.resize(edges.destinations.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
  }
  for (std::size_t t = 0; t < out.nodes.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    frontiers[t].begin = 0;
    frontiers[t].end = static_cast<std::size_t>(out.rows(type, out.hops));
    subsets.push_back({type, &out.nodes[t].ids, &tables[t]});
    deal(type);
  }
  for (std::size_t e = 0; e < out.edges.size(); ++e)
    if (const auto type = static_cast<edge_type_id>(e); scheme.samples(type))
      ask_lists(type, {-1},
                &subsets[static_cast<std::size_t>(source_of(type))]);
}

void batch_sampler::impl::deal(node_type_id type) {
  auto& front = frontiers[type];
  auto ids = std::as_const(out.nodes[type].ids)
               .span()
               .subspan(front.begin, front.end - front.begin);
  front.ids.resize(trees() ? ids.size() : 0);
  front.until.resize(front.ids.size());
  front.rows.resize(front.ids.size());
  for (std::size_t i = 0; i < front.ids.size(); ++i) {
    const auto tree = tree_of(type, ids[i]);
    front.ids[i] = node_of(type, ids[i]);
    front.until[i] = until[tree];
    front.rows[i] = rows[tree];
  }
  if (trees())
    ids = front.ids;
  front.dealt.deal(graph, type, {ids, front.rows, front.until},
                   !exclusions.empty());
}

/// The lists of this hop from which edges are excluded, by place. A node is
/// expanded once, so that each of them is asked for once in a batch.
std::vector<shortened_list>
batch_sampler::impl::shortened_lists(edge_type_id type) {
  std::vector<shortened_list> lists;
  if (exclusions.empty())
    return lists;
  auto& [edges, left] = exclusions[type];
  const auto of = destination_of(type);
  const auto& front = frontiers[of];
  std::erase_if(left, [&, &all = edges](std::size_t number) {
    const auto local =
      tables[of].find(all.destinations[number], out.nodes[of].ids);
    if (local < 0 || std::cmp_less(local, front.begin)
        || std::cmp_greater_equal(local, front.end))
      return local >= 0;
    const auto i = static_cast<std::size_t>(local) - front.begin;
    lists.push_back(shortened_at(front.dealt.place_of(i), number));
    return true;
  });
  std::sort(lists.begin(), lists.end());
  return lists;
}

/// Asks for lists of the frontier.
void batch_sampler::impl::ask_lists(edge_type_id type, draw_rule rule,
                                    const node_subset* among) {
  const auto proposes =
    scheme.method == sampling_method::hgt && at == stage::finding;
  // Behind the last hop, lists are taken as they are, whatever the hop is.
  round.ask({static_cast<std::size_t>(type), type, rule,
             std::min(hop + 1, max_hops), proposes || reports_ids(),
             reports_weights(type), reports_places(type), reports_ages(type),
             among},
            frontiers[destination_of(type)].dealt, shortened_lists(type),
            exclusions.empty() ? nullptr : &exclusions[type].edges);
}

/// Refuses a batch whose local ids could exceed 32 bits before anything is
/// numbered.
result<void> batch_sampler::impl::check_room() const {
  for (std::size_t t = 0; t < pending.size(); ++t) {
    const auto& type = info().node_types[t];
    const auto most = std::ssize(out.nodes[t].ids.span()) + pending[t];
    if ((trees() ? most : std::min(most, type.count)) >= INT32_MAX)
      return fail(ec::invalid_argument,
                  "a batch with {} sampled nodes of type \"{}\" is too large: "
                  "use a smaller batch or smaller fanouts",
                  most, type.name);
  }
  return ok();
}

/// Makes room for what the rest of this hop may find. Half of the sources are
/// taken to be new: if more are, which is rare, table and list grow while they
/// are filled; room for all of them would take twice the memory for nothing.
void batch_sampler::impl::reserve_nodes(node_type_id type) {
  auto& ids = out.nodes[type].ids;
  const auto likely = std::min<std::int64_t>(
    std::ssize(ids.span()) + (pending[type] + 1) / 2, universe(type));
  tables[type].reserve(ids, likely);
  ids.reserve(static_cast<std::size_t>(likely) + 1);
}

/// Appends the hop's rows to the CSR of an edge type and numbers its sources.
/// Edge types are finished in the order of the dataset: with the order of the
/// frontier and of the lists, that is the discovery order of new nodes, which
/// decides their local ids.
void batch_sampler::impl::finish_edges(edge_type_id type) {
  const auto& front = frontiers[destination_of(type)];
  const auto number = static_cast<std::size_t>(type);
  const auto merge = round.merge_of(number, front.dealt);
  const auto wide = merge.wide();
  const auto total = merge.sources();
  auto& edges = out.edges[type];
  const auto sum = edges.indptr.back();
  merge.write_indptr(sum,
                     extend(edges.indptr, edges.indptr.size() + merge.rows));
  auto* locals = extend(edges.sources, edges.sources.size() + total);
  if (reports_ids())
    merge.write_edge_ids(extend(edges.edge_ids, edges.edge_ids.size() + total));
  if (reports_weights(type))
    merge.write_weights(extend(edges.weights, edges.weights.size() + total));
  if (reports_places(type))
    merge.write_places(extend(edges.places, edges.places.size() + total));
  if (reports_ages(type))
    merge.write_ages(extend(edges.ages, edges.ages.size() + total));
  // Global ids of 4 bytes are as wide as local ones. They are written to the
  // place of the local ids, which replace them one by one.
  pod_vector<node_id> globals{pool};
  if (wide || trees())
    merge.write_sources(extend(globals, total));
  else
    merge.write_sources(locals);
  round.release(number);
  const auto source = source_of(type);
  auto& list = out.nodes[source].ids;
  if (trees()) { // Sources are in the tree of their destination.
    const auto to = destination_of(type);
    const auto* ids = out.nodes[to].ids.data() + front.begin;
    const auto* ends = edges.indptr.data() + edges.indptr.size() - merge.rows;
    auto edge = sum;
    for (std::size_t row = 0; row < merge.rows; ++row) {
      const auto shift = static_cast<std::int64_t>(tree_of(to, ids[row]))
                         * info().node_types[source].count;
      for (; edge < ends[row]; ++edge)
        globals[static_cast<std::size_t>(edge - sum)] += shift;
    }
  }
  // The answers of this edge type have been given back by now, so that table
  // and list can grow into their memory.
  if (at == stage::finding) {
    reserve_nodes(source);
    pending[source] -= static_cast<std::int64_t>(total);
  }
  if (wide || trees())
    tables[source].number(std::as_const(globals).span(), locals, list);
  else
    tables[source].number(std::span<const local_id>{locals, total}, locals,
                          list);
  if (!keeps_edges()) {
    edges.indptr.resize(1);
    edges.sources = pod_vector<local_id>{pool};
  }
}

result<void> batch_sampler::impl::finish_lists() {
  pending.assign(out.nodes.size(), 0);
  for (std::size_t e = 0; e < out.edges.size(); ++e) {
    const auto type = static_cast<edge_type_id>(e);
    pending[static_cast<std::size_t>(source_of(type))] += round.sources(type);
  }
  GRAPHMILL_TRYV(check_room());
  for (std::size_t e = 0; e < out.edges.size(); ++e)
    finish_edges(static_cast<edge_type_id>(e));
  return ok();
}

/// Has the lists of the batch replace those by which its nodes were found.
result<void> batch_sampler::impl::finish_closing() {
  for (std::size_t e = 0; e < out.edges.size(); ++e) {
    const auto type = static_cast<edge_type_id>(e);
    const auto& nodes = out.nodes[static_cast<std::size_t>(source_of(type))];
    const auto known = nodes.ids.size();
    finish_edges(type);
    if (nodes.ids.size() != known)
      return fail(ec::invalid_data,
                  "edges of type {} among the nodes of a batch lead from {} "
                  "other nodes",
                  info().edge_type_name(type), nodes.ids.size() - known);
  }
  at = stage::done;
  round.clear();
  return ok();
}

result<void> batch_sampler::impl::finish() {
  GRAPHMILL_TRYV(round.check_complete());
  if (at == stage::closing)
    return finish_closing();
  if (roots)
    return finish_roots();
  if (scheme.method == sampling_method::pinsage)
    return finish_visits();
  if (scheme.method == sampling_method::hgt)
    finish_budgets();
  else
    GRAPHMILL_TRYV(finish_lists());
  ++hop;
  next_hop();
  return ok();
}

// -- walks and budgets

batch_sampler::impl::answers
batch_sampler::impl::answers_of(std::size_t number, const dealt_nodes& nodes,
                                bool edge_ids) {
  answers got{pod_vector<std::int64_t>{pool}, pod_vector<node_id>{pool},
              pod_vector<edge_id>{pool}};
  const auto merge = round.merge_of(number, nodes);
  merge.write_indptr(0, extend(got.ends, merge.rows));
  merge.write_sources(extend(got.sources, merge.sources()));
  if (edge_ids)
    merge.write_edge_ids(extend(got.edges, merge.sources()));
  round.release(number);
  return got;
}

/// Asks for the next steps of walks. Several of them may be at one node.
void batch_sampler::impl::ask_walkers(std::size_t number, edge_type_id type,
                                      std::span<const node_id> places,
                                      std::span<const std::int64_t> tokens,
                                      std::int32_t draws, int step) {
  auto& dealt = walkers[number];
  dealt.deal(graph, destination_of(type), {places, tokens}, false);
  std::vector<shortened_list> lists;
  const excluded_edges* without = nullptr;
  if (!exclusions.empty()) {
    without = &exclusions[static_cast<std::size_t>(type)].edges;
    const auto& all = without->destinations;
    const auto asked = dealt.dealt().ids;
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (const auto found = std::lower_bound(all.begin(), all.end(), asked[i]);
          found != all.end() && *found == asked[i])
        lists.push_back(
          shortened_at(i, static_cast<std::size_t>(found - all.begin())));
  }
  round.ask(
    {number, type, {draws, draw_kind::with_replacement}, step, step == 1},
    dealt, lists, without);
}

void batch_sampler::impl::begin_visits() {
  walks.assign(out.edges.size(), std::nullopt);
  for (std::size_t e = 0; e < out.edges.size(); ++e) {
    const auto type = static_cast<edge_type_id>(e);
    if (scheme.rule(hop, type).fanout == 0)
      continue;
    const auto& front = frontiers[destination_of(type)];
    walks[e].emplace(scheme.walk, key,
                     out.nodes[destination_of(type)].ids.span().subspan(
                       front.begin, front.end - front.begin),
                     source_of(type) != destination_of(type));
  }
  ask_visitors();
}

void batch_sampler::impl::ask_visitors() {
  round.clear();
  for (std::size_t e = 0; e < walks.size(); ++e)
    if (const auto& of = walks[e]; of && !of->over())
      ask_walkers(
        e, of->turns() ? scheme.opposites[e] : static_cast<edge_type_id>(e),
        of->places(), of->tokens(), of->draws(), of->step());
}

/// Moves the walks on, or has their visits be the edges of the hop.
result<void> batch_sampler::impl::finish_visits() {
  auto over = true;
  for (std::size_t e = 0; e < walks.size(); ++e)
    if (auto& of = walks[e]; of && !of->over()) {
      const auto got = answers_of(e, walkers[e], of->step() == 1);
      of->take(got.ends.span(), got.sources.span(), got.edges.span());
      over = over && of->over();
    }
  if (!over) {
    ask_visitors();
    return ok();
  }
  for (std::size_t e = 0; e < walks.size(); ++e)
    GRAPHMILL_TRYV(add_visited(static_cast<edge_type_id>(e)));
  walks.clear();
  ++hop;
  next_hop();
  return ok();
}

result<void> batch_sampler::impl::add_visited(edge_type_id type) {
  const auto& front = frontiers[destination_of(type)];
  const auto& of = walks[static_cast<std::size_t>(type)];
  const auto found =
    of ? of->most_visited(scheme.rule(hop, type).fanout)
       : visit_walks::visited{
         std::vector<std::int64_t>(front.end - front.begin), {}, {}};
  const auto source = static_cast<std::size_t>(source_of(type));
  pending.assign(out.nodes.size(), 0);
  pending[source] = std::ssize(found.nodes);
  GRAPHMILL_TRYV(check_room());
  auto& edges = out.edges[type];
  const auto sum = edges.indptr.back();
  for (const auto end : found.ends)
    edges.indptr.push_back(sum + end);
  if (scheme.weights)
    edges.weights.append(found.visits);
  tables[source].number(
    std::span<const node_id>{found.nodes},
    extend(edges.sources, edges.sources.size() + found.nodes.size()),
    out.nodes[source].ids);
  return ok();
}

void batch_sampler::impl::ask_roots() {
  for (std::size_t e = 0; e < out.edges.size(); ++e)
    if (const auto type = static_cast<edge_type_id>(e);
        !roots->places(type).empty())
      ask_walkers(e, type, roots->places(type), roots->tokens(type), 1,
                  roots->step());
}

/// Moves the walks on, or has the batch be of the nodes that they visited.
result<void> batch_sampler::impl::finish_roots() {
  for (std::size_t e = 0; e < out.edges.size(); ++e)
    if (const auto type = static_cast<edge_type_id>(e);
        !roots->places(type).empty()) {
      const auto got = answers_of(e, walkers[e], roots->step() == 1);
      roots->offer(type, got.ends.span(), got.sources.span(), got.edges.span());
    }
  roots->finish_step();
  round.clear();
  if (!roots->over()) {
    ask_roots();
    return ok();
  }
  pending.clear();
  for (std::size_t t = 0; t < out.nodes.size(); ++t)
    pending.push_back(std::ssize(roots->visited(static_cast<node_type_id>(t))));
  GRAPHMILL_TRYV(check_room());
  pod_vector<local_id> locals{pool};
  for (std::size_t t = 0; t < out.nodes.size(); ++t) {
    const auto visited = roots->visited(static_cast<node_type_id>(t));
    locals.resize(visited.size());
    tables[t].number(visited, locals.data(), out.nodes[t].ids);
  }
  close();
  return ok();
}

/// Takes what the frontier proposes into the budgets, and nodes out of them.
void batch_sampler::impl::finish_budgets() {
  for (std::size_t t = 0; t < out.nodes.size(); ++t)
    budgets[t].hold(
      std::as_const(out.nodes[t].ids)
        .span()
        .subspan(frontiers[t].begin, frontiers[t].end - frontiers[t].begin));
  for (std::size_t e = 0; e < out.edges.size(); ++e) {
    const auto type = static_cast<edge_type_id>(e);
    const auto got = answers_of(e, frontiers[destination_of(type)].dealt, true);
    std::int64_t begin = 0;
    for (const auto end : got.ends) {
      const auto from = static_cast<std::size_t>(begin);
      const auto count = static_cast<std::size_t>(end - begin);
      budgets[static_cast<std::size_t>(source_of(type))].propose(
        type, got.sources.span().subspan(from, count),
        got.edges.span().subspan(from, count));
      begin = end;
    }
  }
  pod_vector<local_id> locals{pool};
  for (std::size_t t = 0; t < out.nodes.size(); ++t) {
    const auto taken = budgets[t].take(
      scheme.budgets[static_cast<std::size_t>(hop)][t], key, hop + 1);
    locals.resize(taken.size());
    tables[t].number(std::span<const node_id>{taken}, locals.data(),
                     out.nodes[t].ids);
  }
}

/// Makes ids of nodes again.
void batch_sampler::impl::separate_trees() {
  for (std::size_t t = 0; t < out.nodes.size() && trees(); ++t) {
    auto& [ids, found, of] = out.nodes[t];
    const auto type = static_cast<node_type_id>(t);
    of = pod_vector<std::int32_t>{pool};
    of.resize(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      of[i] = static_cast<std::int32_t>(tree_of(type, ids[i]));
      ids[i] = node_of(type, ids[i]);
    }
  }
}

batch_sampler::impl::impl(const partitioned_graph& of,
                          const sampling_scheme& how, std::uint64_t step,
                          std::shared_ptr<buffer_pool> memory)
  : graph(of), scheme(how), key(step), pool(std::move(memory)),
    round(graph, scheme, key) {
  out.hops = scheme.blocks();
  for (const auto& type : info().node_types) {
    out.nodes.push_back({pod_vector<node_id>{pool}, {}});
    tables.emplace_back(type.count, pool);
    frontiers.push_back({0, 0, dealt_nodes{pool}, {}, {}, {}});
  }
  for (std::size_t e = 0; e < info().edge_types.size(); ++e) {
    out.edges.push_back({pod_vector<std::int64_t>{pool},
                         pod_vector<local_id>{pool}, pod_vector<edge_id>{pool},
                         pod_vector<float>{pool}, pod_vector<edge_id>{pool},
                         pod_vector<float>{pool}});
    out.edges.back().indptr.push_back(0);
  }
}

batch_sampler::batch_sampler(const partitioned_graph& graph,
                             const sampling_scheme& scheme, std::uint64_t key,
                             std::shared_ptr<buffer_pool> pool)
  : impl_(new impl{graph, scheme, key, std::move(pool)}) {}

batch_sampler::~batch_sampler() = default;

result<void> batch_sampler::start(const batch_seeds& seeds) {
  if (impl_->at != impl::stage::made)
    return fail(ec::internal, "a batch sampler starts once");
  GRAPHMILL_TRYV(impl_->check_scheme());
  impl_->at = impl::stage::finding;
  try {
    GRAPHMILL_TRYV(impl_->seed(seeds));
    impl_->begin(seeds);
    return ok();
  } catch (const std::bad_alloc&) {
    return no_memory(0);
  }
}

std::span<const batch_sampler::part_request> batch_sampler::requests() const {
  return impl_->round.requests();
}

result<void> batch_sampler::accept(std::size_t slot, neighbour_reply reply) {
  return impl_->round.accept(slot, std::move(reply));
}

result<void> batch_sampler::finish_hop() {
  if (impl_->at == impl::stage::made || done())
    return fail(ec::internal, "there is no hop to finish");
  try {
    return impl_->finish();
  } catch (const std::bad_alloc&) {
    return no_memory(impl_->hop + 1);
  }
}

bool batch_sampler::done() const {
  return impl_->at == impl::stage::done;
}

sampled_subgraph batch_sampler::take() {
  impl_->separate_trees();
  return std::move(impl_->out);
}

} // namespace graphmill
