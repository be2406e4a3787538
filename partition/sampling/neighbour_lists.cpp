#include "partition/sampling/neighbour_lists.hpp"

#include "partition/sampling/draws.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace graphmill {

namespace {

error broken_list(const list_task& work, node_id id, std::int64_t max_degree) {
  const auto* begin = &work.edges.indptr[id - work.nodes.begin];
  if (begin[0] >= 0 && begin[0] <= begin[1]
      && begin[1] <= work.edges.indices.size
      && begin[1] - begin[0] <= max_degree)
    return fail(ec::invalid_data,
                "visible.npy says that {} of the {} in-edges of node {} are of "
                "level {} or below; `graphmill inspect` says what else is "
                "broken",
                work.edges.seen(static_cast<std::size_t>(id - work.nodes.begin),
                                work.request.level),
                begin[1] - begin[0], work.nodes.original(id),
                work.request.level);
  return fail(
    ec::invalid_data,
    "the list of in-edges of node {} goes from {} to {} of {} edges, "
    "and {} in-edges are the most of a node; `graphmill inspect` says "
    "what else is broken",
    work.nodes.original(id), begin[0], begin[1], work.edges.indices.size,
    max_degree);
}

/// Which of the edges to exclude is not in a list.
error no_such_edge(const list_task& work, node_id id, const seen_edges& seen,
                   std::span<const edge_id> ids) {
  std::uint32_t skip = 0;
  const auto alien =
    std::find_if_not(ids.begin(), ids.end(), [&](const edge_id& edge) {
      return find_skips(work.edges, work.nodes, id, seen, {&edge, 1}, &skip)
             >= 0;
    });
  return fail(ec::invalid_argument,
              "edge {} is to be excluded from the {} in-edges of node {}, and "
              "is none of them",
              *alien, seen.degree, work.nodes.original(id));
}

/// Shortens the lists from which edges are excluded, and what they give.
result<void> exclude(list_task& work, pod_vector<std::int32_t>& counts,
                     std::int64_t& total) {
  const auto& request = work.request;
  const auto& excluded = request.excluded;
  work.skips.resize(
    static_cast<std::size_t>(excluded.begins.back() - excluded.begins.front()));
  auto* skips = work.skips.data();
  for (std::size_t k = 0; k < excluded.size(); ++k) {
    const auto i = excluded.list(k);
    auto& place = work.places[i];
    const auto ids = excluded.of(k);
    const auto id = request.destinations[i];
    seen_edges seen{place.degree, 0, place.degree};
    if (request.time.limited()) {
      const auto row = static_cast<std::size_t>(id - work.nodes.begin);
      const auto begin = work.edges.indptr[row];
      seen = seen_of(work.edges, request, i, row, begin,
                     work.edges.indptr[row + 1] - begin);
    }
    const auto gone = find_skips(work.edges, work.nodes, id, seen, ids, skips);
    // More are gone than there were if a file was shortened in between.
    if (gone < 0 || std::cmp_greater(gone, place.degree)) {
      if (mapped_file::first_fault())
        return ok(); // Whoever asks looks at that, too.
      return no_such_edge(work, id, seen, ids);
    }
    skips += ids.size();
    place.degree -= static_cast<std::uint32_t>(gone);
    place.excluded = static_cast<std::int32_t>(k);
    const auto count = request.rule.sources_of(place.degree);
    total += count - counts[i];
    counts[i] = static_cast<std::int32_t>(count);
  }
  return ok();
}

// A list is mixed if its levels overlap in time: a held-out edge is older than
// a training edge.

/// Positions of the edges of a mixed list that a row sees, counted from the
/// first of them. Ascending.
/// @param gone Positions of the edges to exclude, ascending.
std::vector<std::uint32_t> left_of(const seen_edges& seen,
                                   std::span<const std::uint32_t> gone) {
  std::vector<std::uint32_t> out;
  for (const auto& [first, last] : seen.levels)
    for (auto at = first; at < last; ++at)
      if (!std::binary_search(gone.begin(), gone.end(), at))
        out.push_back(static_cast<std::uint32_t>(at));
  return out;
}

/// Leaves the latest ones, and of one time the last ones.
/// @param times From the first seen edge on.
void keep_latest(std::size_t count, std::span<const std::int64_t> times,
                 std::vector<std::uint32_t>& left) {
  if (left.size() <= count)
    return;
  const auto end = left.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(left.begin(), end, left.end(),
                   [times](std::uint32_t a, std::uint32_t b) {
                     return std::pair{times[a], a} > std::pair{times[b], b};
                   });
  left.erase(end, left.end());
  std::ranges::sort(left);
}

/// A request keeps a number for each edge that such lists step over.
constexpr std::size_t most_steps = std::size_t{1} << 24;

/// Finds the place and the skips of a mixed list. Draws from it equal those
/// from a graph that has only the edges of that time, in the order of the list.
/// @param i Its number in the request.
result<void> settle_mixed(list_task& work, std::size_t i,
                          const seen_edges& seen) {
  const auto& request = work.request;
  const auto id = request.destinations[i];
  const auto begin = work.edges.indptr[id - work.nodes.begin] + seen.first;
  if (work.skips.size() + static_cast<std::size_t>(seen.count) > most_steps)
    return fail(ec::invalid_argument,
                "among the in-edges of node {}, held-out ones are older than "
                "training edges, and a batch would step over too many of them: "
                "make batches smaller, or append DATASET --roll-forward",
                work.nodes.original(id));
  std::vector<std::uint32_t> gone;
  const auto& lists = request.excluded;
  if (const auto at =
        std::lower_bound(lists.at.begin(), lists.at.end(),
                         static_cast<std::int64_t>(i) + lists.first);
      at != lists.at.end()
      && *at == static_cast<std::int64_t>(i) + lists.first) {
    const auto ids = lists.of(static_cast<std::size_t>(at - lists.at.begin()));
    gone.resize(ids.size());
    const auto found =
      find_skips(work.edges, work.nodes, id, seen, ids, gone.data());
    if (found < 0)
      return mapped_file::first_fault() ? ok()
                                        : no_such_edge(work, id, seen, ids);
    gone.resize(static_cast<std::size_t>(found));
    for (std::size_t j = 0; j < gone.size(); ++j)
      gone[j] += static_cast<std::uint32_t>(j);
  }
  auto left = left_of(seen, gone);
  if (request.time.latest && !request.rule.takes_all())
    keep_latest(static_cast<std::size_t>(request.rule.fanout),
                work.edges.times.subspan(static_cast<std::size_t>(begin),
                                         static_cast<std::size_t>(seen.count)),
                left);
  if (work.mixed.empty())
    work.mixed.push_back(work.skips.size());
  auto& place = work.places[i];
  place = {begin + (left.empty() ? 0 : left.front()),
           static_cast<std::uint32_t>(left.size()),
           static_cast<std::int32_t>(lists.size() + work.mixed.size() - 1)};
  for (std::size_t j = 0; j < left.size(); ++j)
    work.skips.insert(work.skips.end(),
                      left[j] - left.front()
                        - (work.skips.size() - work.mixed.back() + j),
                      static_cast<std::uint32_t>(j));
  work.mixed.push_back(work.skips.size());
  return ok();
}

} // namespace

// A part without edges of a type has no weights, and nothing to draw from.
list_drawer::list_drawer(const list_task& work)
  : work_(work),
    kind_(work.edges.weights.empty() ? without_weights(work.request.rule.kind)
                                     : work.request.rule.kind) {}

std::span<const float> list_drawer::weights_of(const list_place& place) {
  const auto skips = work_.skips_of(place);
  const auto* all = work_.edges.weights.data() + place.begin;
  if (skips.empty())
    return {all, place.degree};
  weights_.resize(place.degree);
  for (std::uint32_t j = 0; j < place.degree; ++j)
    weights_[j] = all[whole_position(skips, j)];
  return weights_;
}

void list_drawer::draw(const list_place& place, node_id id,
                       std::span<std::uint32_t> positions) {
  const auto& request = work_.request;
  const auto original = static_cast<std::uint64_t>(work_.nodes.original(id));
  const auto key = request.time.key_of(
    request.key, static_cast<std::size_t>(&place - work_.places.data()));
  const auto middle = draw_middle(request.hop, request.edge_type);
  switch (kind_) {
  case draw_kind::without_replacement:
  case draw_kind::with_replacement:
    draw_positions({key, original, middle}, place.degree, kind_, positions);
    return;
  case draw_kind::weighted_without_replacement:
    keyed_.by_weight(key, original, middle, weights_of(place), positions);
    return;
  case draw_kind::weighted_with_replacement:
    keyed_.by_weight_repeatedly(key, original, middle, weights_of(place),
                                positions);
    return;
  case draw_kind::labor:
    // Not by edge type: a source has one number for all that lead from it.
    if (!keyed_.by_source(
          key, draw_middle(request.hop, work_.source_type), place.degree,
          {work_.edges.indices, place.begin, work_.skips_of(place),
           work_.sources.all_originals, work_.source_count},
          positions))
      broken_ = id;
    return;
  }
}

result<void> list_drawer::check() const {
  // A file that was truncated while it was mapped is reported by its name.
  if (broken_ < 0 || mapped_file::first_fault())
    return ok();
  return fail(ec::invalid_data,
              "an in-edge of node {} comes from no node: there are {}; "
              "`graphmill inspect` says what else is broken",
              work_.nodes.original(broken_), work_.source_count);
}

namespace {

/// What a row sees of a mixed list.
/// @param times Of all its edges up to the level of the request.
seen_edges seen_by_level(const edge_shard& edges,
                         const neighbour_request& request, std::size_t i,
                         std::size_t row, std::span<const std::int64_t> times) {
  seen_edges out;
  out.degree = std::ssize(times);
  out.sorted = false;
  std::size_t begin = 0;
  auto first = times.size();
  std::size_t last = 0;
  for (edge_level level = 0; level <= request.level; ++level) {
    const auto end = level == request.level
                       ? times.size()
                       : static_cast<std::size_t>(edges.seen(row, level));
    auto& range = out.levels[static_cast<std::size_t>(level)];
    if (end < begin || end > times.size())
      return {-1, 0, 0};
    range = request.time.of(times.subspan(begin, end - begin), i);
    range.first += begin;
    range.last += begin;
    begin = end;
    if (range.first == range.last)
      continue;
    first = std::min(first, range.first);
    last = std::max(last, range.last);
  }
  if (first >= last) {
    out.levels = {};
    return out;
  }
  out.first = static_cast<std::int64_t>(first);
  out.count = static_cast<std::int64_t>(last - first);
  for (auto& range : out.levels)
    range = range.first == range.last
              ? time_limits::range{}
              : time_limits::range{range.first - first, range.last - first};
  return out;
}

} // namespace

seen_edges seen_of(const edge_shard& edges, const neighbour_request& request,
                   std::size_t i, std::size_t row, std::int64_t begin,
                   std::int64_t degree) {
  seen_edges out;
  out.degree = seen_degree(edges, row, degree, request.level);
  out.count = out.degree;
  if (out.degree <= 0 || !request.time.limited())
    return out;
  const auto times = edges.times.subspan(static_cast<std::size_t>(begin),
                                         static_cast<std::size_t>(out.degree));
  if (!edges.visible.empty())
    for (edge_level level = 0; level < request.level; ++level) {
      const auto end = edges.seen(row, level);
      if (end < 0 || end > out.degree)
        return {-1, 0, 0};
      if (end > 0 && end < out.degree)
        out.sorted &= times[static_cast<std::size_t>(end - 1)]
                      <= times[static_cast<std::size_t>(end)];
    }
  if (!out.sorted)
    return seen_by_level(edges, request, i, row, times);
  const auto [first, last] = request.time.of(times, i);
  out.first = static_cast<std::int64_t>(first);
  out.count = static_cast<std::int64_t>(last - first);
  return out;
}

std::int64_t find_skips(const edge_shard& edges, const node_shard& nodes,
                        node_id id, const seen_edges& seen,
                        std::span<const edge_id> ids, std::uint32_t* skips) {
  const auto row = static_cast<std::size_t>(id - nodes.begin);
  const auto first = edges.original_begin.empty() ? edges.indptr[row]
                                                  : edges.original_begin[row];
  std::size_t gone = 0;
  for (const auto edge : ids) {
    if (edge < first || edge - first >= seen.degree)
      return -1;
    const auto at = edge - first - seen.first;
    if (at < 0 || at >= seen.count)
      continue;
    skips[gone] =
      static_cast<std::uint32_t>(at) - static_cast<std::uint32_t>(gone);
    ++gone;
  }
  std::fill(skips + gone, skips + ids.size(),
            std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::int64_t>(gone);
}

std::int64_t keep_last(std::uint32_t count, std::uint32_t degree,
                       std::span<std::uint32_t> skips) {
  if (degree <= count)
    return 0;
  constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  const auto cut = degree - count;
  const auto later = whole_position(skips, cut);
  const auto left = std::upper_bound(skips.begin(), skips.end(), cut);
  const auto end =
    std::transform(left, skips.end(), skips.begin(), [cut](std::uint32_t skip) {
      return skip == none ? none : skip - cut;
    });
  std::fill(end, skips.end(), none);
  return later;
}

result<void> check_lists(const shard& graph, const neighbour_request& request) {
  const auto& info = graph.info();
  if (request.edge_type < 0
      || static_cast<std::size_t>(request.edge_type) >= info.edge_types.size())
    return fail(ec::invalid_argument, "there is no edge type {} in \"{}\"",
                request.edge_type, info.name);
  if (request.hop < 1 || request.hop > max_hops)
    return fail(ec::invalid_argument, "hop {} is not in 1..{}", request.hop,
                max_hops);
  GRAPHMILL_TRYV(request.rule.check());
  GRAPHMILL_TRYV(check_level(request.level));
  GRAPHMILL_TRYV(request.excluded.check(request.destinations.size()));
  GRAPHMILL_TRYV(request.time.check(request.destinations.size()));
  if (request.time.latest && repeats(request.rule.kind))
    return fail(ec::invalid_argument,
                "the latest in-edges are asked for, and draws with "
                "replacement: either excludes the other");
  if (const auto& edges = graph.edges(request.edge_type);
      request.time.limited()
      && std::cmp_not_equal(edges.times.size(), edges.indices.size))
    return fail(ec::invalid_argument,
                "edges of type {} are to be seen by time, and have none",
                info.edge_type_name(request.edge_type));
  if (request.weights && graph.edges(request.edge_type).weights.empty()
      && graph.edges(request.edge_type).indices.size != 0)
    return fail(ec::invalid_argument,
                "weights are asked for of edges of type {}, which have none",
                info.edge_type_name(request.edge_type));
  if (request.ages && !request.time.limited())
    return fail(ec::invalid_argument,
                "ages are asked for of edges of type {}, and the lists have no "
                "time",
                info.edge_type_name(request.edge_type));
  if (request.places && info.edge_types[request.edge_type].feature_width == 0)
    return fail(ec::invalid_argument,
                "places are asked for of edges of type {}, which have no "
                "features",
                info.edge_type_name(request.edge_type));
  const auto& ends = info.edge_types[request.edge_type];
  if (const auto& sources = graph.nodes(ends.source);
      request.rule.kind == draw_kind::labor && !sources.keeps_ids
      && sources.all_originals.size != info.node_types[ends.source].count)
    return fail(ec::not_found,
                "sampler.method labor needs {}, and the folder of part {} has "
                "none: copy originals/ from where the dataset was "
                "partitioned; if that is from an older Graphmill and has none, "
                "partition the dataset again",
                originals_file(info.node_types[ends.source]), graph.part());
  if (request.among != nullptr
      && (!request.rule.takes_all() || request.among->type != ends.source))
    return fail(ec::invalid_argument,
                "edges of type {} among some nodes are asked for, which are of "
                "type {} or drawn; all edges from type {} are possible",
                info.edge_type_name(request.edge_type), request.among->type,
                ends.source);
  const auto type = ends.destination;
  const auto& owned = graph.nodes(type);
  for (auto id : request.destinations)
    if (id < owned.begin || id >= owned.end)
      return fail(ec::invalid_argument,
                  "node {} of type \"{}\" is not in part {}, which owns [{}, "
                  "{})",
                  id, info.node_types[type].name, graph.part(), owned.begin,
                  owned.end);
  return ok();
}

result<std::int64_t> find_lists(list_task& work, std::int64_t max_degree,
                                pod_vector<std::int32_t>& counts) {
  const auto& request = work.request;
  const auto ids = request.destinations;
  const auto* indptr = work.edges.indptr.data();
  const auto limit = work.edges.indices.size;
  const auto first = work.nodes.begin;
  const auto hides = work.edges.hides(request.level);
  const auto limited = request.time.limited();
  max_degree = std::min<std::int64_t>(max_degree, INT32_MAX);
  std::int64_t total = 0;
  std::int64_t broken = -1;
  std::vector<std::pair<std::size_t, seen_edges>> mixed;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + row_ahead < ids.size()) {
      const auto ahead = ids[i + row_ahead] - first;
      __builtin_prefetch(indptr + ahead);
      if (hides)
        __builtin_prefetch(work.edges.visible.data() + 2 * ahead);
    }
    const auto begin = indptr[ids[i] - first];
    const auto end = indptr[ids[i] - first + 1];
    auto sane =
      begin >= 0 && begin <= end && end <= limit && end - begin <= max_degree;
    auto degree = sane ? end - begin : 0;
    std::int64_t first_seen = 0;
    if (limited) {
      const auto row = static_cast<std::size_t>(ids[i] - first);
      const auto seen =
        seen_of(work.edges, request, i, row, sane ? begin : 0, degree);
      sane &= seen.degree >= 0;
      if (!seen.sorted && seen.degree >= 0)
        mixed.emplace_back(i, seen);
      // Below 0 if the list is broken, also by a file that was shortened.
      degree = std::max<std::int64_t>(seen.count, 0);
      first_seen = seen.first;
    } else if (hides) {
      const auto row = static_cast<std::size_t>(ids[i] - first);
      const auto seen = seen_degree(work.edges, row, degree, request.level);
      sane &= seen >= 0;
      degree = std::max<std::int64_t>(seen, 0);
    }
    broken = sane ? broken : static_cast<std::int64_t>(i);
    work.places[i] = {sane ? begin + first_seen : 0,
                      static_cast<std::uint32_t>(degree)};
    const auto count = request.rule.sources_of(work.places[i].degree);
    counts[i] = static_cast<std::int32_t>(count);
    total += count;
  }
  if (broken >= 0 && !mapped_file::first_fault())
    return broken_list(work, ids[broken], max_degree);
  if (broken < 0 && !request.excluded.empty())
    GRAPHMILL_TRYV(exclude(work, counts, total));
  // As many are taken as would be drawn.
  if (request.time.latest && !request.rule.takes_all())
    for (auto& place : work.places) {
      const auto most = static_cast<std::uint32_t>(request.rule.fanout);
      const auto own = work.skips_of(place);
      const auto from = own.empty() ? 0 : own.data() - work.skips.data();
      place.begin += keep_last(most, place.degree,
                               std::span{work.skips}.subspan(
                                 static_cast<std::size_t>(from), own.size()));
      place.degree = std::min(place.degree, most);
    }
  // Last, for these lists nothing above counts.
  for (const auto& [i, seen] : mixed) {
    if (broken >= 0)
      break;
    GRAPHMILL_TRYV(settle_mixed(work, i, seen));
    const auto count = request.rule.sources_of(work.places[i].degree);
    total += count - counts[i];
    counts[i] = static_cast<std::int32_t>(count);
  }
  return total;
}

result<void> to_original_edges(const list_task& work, std::int64_t edges,
                               neighbour_reply& out) {
  if (!out.places.empty() && work.request.edge_ids)
    std::copy(out.places.begin(), out.places.end(), out.edge_ids.begin());
  const auto& begins = work.edges.original_begin;
  if (begins.empty() || out.edge_ids.empty())
    return ok();
  auto* id = out.edge_ids.data();
  for (std::size_t i = 0; i < work.places.size(); ++i) {
    const auto node = work.request.destinations[i];
    const auto begin = begins[node - work.nodes.begin];
    const auto list = work.edges.indptr[node - work.nodes.begin];
    const auto degree = std::max<std::int64_t>(
      work.edges.indptr[node - work.nodes.begin + 1] - list, 0);
    if (begin < 0 || begin > edges - degree)
      return fail(ec::invalid_data,
                  "{} in-edges of node {} begin at edge {} of {}: "
                  "original_begin.npy is damaged; partition the dataset again",
                  degree, work.nodes.original(node), begin, edges);
    // Fewer, where a slice of the list is answered.
    const auto count =
      std::min<std::ptrdiff_t>(out.counts[i], out.edge_ids.end() - id);
    for (const auto* end = id + count; id != end; ++id)
      *id += begin - list;
  }
  return ok();
}

} // namespace graphmill
