#include "actors/remote/serving/pending_requests.hpp"

#include "actors/base/value_bytes.hpp"
#include "actors/remote/calls/excluded_call.hpp"
#include "partition/files/half.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "partition/sampling/slices.hpp"

#include <algorithm>
#include <limits>

namespace graphmill {

namespace {

/// Reads ids and checks that the part owns them.
result<pod_vector<node_id>> read_ids(const shard& part, node_type_id type,
                                     const bulk_array& array,
                                     const payload& from,
                                     const std::shared_ptr<buffer_pool>& pool) {
  pod_vector<node_id> ids{pool};
  ids.resize(static_cast<std::size_t>(array.count));
  read_integers(array, from.bulk, ids.data());
  const auto& owned = part.nodes(type);
  for (auto id : ids)
    if (id < owned.begin || id >= owned.end)
      return fail(ec::invalid_argument,
                  "node {} of type \"{}\" is not in part {}, which owns [{}, "
                  "{})",
                  id, part.info().node_types[type].name, part.part(),
                  owned.begin, owned.end);
  return ids;
}

template <class Types>
result<void> check_type(const Types& types, std::int32_t type,
                        std::string_view name) {
  if (type < 0 || static_cast<std::size_t>(type) >= types.size())
    return fail(ec::invalid_argument, "there is no {} type {}", name, type);
  return ok();
}

/// Bytes of a source in the answer to a query.
std::uint64_t source_bytes(const shard& part, const neighbour_query& query) {
  const auto& type = part.info().edge_types[query.edge_type];
  const auto wide = part.info().node_types[type.source].count
                    > std::numeric_limits<std::int32_t>::max();
  return (wide ? 8 : 4) + (query.edge_ids ? 8 : 0)
         + (query.weights ? sizeof(float) : 0) + (query.places ? 8 : 0)
         + (query.ages ? sizeof(float) : 0);
}

/// Bytes of the answer to a query. Only if a bound from the rule alone is above
/// `enough`, degrees are looked up.
std::uint64_t answer_bytes(const shard& part, const neighbour_query& query,
                           std::span<const node_id> ids, std::uint64_t enough) {
  const auto& type = part.info().edge_types[query.edge_type];
  const auto source = source_bytes(part, query);
  const auto of_degree = [&query](std::int64_t degree) {
    return static_cast<std::uint64_t>(
      query.rule.sources_of(std::max<std::int64_t>(degree, 0)));
  };
  const auto counts = ids.size() * sizeof(std::int32_t);
  if (query.most > 0) {
    const auto wanted = static_cast<std::uint64_t>(query.most);
    return counts + std::min(wanted, of_degree(type.max_in_degree)) * source;
  }
  const auto bound =
    counts + ids.size() * of_degree(type.max_in_degree) * source;
  if (bound <= enough || query.among) // What is found is far less.
    return std::min(bound, std::max(enough, counts));
  const auto& edges = part.edges(query.edge_type);
  const auto begin = part.nodes(type.destination).begin;
  std::uint64_t sources = 0;
  for (auto id : ids)
    sources +=
      of_degree(edges.in_degrees[static_cast<std::size_t>(id - begin)]);
  return counts + sources * source;
}

template <class T>
std::span<const T> values_as(const pod_vector<std::byte>& values) {
  return {reinterpret_cast<const T*>(values.data()), values.size() / sizeof(T)};
}

/// Whether a query is of features of edges.
bool is_of_edges(const value_query& query) {
  return std::ranges::find(query.kinds, gather_kind::edge_features)
         != query.kinds.end();
}

/// @pre `is_of_edges`
result<void> check_edge_query(const shard& part, const value_query& query) {
  GRAPHMILL_TRYV(check_type(part.info().edge_types, query.edge_type, "edge"));
  if (query.kinds.size() != 1 || !query.excluded.empty()
      || (query.edges.count != 0 && query.edges.count != query.ids.count))
    return fail(ec::invalid_argument,
                "a query for features of edges asks for {} kinds of data of {} "
                "places and {} edges: they are asked for alone",
                query.kinds.size(), query.ids.count, query.edges.count);
  return ok();
}

bulk_array add_half(bulk_writer& arrays, std::span<const float> rows,
                    const std::shared_ptr<buffer_pool>& pool) {
  auto halves = std::make_shared<pod_vector<std::uint16_t>>(pool);
  halves->resize(rows.size());
  std::transform(rows.begin(), rows.end(), halves->begin(), to_half);
  const auto bytes = std::as_bytes(halves->span());
  return arrays.add(element::float16, bytes, std::move(halves));
}

/// Numbers the nodes among which sources are looked up.
result<void> read_among(const shard& part, const payload& from,
                        const std::shared_ptr<buffer_pool>& pool,
                        pending_sample& out) {
  const auto& types = part.info().node_types;
  const auto& among = out.request.among;
  if (among.size() > types.size())
    return fail(ec::invalid_argument,
                "the request names nodes of {} types; the dataset has {}",
                among.size(), types.size());
  out.among.reserve(among.size()); // Queries point to what is in it.
  pod_vector<local_id> locals{pool};
  for (std::size_t t = 0; t < among.size(); ++t) {
    pod_vector<node_id> ids{pool};
    ids.resize(static_cast<std::size_t>(among[t].count));
    read_integers(among[t], from.bulk, ids.data());
    for (const auto id : ids)
      if (id < 0 || id >= types[t].count)
        return fail(ec::invalid_argument,
                    "the request names node {} of type \"{}\", which has only "
                    "{} nodes",
                    id, types[t].name, types[t].count);
    auto& nodes = out.among.emplace_back();
    nodes.ids = pod_vector<node_id>{pool};
    nodes.numbers = std::make_unique<id_table>(types[t].count, pool);
    nodes.subset = {static_cast<node_type_id>(t), &nodes.ids,
                    nodes.numbers.get()};
    locals.resize(ids.size());
    nodes.numbers->number(std::span<const node_id>{ids.span()}, locals.data(),
                          nodes.ids);
  }
  return ok();
}

} // namespace

// -- sample

result<std::shared_ptr<pending_sample>>
read_sample(const shard& part, sample_request request, const payload& from,
            const std::shared_ptr<buffer_pool>& pool,
            std::uint64_t most_bytes) {
  auto out = std::make_shared<pending_sample>();
  out->request = std::move(request);
  GRAPHMILL_TRYV(read_among(part, from, pool, *out));
  most_bytes /= std::max<std::size_t>(out->request.queries.size(), 1);
  for (const auto& query : out->request.queries) {
    GRAPHMILL_TRYV(check_type(part.info().edge_types, query.edge_type, "edge"));
    if (query.among
        && std::cmp_greater_equal(
          part.info().edge_types[query.edge_type].source, out->among.size()))
      return fail(ec::invalid_argument,
                  "the request looks for edges of type {} among nodes that it "
                  "does not name",
                  part.info().edge_type_name(query.edge_type));
    if (query.most != 0 && out->request.queries.size() != 1)
      return fail(ec::invalid_argument,
                  "the request has a slice and {} other queries",
                  out->request.queries.size() - 1);
    const auto type = part.info().edge_types[query.edge_type].destination;
    GRAPHMILL_TRY(auto ids,
                  read_ids(part, type, query.destinations, from, pool));
    GRAPHMILL_TRY(auto excluded,
                  read_excluded(query.excluded, from, ids.size()));
    out->bytes += answer_bytes(part, query, ids.span(), most_bytes);
    auto& times = out->times.emplace_back();
    times.until.resize(static_cast<std::size_t>(query.until.count));
    read_integers(query.until, from.bulk, times.until.data());
    if (query.among) {
      const auto source = part.info().edge_types[query.edge_type].source;
      times.among = &out->among[static_cast<std::size_t>(source)].subset;
      const auto counts = std::min<std::uint64_t>(
        most_bytes, ids.size() * sizeof(std::int32_t));
      times.most = static_cast<std::int64_t>((most_bytes - counts)
                                             / source_bytes(part, query));
    }
    times.rows.resize(static_cast<std::size_t>(query.rows.count));
    read_integers(query.rows, from.bulk, times.rows.data());
    const time_limits limits{times.until, times.rows, query.inclusive,
                             query.latest, query.window};
    GRAPHMILL_TRYV(limits.check(ids.size()));
    out->ids.push_back(std::move(ids));
    out->excluded.push_back(std::move(excluded));
  }
  out->answers.resize(out->ids.size());
  out->missing = out->ids.size();
  return out;
}

bool is_too_large(const pending_sample& request) {
  return std::ranges::any_of(request.answers, [](const auto& answer) {
    return answer != nullptr && answer->too_large;
  });
}

neighbour_request pending_sample::asked(std::size_t i) const {
  const auto& query = request.queries[i];
  neighbour_request out{request.key,   request.hop,        query.edge_type,
                        query.rule,    query.edge_ids,     ids[i].span(),
                        query.weights, excluded[i].view(), query.level};
  out.places = query.places;
  out.ages = query.ages;
  out.time = {times[i].until, times[i].rows, query.inclusive, query.latest,
              query.window};
  out.most = times[i].most;
  out.among = times[i].among;
  return out;
}

std::vector<neighbour_job>
jobs_of(const std::shared_ptr<pending_sample>& request) {
  std::vector<neighbour_job> jobs;
  for (std::size_t i = 0; i < request->ids.size(); ++i) {
    neighbour_job job;
    job.request = request->asked(i);
    job.owner = request;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

result<payload> encode(const shard& part, const pending_sample& request) {
  bulk_writer arrays;
  sample_reply reply;
  for (std::size_t i = 0; i < request.answers.size(); ++i) {
    const auto& answer = request.answers[i];
    const auto type = request.request.queries[i].edge_type;
    const auto nodes =
      part.info().node_types[part.info().edge_types[type].source].count;
    auto& to = reply.answers.emplace_back();
    to.counts = arrays.add_counts(answer->counts.span(), answer);
    if (answer->wide && nodes <= std::numeric_limits<std::int32_t>::max())
      to.sources = arrays.add_integers(values_as<node_id>(answer->sources));
    else
      to.sources = arrays.add(answer->wide ? element::int64 : element::int32,
                              std::as_bytes(answer->sources.span()), answer);
    to.edge_ids = arrays.add_integers(answer->edge_ids.span(), answer);
    if (!answer->weights.empty())
      to.weights = arrays.add(element::float32,
                              std::as_bytes(answer->weights.span()), answer);
    to.places = arrays.add_integers(answer->places.span(), answer);
    if (!answer->ages.empty())
      to.ages = arrays.add(element::float32, std::as_bytes(answer->ages.span()),
                           answer);
  }
  return encode(reply, std::move(arrays));
}

result<payload> answer_slice(const shard& part, pending_sample& request,
                             const std::shared_ptr<buffer_pool>& pool) {
  const auto& query = request.request.queries.front();
  auto answer = std::make_shared<neighbour_reply>(neighbour_reply::in(pool));
  GRAPHMILL_TRYV(
    sample_slice(part, request.asked(0), {query.most, query.skip}, *answer));
  request.answers[0] = std::move(answer);
  return encode(part, request);
}

result<payload> too_large_answer() {
  sample_reply reply;
  reply.too_large = true;
  return encode(reply, bulk_writer{});
}

// -- gather

result<std::shared_ptr<pending_gather>>
read_gather(const shard& part, gather_request request, const payload& from,
            const std::shared_ptr<buffer_pool>& pool) {
  auto out = std::make_shared<pending_gather>();
  out->request = std::move(request);
  for (const auto& query : out->request.queries) {
    if (is_of_edges(query)) {
      GRAPHMILL_TRYV(check_edge_query(part, query));
      out->bytes +=
        query.ids.count * value_bytes(part.info().edge_types[query.edge_type]);
      continue;
    }
    GRAPHMILL_TRYV(check_type(part.info().node_types, query.node_type, "node"));
    const auto& type = part.info().node_types[query.node_type];
    for (auto kind : query.kinds)
      out->bytes += query.ids.count * value_bytes(type, kind);
  }
  // In memory they are as large as on the wire, or larger; what is asked in one
  // message stays far below.
  if (out->bytes > max_bulk_bytes)
    return fail(ec::invalid_argument,
                "the request is for {} bytes of values; at most {} are allowed",
                out->bytes, max_bulk_bytes);
  for (const auto& query : out->request.queries) {
    auto& edges = out->edges.emplace_back(pool);
    if (is_of_edges(query)) {
      out->views.emplace_back();
      auto& ids = out->ids.emplace_back(pool);
      ids.resize(static_cast<std::size_t>(query.ids.count));
      read_integers(query.ids, from.bulk, ids.data());
      edges.resize(static_cast<std::size_t>(query.edges.count));
      read_integers(query.edges, from.bulk, edges.data());
      continue;
    }
    GRAPHMILL_TRY(auto ids,
                  read_ids(part, query.node_type, query.ids, from, pool));
    auto& views = out->views.emplace_back();
    for (const auto& edges : query.excluded) {
      GRAPHMILL_TRY(auto lists, read_excluded(edges, from, ids.size()));
      // Its arrays stay where they are when it is moved.
      views.push_back(lists.view());
      out->excluded.push_back(std::move(lists));
    }
    out->ids.push_back(std::move(ids));
  }
  return out;
}

gather_job job_of(const shard& part,
                  const std::shared_ptr<pending_gather>& request,
                  const std::shared_ptr<buffer_pool>& pool) {
  gather_job job;
  job.owner = request;
  for (std::size_t i = 0; i < request->ids.size(); ++i) {
    const auto& query = request->request.queries[i];
    if (is_of_edges(query)) {
      auto& values = request->values.emplace_back(pool);
      values.resize(request->ids[i].size()
                    * static_cast<std::size_t>(
                      value_bytes(part.info().edge_types[query.edge_type])));
      job.items.push_back({.kind = gather_kind::edge_features,
                           .type = query.edge_type,
                           .ids = request->ids[i].span(),
                           .rows = {},
                           .out = values.data(),
                           .edges = request->edges[i].span()});
      continue;
    }
    const auto& type = part.info().node_types[query.node_type];
    for (auto kind : query.kinds) {
      auto& values = request->values.emplace_back(pool);
      values.resize(request->ids[i].size()
                    * static_cast<std::size_t>(value_bytes(type, kind)));
      job.items.push_back({kind,
                           query.node_type,
                           request->ids[i].span(),
                           {},
                           values.data(),
                           request->views[i],
                           query.level});
    }
  }
  return job;
}

result<payload> encode(const shard& part,
                       const std::shared_ptr<pending_gather>& request,
                       const std::shared_ptr<buffer_pool>& pool) {
  bulk_writer arrays;
  gather_reply reply;
  auto values = request->values.cbegin();
  for (const auto& query : request->request.queries) {
    if (is_of_edges(query)) {
      const auto& from = *values++;
      const auto& edges = part.info().edge_types[query.edge_type];
      reply.values.push_back(
        kept_as_half(edges, query.half)
          ? add_half(arrays, values_as<float>(from), pool)
          : arrays.add(element::float32, std::as_bytes(from.span()), request));
      continue;
    }
    const auto& type = part.info().node_types[query.node_type];
    const auto half = kept_as_half(type, query.half);
    for (auto kind : query.kinds) {
      const auto& from = *values++;
      if (kind == gather_kind::features && half)
        reply.values.push_back(add_half(arrays, values_as<float>(from), pool));
      else if (kind == gather_kind::features || kind == gather_kind::in_weights)
        reply.values.push_back(
          arrays.add(element::float32, std::as_bytes(from.span()), request));
      else if (kind == gather_kind::degrees || kind == gather_kind::out_degrees)
        reply.values.push_back(
          arrays.add_counts(values_as<std::int32_t>(from), request));
      else if (kind == gather_kind::labels && type.has_label_rows())
        reply.values.push_back(
          arrays.add(element::uint8, std::as_bytes(from.span()), request));
      else
        reply.values.push_back(
          arrays.add_integers(values_as<std::int64_t>(from), request));
    }
  }
  return encode(reply, std::move(arrays));
}

} // namespace graphmill
