#include "actors/remote/calls/batch_call.hpp"

#include "actors/remote/calls/excluded_call.hpp"
#include "partition/sampling/id_table.hpp"
#include "partition/sampling/reply_merge.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

static_assert(sizeof(local_id) == 4, "local ids travel as int32");

/// Less than what the batch takes in a message.
std::uint64_t least_bytes(const sampled_subgraph& batch) {
  std::uint64_t bytes = 0;
  for (const auto& list : batch.nodes)
    bytes += (list.ids.size() + list.trees.size()) * sizeof(std::int32_t);
  for (const auto& list : batch.edges)
    bytes += list.sources.span().size_bytes() + list.weights.span().size_bytes()
             + list.indptr.size() + list.places.size() * sizeof(std::int32_t)
             + list.ages.span().size_bytes();
  return bytes;
}

node_arrays nodes_of(const node_list& list, bulk_writer& arrays,
                     const std::shared_ptr<const sampled_subgraph>& owner) {
  node_arrays out;
  out.found = list.found;
  const auto seeds = static_cast<std::size_t>(list.found.front());
  out.ids = arrays.add_integers(list.ids.span().subspan(seeds), owner);
  if (!list.trees.empty())
    out.trees = arrays.add(
      element::int32, std::as_bytes(list.trees.span().subspan(seeds)), owner);
  return out;
}

neighbour_arrays
edges_of(const edge_list& list, bulk_writer& arrays,
         const std::shared_ptr<const sampled_subgraph>& owner) {
  const auto rows = list.indptr.size() - 1;
  auto counts = std::make_shared<std::vector<std::int32_t>>(rows);
  for (std::size_t r = 0; r < rows; ++r)
    (*counts)[r] =
      static_cast<std::int32_t>(list.indptr[r + 1] - list.indptr[r]);
  neighbour_arrays out;
  out.counts = arrays.add_counts(*counts, counts);
  out.sources =
    arrays.add(element::int32, std::as_bytes(list.sources.span()), owner);
  out.edge_ids = arrays.add_integers(list.edge_ids.span(), owner);
  if (!list.weights.empty())
    out.weights =
      arrays.add(element::float32, std::as_bytes(list.weights.span()), owner);
  out.places = arrays.add_integers(list.places.span(), owner);
  if (!list.ages.empty())
    out.ages =
      arrays.add(element::float32, std::as_bytes(list.ages.span()), owner);
  return out;
}

/// A batch while it is read.
class batch_reader {
public:
  batch_reader(const dataset_info& info, const sampling_scheme& scheme,
               const payload& from, std::shared_ptr<buffer_pool> pool)
    : info_(info), scheme_(scheme), from_(from), pool_(std::move(pool)) {
    out_.hops = scheme.blocks();
  }

  result<sampled_subgraph> read(const batch_seeds& seeds,
                                const batch_reply& reply) {
    if (reply.nodes.size() != info_.node_types.size()
        || reply.edges.size() != info_.edge_types.size())
      return fail(ec::invalid_data,
                  "a batch has {} node and {} edge types, the dataset {} and "
                  "{}",
                  reply.nodes.size(), reply.edges.size(),
                  info_.node_types.size(), info_.edge_types.size());
    for (std::size_t t = 0; t < reply.nodes.size(); ++t)
      GRAPHMILL_TRYV(read_nodes(
        info_.node_types[t], reply.nodes[t], seeds.nodes[t],
        scheme_.time.disjoint ? std::span<const std::int32_t>{seeds.trees[t]}
                              : std::span<const std::int32_t>{},
        std::ssize(seeds.row_numbers)));
    for (std::size_t e = 0; e < reply.edges.size(); ++e)
      GRAPHMILL_TRYV(read_edges(static_cast<edge_type_id>(e), reply.edges[e]));
    return std::move(out_);
  }

private:
  /// @pre `found` does not fall: the decoder has seen to it.
  result<void> read_nodes(const node_type_info& type, const node_arrays& from,
                          std::span<const node_id> seeds,
                          std::span<const std::int32_t> seed_trees,
                          std::int64_t rows) {
    const auto disjoint = scheme_.time.disjoint;
    const auto& found = from.found;
    if (std::ssize(found) != std::ptrdiff_t{scheme_.blocks()} + 1
        || found.front() != std::ssize(seeds)
        || std::cmp_not_equal(found.back() - found.front(), from.ids.count)
        || (!disjoint && found.back() > type.count)
        || from.trees.count != (disjoint ? from.ids.count : 0))
      return fail(ec::invalid_data,
                  "a batch's nodes of type \"{}\" do not fit its {} hops, {} "
                  "seeds and {} ids",
                  type.name, scheme_.blocks(), seeds.size(), from.ids.count);
    node_list list{pod_vector<node_id>{pool_}, found};
    list.ids.resize(static_cast<std::size_t>(found.back()));
    std::copy(seeds.begin(), seeds.end(), list.ids.begin());
    const auto ids = list.ids.span().subspan(seeds.size());
    read_integers(from.ids, from_.bulk, ids.data());
    for (auto id : ids)
      if (id < 0 || id >= type.count)
        return fail(
          ec::invalid_data,
          "a batch has node {} of type \"{}\", which has only {} nodes", id,
          type.name, type.count);
    if (disjoint) {
      list.trees = pod_vector<std::int32_t>{pool_};
      list.trees.resize(list.ids.size());
      std::copy(seed_trees.begin(), seed_trees.end(), list.trees.begin());
      GRAPHMILL_TRYV(read_integers(
        from.trees, from_.bulk, list.trees.data() + seeds.size(), 0,
        static_cast<std::int32_t>(std::max<std::int64_t>(rows, 1) - 1)));
    }
    GRAPHMILL_TRYV(check_distinct(type, list, rows));
    out_.nodes.push_back(std::move(list));
    return ok();
  }

  /// A node that came twice, in one tree, would harm no memory, but would count
  /// twice in what is computed. Numbering the ids again takes about 10 ns for
  /// each, which is little beside sampling them, let alone training on them.
  /// @param trees Of the batch.
  result<void> check_distinct(const node_type_info& type, const node_list& list,
                              std::int64_t trees) {
    std::span<const node_id> ids = list.ids.span();
    pod_vector<node_id> apart{pool_};
    if (!list.trees.empty()) {
      apart.resize(ids.size());
      for (std::size_t i = 0; i < ids.size(); ++i)
        apart[i] = ids[i] + list.trees[i] * type.count;
      ids = apart.span();
    }
    id_table numbers{type.count * std::max<std::int64_t>(trees, 1), pool_};
    pod_vector<node_id> distinct{pool_};
    pod_vector<local_id> rows{pool_};
    rows.resize(ids.size());
    numbers.reserve(distinct, std::ssize(ids));
    numbers.number(ids, rows.data(), distinct);
    if (distinct.size() != ids.size())
      return fail(ec::invalid_data,
                  "a batch has {} nodes of type \"{}\" more than once",
                  ids.size() - distinct.size(), type.name);
    return ok();
  }

  result<void> read_edges(edge_type_id type, const neighbour_arrays& from) {
    const auto rows = static_cast<std::size_t>(rows_of(type, scheme_.blocks()));
    const auto sources = from.sources.count;
    const auto weighted = scheme_.weighs(info_.edge_types[type]);
    const auto placed =
      scheme_.places && info_.edge_types[type].feature_width > 0;
    const auto aged = scheme_.ages && info_.edge_types[type].timed;
    if (from.places.count != (placed ? sources : 0)
        || from.ages.count != (aged ? sources : 0))
      return fail(ec::invalid_data,
                  "a batch has {} places and {} ages of edges of type \"{}\", "
                  "and {} sources",
                  from.places.count, from.ages.count,
                  info_.edge_type_name(type), sources);
    if (from.counts.count != rows
        || from.edge_ids.count != (scheme_.edge_ids ? sources : 0)
        || from.weights.count != (weighted ? sources : 0))
      return fail(ec::invalid_data,
                  "a batch has {} rows, {} edge ids and {} weights of type "
                  "\"{}\", but {} expanded nodes and {} sources",
                  from.counts.count, from.edge_ids.count, from.weights.count,
                  info_.edge_type_name(type), rows, sources);
    edge_list list{pod_vector<std::int64_t>{pool_}, pod_vector<local_id>{pool_},
                   pod_vector<edge_id>{pool_},      pod_vector<float>{pool_},
                   pod_vector<edge_id>{pool_},      pod_vector<float>{pool_}};
    GRAPHMILL_TRYV(read_rows(type, from.counts, sources, list.indptr));
    list.sources.resize(static_cast<std::size_t>(sources));
    GRAPHMILL_TRYV(
      read_integers(from.sources, from_.bulk, list.sources.data()));
    GRAPHMILL_TRYV(check_sources(type, list));
    list.edge_ids.resize(static_cast<std::size_t>(from.edge_ids.count));
    read_integers(from.edge_ids, from_.bulk, list.edge_ids.data());
    list.weights.resize(static_cast<std::size_t>(from.weights.count));
    read_floats(from.weights, from_.bulk, list.weights.data());
    if (!are_weights(list.weights.span()))
      return fail(
        ec::invalid_data,
        "a weight of a batch's edges of type \"{}\" is negative or not finite",
        info_.edge_type_name(type));
    list.places.resize(static_cast<std::size_t>(from.places.count));
    read_integers(from.places, from_.bulk, list.places.data());
    for (const auto place : list.places)
      if (place < 0 || place >= info_.edge_types[type].count)
        return fail(ec::invalid_data,
                    "a batch has an edge of type \"{}\" at place {} of {}",
                    info_.edge_type_name(type), place,
                    info_.edge_types[type].count);
    list.ages.resize(static_cast<std::size_t>(from.ages.count));
    read_floats(from.ages, from_.bulk, list.ages.data());
    if (!are_weights(list.ages.span()))
      return fail(
        ec::invalid_data,
        "an age of a batch's edges of type \"{}\" is negative or not finite",
        info_.edge_type_name(type));
    out_.edges.push_back(std::move(list));
    return ok();
  }

  result<void> read_rows(edge_type_id type, const bulk_array& counts,
                         std::uint64_t sources,
                         pod_vector<std::int64_t>& indptr) {
    indptr.resize(static_cast<std::size_t>(counts.count) + 1);
    indptr[0] = 0;
    pod_vector<std::int32_t> each{pool_};
    each.resize(static_cast<std::size_t>(counts.count));
    GRAPHMILL_TRYV(read_integers(counts, from_.bulk, each.data()));
    std::inclusive_scan(each.begin(), each.end(), indptr.begin() + 1,
                        std::plus<>{}, std::int64_t{0});
    if (std::cmp_not_equal(indptr.back(), sources))
      return fail(ec::invalid_data,
                  "the rows of a batch's edges of type \"{}\" have {} sources, "
                  "but the answer has {}",
                  info_.edge_type_name(type), indptr.back(), sources);
    return ok();
  }

  /// Layers compute on the rows of the first hops alone: no row may lead to a
  /// node that a later hop has found, and none to one of another tree.
  result<void> check_sources(edge_type_id type, const edge_list& list) const {
    const auto& known = out_.nodes[info_.edge_types[type].source].found;
    const auto& from = out_.nodes[info_.edge_types[type].source].trees;
    const auto& to = out_.nodes[info_.edge_types[type].destination].trees;
    for (std::size_t row = 0;
         scheme_.time.disjoint && row + 1 < list.indptr.size(); ++row)
      for (auto i = list.indptr[row]; i < list.indptr[row + 1]; ++i)
        if (list.sources[i] < 0
            || std::cmp_greater_equal(list.sources[i], from.size())
            || from[list.sources[i]] != to[row])
          return fail(ec::invalid_data,
                      "an edge of type \"{}\" of a batch joins two trees",
                      info_.edge_type_name(type));
    for (int hop = 1; hop <= scheme_.blocks(); ++hop) {
      const auto begin = list.indptr[rows_of(type, hop - 1)];
      const auto end = list.indptr[rows_of(type, hop)];
      for (auto i = begin; i < end; ++i)
        if (list.sources[i] >= known[hop])
          return fail(ec::invalid_data,
                      "an edge of type \"{}\" in hop {} of a batch comes from "
                      "node {} of {} that are known",
                      info_.edge_type_name(type), hop, list.sources[i],
                      known[hop]);
    }
    return ok();
  }

  std::int64_t rows_of(edge_type_id type, int hop) const {
    return out_.rows(info_.edge_types[type].destination, hop);
  }

  const dataset_info& info_;
  const sampling_scheme& scheme_;
  const payload& from_;
  std::shared_ptr<buffer_pool> pool_;
  sampled_subgraph out_;
};

} // namespace

result<payload> batch_question(const std::string& run, std::uint64_t key,
                               batch_kind kind, const dataset_info& info,
                               const batch_seeds& seeds,
                               std::uint64_t& ids_bytes,
                               std::optional<batch_key> batch) {
  bulk_writer arrays;
  batch_request out{run, key, kind, {}, batch};
  const auto& target = seeds.nodes[static_cast<std::size_t>(info.target)];
  if (target.size() == seeds.count())
    out.seeds = arrays.add_integers(target);
  else
    for (const auto& ids : seeds.nodes)
      out.seeds_by_type.push_back(arrays.add_integers(ids));
  for (const auto& edges : seeds.excluded)
    out.excluded.push_back(write_excluded(edges, arrays));
  out.until = arrays.add_integers(seeds.until);
  out.rows = arrays.add_integers(seeds.row_numbers);
  std::vector<std::int32_t> trees;
  for (const auto& of_type : seeds.trees)
    trees.insert(trees.end(), of_type.begin(), of_type.end());
  if (!trees.empty())
    out.trees = arrays.add(element::int32, std::as_bytes(std::span{trees}));
  ids_bytes = arrays.byte_size();
  return encode(out, std::move(arrays));
}

result<batch_seeds> read_batch_seeds(const dataset_info& info,
                                     const batch_request& request,
                                     const payload& from, std::uint64_t most) {
  std::vector<bulk_array> arrays(info.node_types.size());
  if (request.seeds_by_type.empty())
    arrays[static_cast<std::size_t>(info.target)] = request.seeds;
  else if (request.seeds_by_type.size() == arrays.size())
    arrays = request.seeds_by_type;
  else
    return fail(ec::invalid_argument,
                "the request has seeds of {} node types; the dataset has {}",
                request.seeds_by_type.size(), arrays.size());
  std::uint64_t count = 0;
  for (const auto& array : arrays)
    count += array.count;
  if (count > most)
    return fail(
      ec::invalid_argument,
      "the request is for a batch of {} seeds; the definition allows {}", count,
      most);
  batch_seeds out;
  for (const auto& array : arrays) {
    auto& ids = out.nodes.emplace_back(static_cast<std::size_t>(array.count));
    read_integers(array, from.bulk, ids.data());
  }
  if (!request.excluded.empty()
      && request.excluded.size() != info.edge_types.size())
    return fail(ec::invalid_argument,
                "the request excludes edges of {} types; the dataset has {}",
                request.excluded.size(), info.edge_types.size());
  for (const auto& edges : request.excluded) {
    GRAPHMILL_TRY(auto excluded, read_excluded(edges, from));
    out.excluded.push_back(std::move(excluded));
  }
  out.until.resize(static_cast<std::size_t>(request.until.count));
  read_integers(request.until, from.bulk, out.until.data());
  out.row_numbers.resize(static_cast<std::size_t>(request.rows.count));
  read_integers(request.rows, from.bulk, out.row_numbers.data());
  if (request.trees.count == 0)
    return out;
  if (request.trees.count != count)
    return fail(ec::invalid_argument,
                "the request has {} seeds, and says the trees of {}", count,
                request.trees.count);
  std::vector<std::int32_t> trees(static_cast<std::size_t>(count));
  GRAPHMILL_TRYV(read_integers(request.trees, from.bulk, trees.data()));
  auto next = trees.begin();
  for (const auto& ids : out.nodes) {
    const auto end = next + std::ssize(ids);
    out.trees.emplace_back(next, end);
    next = end;
  }
  return out;
}

result<payload> batch_answer(const dataset_info& info,
                             std::shared_ptr<const sampled_subgraph> batch) {
  batch_reply out;
  bulk_writer arrays;
  out.too_large = least_bytes(*batch) > max_bulk_bytes;
  for (std::size_t t = 0; t < info.node_types.size() && !out.too_large; ++t)
    out.nodes.push_back(nodes_of(batch->nodes[t], arrays, batch));
  for (std::size_t e = 0; e < info.edge_types.size() && !out.too_large; ++e)
    out.edges.push_back(edges_of(batch->edges[e], arrays, batch));
  if (!out.too_large && arrays.byte_size() <= max_bulk_bytes)
    return encode(out, std::move(arrays));
  out = {};
  out.too_large = true;
  return encode(out, bulk_writer{});
}

result<sampled_subgraph>
read_batch(const dataset_info& info, const sampling_scheme& scheme,
           const batch_seeds& seeds, const batch_reply& reply,
           const payload& from, const std::shared_ptr<buffer_pool>& pool) {
  return batch_reader{info, scheme, from, pool}.read(seeds, reply);
}

} // namespace graphmill
