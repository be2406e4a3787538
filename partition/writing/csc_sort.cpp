#include "partition/writing/csc_sort.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/writing/first_edges.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// A bucket is an open file and a buffer, so that their number has a limit
/// however little memory there is. As ranges consist of whole lists, there may
/// be up to twice as many: no more than half of the files that may be open.
std::int64_t most_buckets() {
  constexpr std::int64_t most = 256;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / 4 >= most)
    return most;
  return std::max<std::int64_t>(static_cast<std::int64_t>(files.rlim_cur / 4),
                                1);
}

constexpr std::size_t bucket_buffer_bytes = std::size_t{1} << 16;

/// Tells of progress once per block and not once per edge.
void tell(const csc_job& job, std::string_view phase, std::int64_t done,
          std::int64_t total) {
  if (job.on_progress)
    job.on_progress({.phase = phase,
                     .done = static_cast<std::uint64_t>(done),
                     .total = static_cast<std::uint64_t>(total)});
}

/// Reads all edges in order.
template <class Edge, class Visit>
result<void> for_each_edge(edge_source<Edge>& edges, const csc_job& job,
                           std::string_view phase, Visit visit) {
  GRAPHMILL_TRYV(edges.rewind());
  std::int64_t done = 0;
  for (;;) {
    GRAPHMILL_TRY(const auto block, edges.next());
    if (block.empty())
      return ok();
    for (const auto& edge : block) {
      GRAPHMILL_TRYV(visit(edge));
    }
    done += std::ssize(block);
    tell(job, phase, done, edges.size());
  }
}

template <class Edge>
result<degree_counts> count_degrees(edge_source<Edge>& edges,
                                    const csc_job& job) {
  degree_counts counts{job};
  GRAPHMILL_TRYV(for_each_edge(edges, job, "count degrees",
                               [&](const auto& edge) -> result<void> {
                                 counts.add(edge.source, edge.destination);
                                 return ok();
                               }));
  return counts;
}

/// Writes both arrays of degrees, and frees one.
result<void> write_degrees(degree_counts& counts, const csc_job& job) {
  const auto write = [&](const char* name,
                         std::span<const std::int64_t> wide) -> result<void> {
    std::vector<std::int32_t> degrees(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      if (wide[i] > std::numeric_limits<std::int32_t>::max())
        return fail(ec::invalid_data,
                    "{}: node {} has {} edges of one type; at most 2^31 - 1 "
                    "are supported",
                    (job.folder / name).string(), i, wide[i]);
      degrees[i] = static_cast<std::int32_t>(wide[i]);
    }
    return write_npy<std::int32_t>(job.folder / name, degrees);
  };
  GRAPHMILL_TRYV(write("out_degrees.npy", counts.out));
  counts.out = offsets{};
  return write("in_degrees.npy", std::span{counts.in}.subspan(1));
}

/// Makes of numbers of edges where lists begin.
void add_up(offsets& in) {
  for (std::size_t i = 1; i < in.size(); ++i)
    in[i] += in[i - 1];
}

/// Cuts the destinations into ranges whose edges fit in memory. A destination
/// with more edges than that has a range of its own.
/// @returns the first destination of each range, and the end.
offsets cut_ranges(const offsets& begin, std::int64_t most_edges) {
  offsets cuts{0};
  const auto destinations = std::ssize(begin) - 1;
  for (std::int64_t d = 0; d < destinations; ++d)
    if (begin[d + 1] - begin[cuts.back()] > most_edges && d > cuts.back())
      cuts.push_back(d);
  cuts.push_back(destinations);
  return cuts;
}

/// Lists that follow one another: sources, and weights if there are some.
template <class Index>
struct list_piece {
  std::vector<Index> sources;
  std::vector<float> weights;

  void resize(std::size_t edges, bool weighted) {
    sources.resize(edges);
    weights.resize(weighted ? edges : 0);
  }
  float weight(std::size_t i) const { return weights.empty() ? 0 : weights[i]; }
};

/// Writes lists front to back.
struct list_writer {
  npy_writer sources;
  std::optional<npy_writer> weights; ///< If edges have some.

  static result<list_writer> create(const csc_job& job, bool weighted) {
    GRAPHMILL_TRY(auto sources, npy_writer::create(job.folder / "indices.npy",
                                                   job.index_type));
    list_writer out{std::move(sources), {}};
    if (weighted) {
      GRAPHMILL_TRY(out.weights, npy_writer::create(job.folder / weights_file,
                                                    dtype::float32));
    }
    return out;
  }

  template <class Index>
  result<void> append(std::span<const Index> from,
                      std::span<const float> weighing) {
    GRAPHMILL_TRYV(sources.append(from));
    return weights ? weights->append(weighing) : ok();
  }

  result<void> finish() {
    GRAPHMILL_TRYV(sources.finish());
    return weights ? weights->finish() : ok();
  }
};

template <class Edge>
float weight_of(const Edge& edge) {
  if constexpr (has_weight<Edge>)
    return edge.weight;
  else
    return 0;
}

/// Moves the edges that stay to the front of their range.
template <class Index>
result<void> drop_repeated(list_piece<Index>& sorted, const offsets& begin,
                           std::int64_t first, std::int64_t last,
                           first_edges& firsts) {
  const auto weighted = !sorted.weights.empty();
  std::size_t kept = 0;
  std::size_t at = 0;
  for (auto list = first; list < last; ++list) {
    const auto list_kept = kept;
    for (auto i = begin[list]; i < begin[list + 1]; ++i, ++at) {
      GRAPHMILL_TRY(const auto stays,
                    firsts.keep(sorted.sources[at], list, sorted.weight(at)));
      if (!stays)
        continue;
      sorted.sources[kept] = sorted.sources[at];
      if (weighted)
        sorted.weights[kept] = sorted.weights[at];
      ++kept;
    }
    for (auto i = list_kept; weighted && firsts.sums() && i < kept; ++i) {
      GRAPHMILL_TRY(sorted.weights[i], firsts.sum_of(sorted.sources[i]));
    }
  }
  sorted.resize(kept, weighted);
  return ok();
}

/// Sorts the edges of one range in memory and appends them.
/// @param firsts If edges are to be there once, else null.
template <class Index, class Edge>
result<void> sort_range(edge_source<Edge>& edges, const offsets& begin,
                        std::int64_t first, std::int64_t last,
                        const csc_job& job, first_edges* firsts,
                        list_writer& out) {
  const auto base = begin[first];
  list_piece<Index> sorted;
  sorted.resize(static_cast<std::size_t>(begin[last] - base), has_weight<Edge>);
  offsets cursor(begin.begin() + first, begin.begin() + last);
  GRAPHMILL_TRYV(for_each_edge(
    edges, job, "sort edges", [&](const auto& edge) -> result<void> {
      const auto at = cursor[edge.destination - first]++ - base;
      sorted.sources[at] = static_cast<Index>(edge.source);
      if constexpr (has_weight<Edge>)
        sorted.weights[at] = edge.weight;
      return ok();
    }));
  if (firsts != nullptr) {
    GRAPHMILL_TRYV(drop_repeated(sorted, begin, first, last, *firsts));
  }
  return out.append<Index>(sorted.sources, sorted.weights);
}

/// The list of one destination needs no sorting and no memory, unless weights
/// are added up: then that of its sources.
template <class Index, class Edge>
result<void> copy_list(edge_source<Edge>& edges, const csc_job& job,
                       first_edges* firsts, list_writer& out) {
  const auto late = has_weight<Edge> && firsts != nullptr && firsts->sums();
  list_piece<Index> summed;
  GRAPHMILL_TRYV(for_each_edge(
    edges, job, "sort edges", [&](const auto& edge) -> result<void> {
      const auto weight = weight_of(edge);
      if (firsts != nullptr) {
        GRAPHMILL_TRY(const auto stays,
                      firsts->keep(edge.source, edge.destination, weight));
        if (!stays)
          return ok();
      }
      const auto source = static_cast<Index>(edge.source);
      if (!late)
        return out.append<Index>({&source, 1}, {&weight, 1});
      summed.sources.push_back(source);
      return ok();
    }));
  if (!late)
    return ok();
  for (auto source : summed.sources) {
    GRAPHMILL_TRY(const auto sum, firsts->sum_of(source));
    summed.weights.push_back(sum);
  }
  return out.append<Index>(summed.sources, summed.weights);
}

template <class Edge>
result<std::vector<edge_spool<Edge>>>
deal_out(edge_source<Edge>& edges, const offsets& cuts, const csc_job& job) {
  std::vector<edge_spool<Edge>> buckets;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    GRAPHMILL_TRY(auto bucket, edge_spool<Edge>::create(
                                 job.folder / fmt::format("bucket-{}", i),
                                 bucket_buffer_bytes));
    buckets.push_back(std::move(bucket));
  }
  GRAPHMILL_TRYV(
    for_each_edge(edges, job, "deal out edges", [&](const auto& edge) {
      const auto after = std::ranges::upper_bound(cuts, edge.destination);
      return buckets[after - cuts.begin() - 1].append(edge);
    }));
  for (auto& bucket : buckets) {
    GRAPHMILL_TRYV(bucket.flush());
  }
  return buckets;
}

template <class Index, class Edge>
result<void> write_edges_of(edge_source<Edge>& edges, const offsets& begin,
                            const csc_job& job, first_edges* firsts) {
  GRAPHMILL_TRY(auto out, list_writer::create(job, has_weight<Edge>));
  constexpr auto edge_bytes =
    sizeof(Index) + (has_weight<Edge> ? sizeof(float) : 0);
  const auto fits = static_cast<std::int64_t>(job.memory_bytes / edge_bytes);
  const auto cuts = cut_ranges(
    begin, std::max({fits, edges.size() / most_buckets(), std::int64_t{1}}));
  if (cuts.size() <= 2) {
    GRAPHMILL_TRYV(sort_range<Index>(edges, begin, cuts.front(), cuts.back(),
                                     job, firsts, out));
    return out.finish();
  }
  GRAPHMILL_TRY(auto buckets, deal_out(edges, cuts, job));
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (cuts[i + 1] - cuts[i] == 1) {
      GRAPHMILL_TRYV(copy_list<Index>(buckets[i], job, firsts, out));
    } else {
      GRAPHMILL_TRYV(sort_range<Index>(buckets[i], begin, cuts[i], cuts[i + 1],
                                       job, firsts, out));
    }
  }
  return out.finish();
}

template <class Edge>
result<void> write_sorted(edge_source<Edge>& edges, const offsets& begin,
                          const csc_job& job, first_edges* firsts) {
  if (job.index_type == dtype::int32)
    return write_edges_of<std::int32_t>(edges, begin, job, firsts);
  return write_edges_of<std::int64_t>(edges, begin, job, firsts);
}

/// Writes what goes by degrees; they become where lists begin.
result<csc_summary> write_lists(degree_counts& counts, const csc_job& job) {
  csc_summary written;
  GRAPHMILL_TRYV(write_degrees(counts, job));
  written.max_in_degree = std::ranges::max(counts.in);
  add_up(counts.in);
  written.edges = counts.in.back();
  GRAPHMILL_TRYV(write_npy<std::int64_t>(job.folder / "indptr.npy", counts.in));
  return written;
}

} // namespace

template <class Edge>
result<csc_summary> sort_to_csc(edge_source<Edge>& edges, const csc_job& job) {
  GRAPHMILL_TRY(auto counts, count_degrees(edges, job));
  if (job.duplicates == duplicate_edges::keep) {
    GRAPHMILL_TRY(const auto written, write_lists(counts, job));
    GRAPHMILL_TRYV(write_sorted(edges, counts.in, job, nullptr));
    return written;
  }
  counts.out = offsets{};
  add_up(counts.in);
  first_edges firsts{job, has_weight<Edge>};
  GRAPHMILL_TRYV(write_sorted(edges, counts.in, job, &firsts));
  return write_lists(firsts.kept(), job);
}

template result<csc_summary>
sort_to_csc(edge_source<spooled_edge<std::int32_t>>&, const csc_job&);
template result<csc_summary>
sort_to_csc(edge_source<spooled_edge<std::int64_t>>&, const csc_job&);
template result<csc_summary>
sort_to_csc(edge_source<weighted_edge<std::int32_t>>&, const csc_job&);
template result<csc_summary>
sort_to_csc(edge_source<weighted_edge<std::int64_t>>&, const csc_job&);

} // namespace graphmill
