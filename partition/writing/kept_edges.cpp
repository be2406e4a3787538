#include "partition/writing/kept_edges.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/writing/csc_sort.hpp"

#include <limits>
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

result<void> kept_edges::write(edge_type_info& about,
                               std::uint64_t memory_bytes,
                               const progress_callback& on_progress,
                               std::function<std::string(node_id)> name_of) {
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
      about.count = written.edges;
      about.max_in_degree = written.max_in_degree;
      spool = {};
      return ok();
    },
    spool_));
  return about.weighted ? write_sums(about) : ok();
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
