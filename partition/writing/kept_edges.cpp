#include "partition/writing/kept_edges.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/writing/csc_sort.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

/// Edges that are kept until they are written in one call.
constexpr std::size_t spool_buffer_bytes = std::size_t{1} << 18;

bool narrow(std::int64_t count) {
  return count <= std::numeric_limits<std::int32_t>::max();
}

/// @param Edge Of 4-byte ids, and of 8-byte ids.
template <class Narrow, class Wide, class Spool>
result<void> create_spool(const std::filesystem::path& path, bool is_narrow,
                          Spool& out) {
  if (is_narrow) {
    GRAPHMILL_TRY(out, edge_spool<Narrow>::create(path, spool_buffer_bytes));
  } else {
    GRAPHMILL_TRY(out, edge_spool<Wide>::create(path, spool_buffer_bytes));
  }
  return ok();
}

/// Writes an array again in another order.
/// @param order Of each element its place so far.
result<void> reorder(const std::filesystem::path& path,
                     std::span<const edge_id> order) {
  std::vector<std::byte> bytes;
  dtype type{};
  {
    GRAPHMILL_TRY(const auto array, npy_array::open(path));
    type = array.type();
    const auto size = size_of(type);
    bytes.resize(order.size() * size);
    for (std::size_t i = 0; i < order.size(); ++i)
      std::memcpy(bytes.data() + i * size,
                  array.data() + static_cast<std::size_t>(order[i]) * size,
                  size);
    if (auto fault = mapped_file::first_fault())
      return std::move(*fault);
  }
  return write_npy_bytes(path, type, {std::ssize(order)}, bytes);
}

} // namespace

result<kept_edges> kept_edges::create(std::filesystem::path folder,
                                      const dataset_info& info,
                                      edge_type_id type, edge_rules rules) {
  const auto& about = info.edge_types[static_cast<std::size_t>(type)];
  kept_edges out;
  out.folder_ = std::move(folder);
  out.name_ = info.edge_type_name(type);
  out.sources_ = info.node_types[about.source].count;
  out.destinations_ = info.node_types[about.destination].count;
  out.rules_ = rules;
  // Equal numbers of nodes of different types mean nothing.
  if (about.source != about.destination)
    out.rules_.both_ways = out.rules_.drop_self_loops = false;
  if (rules.duplicates == duplicate_edges::sum && !about.weighted)
    return fail(ec::invalid_argument,
                "--duplicates sum: the edges of {} have no weights that could "
                "be added up; keep or drop them",
                out.name_);
  if (rules.duplicates == duplicate_edges::sum && about.feature_width > 0)
    return fail(ec::invalid_argument,
                "--duplicates sum: the edges of {} have features, of which no "
                "sum is made; keep or drop them",
                out.name_);
  const auto is_narrow = narrow(out.sources_) && narrow(out.destinations_);
  const auto path = out.folder_ / "spool";
  if (about.weighted) {
    GRAPHMILL_TRYV(
      (create_spool<weighted_edge<std::int32_t>, weighted_edge<std::int64_t>>(
        path, is_narrow, out.spool_)));
  } else {
    GRAPHMILL_TRYV(
      (create_spool<spooled_edge<std::int32_t>, spooled_edge<std::int64_t>>(
        path, is_narrow, out.spool_)));
  }
  return out;
}

result<void> kept_edges::append(std::span<const node_id> sources,
                                std::span<const node_id> destinations,
                                std::span<const float> weights) {
  const auto missing = [&](const char* which, node_id id, std::int64_t count) {
    return fail(ec::invalid_data,
                "edge {} of {}: {} {} does not exist ({} nodes)", given_, name_,
                which, id, count);
  };
  return std::visit(
    [&]<class Edge>(edge_spool<Edge>& spool) -> result<void> {
      using id = decltype(Edge::source);
      if (weights.size() != (has_weight<Edge> ? sources.size() : 0))
        return fail(ec::internal, "{} weights given for {} edges of {}",
                    weights.size(), sources.size(), name_);
      for (std::size_t i = 0; i < sources.size(); ++i, ++given_) {
        if (sources[i] < 0 || sources[i] >= sources_)
          return missing("source", sources[i], sources_);
        if (destinations[i] < 0 || destinations[i] >= destinations_)
          return missing("destination", destinations[i], destinations_);
        Edge edge{static_cast<id>(sources[i]),
                  static_cast<id>(destinations[i])};
        if constexpr (has_weight<Edge>) {
          const auto weight = edge_weight_from(weights[i]);
          if (!weight)
            return no_edge_weight(weights[i],
                                  fmt::format("edge {} of {}", given_, name_));
          edge.weight = *weight;
        }
        const auto loop = sources[i] == destinations[i];
        if (loop && rules_.drop_self_loops) {
          ++dropped_.self_loops;
          dropped_loops_.push_back(given_);
          continue;
        }
        GRAPHMILL_TRYV(spool.append(edge));
        // The other way round, a self-loop is the same edge.
        if (rules_.both_ways && !loop) {
          std::swap(edge.source, edge.destination);
          GRAPHMILL_TRYV(spool.append(edge));
        }
      }
      return ok();
    },
    spool_);
}

/// Lists keep the order in which their edges were appended, so going through
/// these once more says where each lies. In a list without duplicates a source
/// is there once, so an edge that is not the next one there is a duplicate.
template <class Edge>
result<placed_edges> kept_edges::place(edge_spool<Edge>& spool) const {
  GRAPHMILL_TRY(const auto indptr, npy_array::open(folder_ / "indptr.npy"));
  GRAPHMILL_TRY(const auto begin, indptr.as<std::int64_t>());
  GRAPHMILL_TRY(const auto indices, npy_array::open(folder_ / "indices.npy"));
  const id_span listed{indices.data(), indices.size(),
                       indices.type() == dtype::int64};
  std::vector<edge_id> next{begin.begin(), begin.end()};
  const auto place_of = [&](const Edge& edge) -> edge_id {
    const auto list = static_cast<std::size_t>(edge.destination);
    auto& at = next[list];
    if (rules_.duplicates != duplicate_edges::keep
        && (at == begin[list + 1] || listed[at] != edge.source))
      return -1;
    return at++;
  };
  placed_edges out;
  const auto given = static_cast<std::size_t>(given_);
  out.sources.reserve(given); // Growing, they would take far more.
  out.destinations.reserve(given);
  out.places.reserve(given);
  if (rules_.both_ways)
    out.opposites.reserve(given);
  auto loop = dropped_loops_.begin();
  const auto add = [&](node_id source, node_id destination, edge_id at) {
    out.sources.push_back(source);
    out.destinations.push_back(destination);
    out.places.push_back(at);
    if (rules_.both_ways)
      out.opposites.push_back(-1);
  };
  auto opposite = false; // Whether the edge is what `both_ways` has added.
  GRAPHMILL_TRYV(spool.rewind());
  for (;;) {
    GRAPHMILL_TRY(const auto block, spool.next());
    if (block.empty())
      break;
    for (const auto& edge : block) {
      const auto at = place_of(edge);
      if (opposite) {
        opposite = false;
        out.opposites.back() = at;
        continue;
      }
      for (; loop != dropped_loops_.end() && *loop == std::ssize(out.places);
           ++loop)
        add(-1, -1, -1);
      add(edge.source, edge.destination, at);
      opposite = rules_.both_ways && edge.source != edge.destination;
    }
  }
  for (; loop != dropped_loops_.end(); ++loop)
    add(-1, -1, -1);
  if (auto fault = mapped_file::first_fault())
    return std::move(*fault);
  return out;
}

result<void> kept_edges::write(edge_type_info& about,
                               std::uint64_t memory_bytes,
                               const progress_callback& on_progress,
                               std::function<std::string(node_id)> name_of,
                               placed_edges& placed) {
  about.index_type = narrow(sources_) ? dtype::int32 : dtype::int64;
  const csc_job job{.folder = folder_,
                    .sources = sources_,
                    .destinations = destinations_,
                    .index_type = about.index_type,
                    .memory_bytes = memory_bytes,
                    .duplicates = rules_.duplicates,
                    .name_of = std::move(name_of),
                    .on_progress = on_progress};
  GRAPHMILL_TRYV(std::visit(
    [&](auto& spool) -> result<void> {
      GRAPHMILL_TRYV(spool.flush());
      about.count = spool.size();
      GRAPHMILL_TRY(const auto written, sort_to_csc(spool, job));
      dropped_.duplicates = about.count - written.edges;
      // The first one's features would be taken without a word.
      if (about.feature_width > 0 && dropped_.duplicates > 0
          && rules_.duplicates == duplicate_edges::match)
        return fail(ec::invalid_data,
                    "{}: {} edges join nodes that an earlier edge joins, and "
                    "edges have features; say --duplicates drop to keep those "
                    "of the first",
                    name_, dropped_.duplicates);
      about.count = written.edges;
      about.max_in_degree = written.max_in_degree;
      if (about.leveled || about.feature_width > 0 || about.timed) {
        GRAPHMILL_TRY(placed, place(spool));
      }
      spool = {};
      return ok();
    },
    spool_));
  return about.weighted && !about.leveled && !about.timed ? write_sums(about)
                                                          : ok();
}

result<std::vector<edge_id>>
kept_edges::arrange(const edge_type_info& about,
                    std::span<const std::uint8_t> levels,
                    std::span<const std::int64_t> times) {
  const auto size = std::max(levels.size(), times.size());
  std::vector<edge_id> order(size); // The old place of each edge.
  std::vector<edge_id> moved(size);
  {
    GRAPHMILL_TRY(const auto indptr, npy_array::open(folder_ / "indptr.npy"));
    GRAPHMILL_TRY(const auto begin, indptr.as<std::int64_t>());
    std::vector<std::int32_t> visible;
    std::iota(order.begin(), order.end(), edge_id{0});
    for (std::size_t d = 0; d + 1 < begin.size(); ++d) {
      const auto first = order.begin() + begin[d];
      const auto last = order.begin() + begin[d + 1];
      const auto level_of = [levels](edge_id e) {
        return levels.empty() ? std::uint8_t{0}
                              : levels[static_cast<std::size_t>(e)];
      };
      const auto time_of = [times](edge_id e) {
        return times.empty() ? 0 : times[static_cast<std::size_t>(e)];
      };
      std::stable_sort(first, last, [&](edge_id a, edge_id b) {
        return std::pair{level_of(a), time_of(a)}
               < std::pair{level_of(b), time_of(b)};
      });
      for (const auto level : {0, 1})
        visible.push_back(static_cast<std::int32_t>(
          std::partition_point(first, last,
                               [&](edge_id e) { return level_of(e) <= level; })
          - first));
    }
    if (about.leveled)
      GRAPHMILL_TRYV(write_npy_bytes(folder_ / visible_file, dtype::int32,
                                     {std::ssize(visible) / 2, 2},
                                     std::as_bytes(std::span{visible})));
  }
  if (about.timed) {
    std::vector<std::int64_t> sorted(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      sorted[i] = times[static_cast<std::size_t>(order[i])];
    GRAPHMILL_TRYV(write_npy<std::int64_t>(folder_ / times_file, sorted));
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    moved[static_cast<std::size_t>(order[i])] = static_cast<edge_id>(i);
  GRAPHMILL_TRYV(reorder(folder_ / "indices.npy", order));
  if (about.weighted) {
    GRAPHMILL_TRYV(reorder(folder_ / weights_file, order));
    GRAPHMILL_TRYV(write_sums(about));
  }
  return moved;
}

/// From what was written, so that whoever has the files can check them.
result<void> kept_edges::write_sums(const edge_type_info& about) const {
  GRAPHMILL_TRY(const auto indptr, npy_array::open(folder_ / "indptr.npy"));
  GRAPHMILL_TRY(const auto indices, npy_array::open(folder_ / "indices.npy"));
  GRAPHMILL_TRY(const auto weights, npy_array::open(folder_ / weights_file));
  GRAPHMILL_TRY(const auto lists, indptr.as<std::int64_t>());
  GRAPHMILL_TRY(const auto weighing, weights.as<float>());
  GRAPHMILL_TRY(const auto sums, sum_weights(lists,
                                             {indices.data(), indices.size(),
                                              about.index_type == dtype::int64},
                                             weighing, sources_, name_));
  if (auto fault = mapped_file::first_fault())
    return std::move(*fault);
  GRAPHMILL_TRYV(write_npy<float>(folder_ / in_weights_file, sums.in));
  return write_npy<float>(folder_ / out_weights_file, sums.out);
}

} // namespace graphmill
