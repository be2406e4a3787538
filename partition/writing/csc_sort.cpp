#include "partition/writing/csc_sort.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <limits>
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

using offsets = std::vector<std::int64_t>;

/// Tells of progress once per block and not once per edge.
void tell(const csc_job& job, std::string_view phase, std::int64_t done,
          std::int64_t total) {
  if (job.on_progress)
    job.on_progress({.phase = phase,
                     .done = static_cast<std::uint64_t>(done),
                     .total = static_cast<std::uint64_t>(total)});
}

/// Reads all edges in order.
template <class Id, class Visit>
result<void> for_each_edge(edge_source<Id>& edges, const csc_job& job,
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

/// How many edges nodes have.
struct degree_counts {
  /// Of each destination, one place behind its own: sums of them are where
  /// lists begin, [destinations + 1].
  offsets in;
  offsets out; ///< Of each source.

  explicit degree_counts(const csc_job& job)
    : in(static_cast<std::size_t>(job.destinations) + 1),
      out(static_cast<std::size_t>(job.sources)) {}

  void add(std::int64_t source, std::int64_t destination) {
    ++in[static_cast<std::size_t>(destination) + 1];
    ++out[static_cast<std::size_t>(source)];
  }
};

template <class Id>
result<degree_counts> count_degrees(edge_source<Id>& edges,
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

/// Lets each source into a list once. Lists are gone through one after the
/// other, so that it is enough to know in which list a source was last.
class first_edges {
public:
  explicit first_edges(const csc_job& job)
    : kept_(job), last_list_(static_cast<std::size_t>(job.sources), -1) {}

  /// Whether the edge is to stay, which is then counted.
  bool keep(std::int64_t source, std::int64_t destination) {
    if (std::exchange(last_list_[static_cast<std::size_t>(source)], destination)
        == destination)
      return false;
    kept_.add(source, destination);
    return true;
  }

  degree_counts& kept() { return kept_; }

private:
  degree_counts kept_;
  offsets last_list_; ///< [sources] -1: in none yet.
};

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

/// Moves the sources that stay to the front of their range.
template <class Index>
void drop_repeated(std::vector<Index>& sorted, const offsets& begin,
                   std::int64_t first, std::int64_t last, first_edges& firsts) {
  std::size_t kept = 0;
  std::size_t at = 0;
  for (auto list = first; list < last; ++list)
    for (auto i = begin[list]; i < begin[list + 1]; ++i, ++at)
      if (firsts.keep(sorted[at], list))
        sorted[kept++] = sorted[at];
  sorted.resize(kept);
}

/// Sorts the edges of one range in memory and appends their sources.
/// @param firsts If edges are to be there once, else null.
template <class Index, class Id>
result<void> sort_range(edge_source<Id>& edges, const offsets& begin,
                        std::int64_t first, std::int64_t last,
                        const csc_job& job, first_edges* firsts,
                        npy_writer& out) {
  const auto base = begin[first];
  std::vector<Index> sorted(static_cast<std::size_t>(begin[last] - base));
  offsets cursor(begin.begin() + first, begin.begin() + last);
  GRAPHMILL_TRYV(for_each_edge(
    edges, job, "sort edges", [&](const auto& edge) -> result<void> {
      auto& at = cursor[edge.destination - first];
      sorted[at++ - base] = static_cast<Index>(edge.source);
      return ok();
    }));
  if (firsts != nullptr)
    drop_repeated(sorted, begin, first, last, *firsts);
  return out.append<Index>(sorted);
}

/// The list of one destination needs no sorting and no memory.
template <class Index, class Id>
result<void> copy_sources(edge_source<Id>& edges, const csc_job& job,
                          first_edges* firsts, npy_writer& out) {
  return for_each_edge(
    edges, job, "sort edges", [&](const auto& edge) -> result<void> {
      if (firsts != nullptr && !firsts->keep(edge.source, edge.destination))
        return ok();
      const auto source = static_cast<Index>(edge.source);
      return out.append<Index>({&source, 1});
    });
}

template <class Id>
result<std::vector<edge_spool<Id>>>
deal_out(edge_source<Id>& edges, const offsets& cuts, const csc_job& job) {
  std::vector<edge_spool<Id>> buckets;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    GRAPHMILL_TRY(auto bucket, edge_spool<Id>::create(
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

template <class Index, class Id>
result<void> write_indices(edge_source<Id>& edges, const offsets& begin,
                           const csc_job& job, first_edges* firsts) {
  GRAPHMILL_TRY(auto out, npy_writer::create(job.folder / "indices.npy",
                                             dtype_of<Index>()));
  const auto fits = static_cast<std::int64_t>(job.memory_bytes / sizeof(Index));
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
      GRAPHMILL_TRYV(copy_sources<Index>(buckets[i], job, firsts, out));
    } else {
      GRAPHMILL_TRYV(sort_range<Index>(buckets[i], begin, cuts[i], cuts[i + 1],
                                       job, firsts, out));
    }
  }
  return out.finish();
}

template <class Id>
result<void> write_sources(edge_source<Id>& edges, const offsets& begin,
                           const csc_job& job, first_edges* firsts) {
  if (job.index_type == dtype::int32)
    return write_indices<std::int32_t>(edges, begin, job, firsts);
  return write_indices<std::int64_t>(edges, begin, job, firsts);
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

template <class Id>
result<csc_summary> sort_to_csc(edge_source<Id>& edges, const csc_job& job) {
  GRAPHMILL_TRY(auto counts, count_degrees(edges, job));
  if (!job.once) {
    GRAPHMILL_TRY(const auto written, write_lists(counts, job));
    GRAPHMILL_TRYV(write_sources(edges, counts.in, job, nullptr));
    return written;
  }
  counts.out = offsets{};
  add_up(counts.in);
  first_edges firsts{job};
  GRAPHMILL_TRYV(write_sources(edges, counts.in, job, &firsts));
  return write_lists(firsts.kept(), job);
}

template result<csc_summary> sort_to_csc(edge_source<std::int32_t>&,
                                         const csc_job&);
template result<csc_summary> sort_to_csc(edge_source<std::int64_t>&,
                                         const csc_job&);

} // namespace graphmill
