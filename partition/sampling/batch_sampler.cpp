#include "partition/sampling/draws.hpp"
#include "partition/sampling/id_table.hpp"
#include "partition/sampling/reply_merge.hpp"
#include "partition/sampling/sampling.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

error no_memory(int hop) {
  return fail(ec::out_of_memory, "no memory for hop {} of a batch", hop);
}

/// The nodes of one type that a hop expands, dealt out to the parts.
struct frontier {
  std::size_t begin = 0; ///< Local ids [begin, end).
  std::size_t end = 0;
  pod_vector<part_id> owners; ///< Per node; empty with one part.
  /// Global ids grouped by part, in discovery order within each: what requests
  /// refer to. Empty with one part, whose requests refer to the node list.
  pod_vector<node_id> by_part;
  std::vector<std::size_t> cuts; ///< [parts + 1] of `by_part`.
  /// Where each node is in `by_part`; only if edges are excluded.
  std::vector<std::size_t> places;
  // With trees, of each node in `by_part`:
  std::vector<std::int64_t> until; ///< The time of its row.
  std::vector<std::int64_t> rows;  ///< The number of its row.

  std::size_t size() const { return end - begin; }
};

/// Edges of one type that the batch is without. With trees, destinations are
/// those of one tree.
struct exclusion {
  excluded_edges edges;
  /// Destinations that no hop has expanded yet, by number.
  std::vector<std::size_t> left;
};

/// A destination that a hop expands without some of its edges: its place in the
/// frontier by part in the upper half, its number in `exclusion` in the lower.
/// One word, for a thousand of them are sorted.
using shortened = std::uint64_t;

constexpr shortened shortened_at(std::size_t place, std::size_t number) {
  return std::uint64_t{place} << 32 | std::uint64_t{number};
}
constexpr std::size_t shortened_place(shortened list) {
  return static_cast<std::size_t>(list >> 32);
}
constexpr std::size_t shortened_number(shortened list) {
  return static_cast<std::size_t>(list & 0xffffffff);
}

/// A slot's answer while it waits for the others.
struct answer {
  neighbour_reply reply;
  bool there = false;
  std::int64_t sources = 0;
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
  const partitioned_graph& graph;
  sampling_scheme scheme;
  std::uint64_t key;
  std::shared_ptr<buffer_pool> pool;
  sampled_subgraph out;
  int hop = 0; ///< Hops finished.
  bool started = false;
  std::vector<id_table> tables;
  std::vector<frontier> frontiers;
  std::vector<part_request> requests;
  std::vector<answer> answers;
  std::vector<std::int64_t> pending;   ///< Sources to number, per node type.
  std::vector<exclusion> exclusions{}; ///< Per edge type; empty: none at all.
  std::vector<excluded_lists> excluded{}; ///< What requests refer to.
  std::vector<std::int64_t> until{}; ///< As in `batch_seeds`.
  std::vector<std::int64_t> rows{};  ///< Likewise.

  const dataset_info& info() const { return graph.info(); }
  // With trees, a node is what it is in one tree. Until the batch is taken, its
  // id is that of the node and, times the number of nodes, the place of the row.
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
  bool reports_weights(edge_type_id type) const {
    return scheme.weights && info().edge_types[type].weighted;
  }
  bool reports_places(edge_type_id type) const {
    return scheme.places && info().edge_types[type].feature_width > 0;
  }
  result<void> check_scheme() const;
  result<void> seed(const batch_seeds& seeds);
  result<void> check_times(const batch_seeds& seeds) const;
  result<void> plant_trees(const batch_seeds& seeds);
  result<void> seed_type(node_type_id type, std::span<const node_id> seeds,
                         std::span<const std::int32_t> trees);
  time_limits limits_of(edge_type_id type, std::size_t from,
                        std::size_t count) const;
  void separate_trees();
  void next_frontiers();
  void deal(node_type_id type);
  std::vector<shortened> shortened_lists(edge_type_id type);
  void ask();
  result<void> count_sources();
  void reserve_nodes(node_type_id type);
  reply_merge merge_of(edge_type_id type) const;
  void finish_edges(edge_type_id type);
  result<void> finish();
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
                "that hear of their past alone (sampler.time)");
  for (const auto& fanouts : scheme.fanouts)
    if (fanouts.size() != info().edge_types.size())
      return fail(ec::invalid_argument,
                  "a hop has {} fanouts, but \"{}\" has {} edge types",
                  fanouts.size(), info().name, info().edge_types.size());
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

result<void>
batch_sampler::impl::check_times(const batch_seeds& seeds) const {
  const auto expected =
    !scheme.time.used ? 0 : trees() ? seeds.row_numbers.size() : 1;
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

/// The nodes found last are those to expand now.
void batch_sampler::impl::next_frontiers() {
  for (std::size_t t = 0; t < out.nodes.size(); ++t) {
    auto& nodes = out.nodes[t];
    nodes.found.push_back(static_cast<std::int64_t>(nodes.ids.size()));
    frontiers[t].begin = frontiers[t].end;
    frontiers[t].end = nodes.ids.size();
    if (hop < scheme.hops())
      deal(static_cast<node_type_id>(t));
  }
  requests.clear();
  excluded.clear();
  answers.clear();
  if (hop < scheme.hops())
    ask();
}

void batch_sampler::impl::deal(node_type_id type) {
  auto& front = frontiers[type];
  const auto parts = static_cast<std::size_t>(graph.part_count());
  front.cuts.assign(parts + 1, 0);
  if (parts == 1 && !trees()) {
    front.cuts[1] = front.size();
    return;
  }
  const auto* ids = out.nodes[type].ids.data() + front.begin;
  front.owners.resize(front.size());
  front.by_part.resize(front.size());
  for (std::size_t i = 0; i < front.size(); ++i) {
    front.owners[i] = graph.owner(type, node_of(type, ids[i]));
    ++front.cuts[front.owners[i] + 1];
  }
  std::partial_sum(front.cuts.begin(), front.cuts.end(), front.cuts.begin());
  auto next = front.cuts;
  front.places.resize(exclusions.empty() ? 0 : front.size());
  front.until.resize(trees() ? front.size() : 0);
  front.rows.resize(front.until.size());
  for (std::size_t i = 0; i < front.size(); ++i) {
    const auto place = next[front.owners[i]]++;
    front.by_part[place] = node_of(type, ids[i]);
    if (trees()) {
      const auto tree = tree_of(type, ids[i]);
      front.until[place] = until[tree];
      front.rows[place] = rows[tree];
    }
    if (!front.places.empty())
      front.places[i] = place;
  }
}

/// The lists of this hop from which edges are excluded, by place. A node is
/// expanded once, so that each of them is asked for once in a batch.
std::vector<shortened> batch_sampler::impl::shortened_lists(edge_type_id type) {
  std::vector<shortened> out;
  if (exclusions.empty())
    return out;
  auto& [edges, left] = exclusions[type];
  const auto of = info().edge_types[type].destination;
  const auto& front = frontiers[of];
  std::erase_if(left, [&, &all = edges](std::size_t number) {
    const auto local =
      tables[of].find(all.destinations[number], this->out.nodes[of].ids);
    if (local < 0 || std::cmp_less(local, front.begin))
      return local >= 0;
    const auto i = static_cast<std::size_t>(local) - front.begin;
    out.push_back(
      shortened_at(front.places.empty() ? i : front.places[i], number));
    return true;
  });
  std::sort(out.begin(), out.end());
  return out;
}

/// Of `count` nodes of the frontier from number `from` on.
time_limits batch_sampler::impl::limits_of(edge_type_id type, std::size_t from,
                                           std::size_t count) const {
  const auto& about = info().edge_types[type];
  const auto& front = frontiers[about.destination];
  time_limits out;
  if (trees())
    out.rows = std::span{front.rows}.subspan(from, count);
  if (!scheme.time.used || !about.timed)
    return out;
  out.until = trees() ? std::span{front.until}.subspan(from, count)
                      : std::span{until};
  out.inclusive = scheme.time.inclusive;
  out.latest = scheme.time.latest;
  out.window = scheme.time.window;
  return out;
}

/// One request per edge type and part that owns some of the frontier.
void batch_sampler::impl::ask() {
  const auto& fanouts = scheme.fanouts[hop];
  for (std::size_t e = 0; e < fanouts.size(); ++e) {
    const auto type = info().edge_types[e].destination;
    const auto edge_type = static_cast<edge_type_id>(e);
    const auto& front = frontiers[type];
    const auto lists = shortened_lists(edge_type);
    auto next = lists.begin();
    const auto* ids = graph.part_count() == 1 && !trees()
                        ? out.nodes[type].ids.data() + front.begin
                        : front.by_part.data();
    for (part_id p = 0; p < graph.part_count() && fanouts[e] != 0; ++p) {
      const auto size = front.cuts[p + 1] - front.cuts[p];
      if (size == 0)
        continue;
      auto& without = excluded.emplace_back();
      for (; next != lists.end() && shortened_place(*next) < front.cuts[p + 1];
           ++next)
        without.add(
          shortened_place(*next) - front.cuts[p],
          exclusions[e].edges.of_destination(shortened_number(*next)));
      const neighbour_request request{key,
                                      hop + 1,
                                      edge_type,
                                      scheme.rule(hop, edge_type),
                                      scheme.edge_ids,
                                      {ids + front.cuts[p], size},
                                      reports_weights(edge_type),
                                      without.view(),
                                      scheme.level,
                                      limits_of(edge_type, front.cuts[p], size),
                                      reports_places(edge_type)};
      requests.push_back({requests.size(), p, request});
    }
  }
  answers.resize(requests.size());
}

/// Counts the sources that are to be numbered, per node type, and refuses a
/// batch whose local ids could exceed 32 bits before anything is numbered.
result<void> batch_sampler::impl::count_sources() {
  pending.assign(out.nodes.size(), 0);
  for (const auto& asked : requests)
    pending[info().edge_types[asked.request.edge_type].source] +=
      answers[asked.slot].sources;
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
  const auto likely =
    std::min<std::int64_t>(std::ssize(ids.span()) + (pending[type] + 1) / 2,
                           universe(type));
  tables[type].reserve(ids, likely);
  ids.reserve(static_cast<std::size_t>(likely) + 1);
}

reply_merge batch_sampler::impl::merge_of(edge_type_id type) const {
  const auto& front = frontiers[info().edge_types[type].destination];
  reply_merge merge{front.size(), front.owners.span(), {}};
  merge.replies.resize(static_cast<std::size_t>(graph.part_count()));
  for (const auto& asked : requests)
    if (asked.request.edge_type == type)
      merge.replies[asked.part] = &answers[asked.slot].reply;
  return merge;
}

/// Appends the hop's rows to the CSR of an edge type and numbers its sources.
/// Edge types are finished in the order of the dataset: with the order of the
/// frontier and of the lists, that is the discovery order of new nodes, which
/// decides their local ids.
void batch_sampler::impl::finish_edges(edge_type_id type) {
  const auto merge = merge_of(type);
  const auto wide = merge.wide();
  const auto total = merge.sources();
  auto& edges = out.edges[type];
  const auto sum = edges.indptr.back();
  merge.write_indptr(sum,
                     extend(edges.indptr, edges.indptr.size() + merge.rows));
  auto* locals = extend(edges.sources, edges.sources.size() + total);
  if (scheme.edge_ids)
    merge.write_edge_ids(extend(edges.edge_ids, edges.edge_ids.size() + total));
  if (reports_weights(type))
    merge.write_weights(extend(edges.weights, edges.weights.size() + total));
  if (reports_places(type))
    merge.write_places(extend(edges.places, edges.places.size() + total));
  // Global ids of 4 bytes are as wide as local ones. They are written to the
  // place of the local ids, which replace them one by one.
  pod_vector<node_id> globals{pool};
  if (wide || trees())
    merge.write_sources(extend(globals, total));
  else
    merge.write_sources(locals);
  for (const auto& asked : requests)
    if (asked.request.edge_type == type)
      answers[asked.slot].reply = {};
  const auto source = info().edge_types[type].source;
  auto& list = out.nodes[source].ids;
  if (trees()) { // Sources are in the tree of their destination.
    const auto to = info().edge_types[type].destination;
    const auto* ids = out.nodes[to].ids.data() + frontiers[to].begin;
    const auto* ends = edges.indptr.data() + edges.indptr.size() - merge.rows;
    auto at = sum;
    for (std::size_t row = 0; row < merge.rows; ++row) {
      const auto shift = static_cast<std::int64_t>(tree_of(to, ids[row]))
                         * info().node_types[source].count;
      for (; at < ends[row]; ++at)
        globals[static_cast<std::size_t>(at - sum)] += shift;
    }
  }
  // The answers of this edge type have been given back by now, so that table
  // and list can grow into their memory.
  reserve_nodes(source);
  pending[source] -= static_cast<std::int64_t>(total);
  if (wide || trees())
    tables[source].number(std::as_const(globals).span(), locals, list);
  else
    tables[source].number(std::span<const local_id>{locals, total}, locals,
                          list);
}

result<void> batch_sampler::impl::finish() {
  for (const auto& asked : requests)
    if (!answers[asked.slot].there)
      return fail(ec::internal,
                  "hop {} ends without the answer of part {} for edge type {}",
                  hop + 1, asked.part, asked.request.edge_type);
  GRAPHMILL_TRYV(count_sources());
  for (std::size_t e = 0; e < out.edges.size(); ++e)
    finish_edges(static_cast<edge_type_id>(e));
  ++hop;
  next_frontiers();
  return ok();
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

batch_sampler::batch_sampler(const partitioned_graph& graph,
                             const sampling_scheme& scheme, std::uint64_t key,
                             std::shared_ptr<buffer_pool> pool)
  : impl_(new impl{
    graph, scheme, key, std::move(pool), {}, 0, false, {}, {}, {}, {}, {}}) {
  const auto& shared = impl_->pool;
  auto& out = impl_->out;
  out.hops = scheme.hops();
  for (const auto& type : graph.info().node_types) {
    out.nodes.push_back({pod_vector<node_id>{shared}, {}});
    impl_->tables.emplace_back(type.count, shared);
    impl_->frontiers.push_back(
      {0, 0, pod_vector<part_id>{shared}, pod_vector<node_id>{shared}, {}, {},
       {}, {}});
  }
  for (std::size_t e = 0; e < graph.info().edge_types.size(); ++e) {
    out.edges.push_back(
      {pod_vector<std::int64_t>{shared}, pod_vector<local_id>{shared},
       pod_vector<edge_id>{shared}, pod_vector<float>{shared},
       pod_vector<edge_id>{shared}});
    out.edges.back().indptr.push_back(0);
  }
}

batch_sampler::~batch_sampler() = default;
batch_sampler::batch_sampler(batch_sampler&&) noexcept = default;
batch_sampler& batch_sampler::operator=(batch_sampler&&) noexcept = default;

result<void> batch_sampler::start(const batch_seeds& seeds) {
  if (impl_->started)
    return fail(ec::internal, "a batch sampler starts once");
  GRAPHMILL_TRYV(impl_->check_scheme());
  impl_->started = true;
  try {
    GRAPHMILL_TRYV(impl_->seed(seeds));
    impl_->next_frontiers();
    return ok();
  } catch (const std::bad_alloc&) {
    return no_memory(0);
  }
}

std::span<const batch_sampler::part_request> batch_sampler::requests() const {
  return impl_->requests;
}

result<void> batch_sampler::accept(std::size_t slot, neighbour_reply reply) {
  if (slot >= impl_->answers.size())
    return fail(ec::invalid_argument, "there is no slot {} of {}", slot,
                impl_->answers.size());
  auto& answer = impl_->answers[slot];
  if (answer.there)
    return ok();
  const auto& asked = impl_->requests[slot];
  GRAPHMILL_TRY(answer.sources,
                check_reply(impl_->info(), asked.part, asked.request, reply));
  answer.reply = std::move(reply);
  answer.there = true;
  return ok();
}

result<void> batch_sampler::finish_hop() {
  if (!impl_->started || done())
    return fail(ec::internal, "there is no hop to finish");
  try {
    return impl_->finish();
  } catch (const std::bad_alloc&) {
    return no_memory(impl_->hop + 1);
  }
}

bool batch_sampler::done() const {
  return impl_->started && impl_->hop == impl_->scheme.hops();
}

sampled_subgraph batch_sampler::take() {
  impl_->separate_trees();
  return std::move(impl_->out);
}

} // namespace graphmill
