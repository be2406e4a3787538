#include "actors/remote/calls/excluded_call.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

excluded_arrays write(std::span<const std::int64_t> at,
                      std::span<const std::int64_t> begins,
                      std::span<const edge_id> edges, bulk_writer& arrays) {
  excluded_arrays out;
  if (at.empty())
    return out;
  std::vector<std::int32_t> counts(at.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = static_cast<std::int32_t>(begins[i + 1] - begins[i]);
  out.at = arrays.add_integers(at);
  out.counts = arrays.add_counts(counts);
  out.edges = arrays.add_integers(
    edges.subspan(static_cast<std::size_t>(begins.front()),
                  static_cast<std::size_t>(begins.back() - begins.front())));
  return out;
}

/// Reads the arrays, and checks that their numbers of elements fit.
result<excluded_lists> read(const excluded_arrays& arrays,
                            const payload& from) {
  excluded_lists out;
  if (arrays.counts.count != arrays.at.count)
    return fail(ec::invalid_argument,
                "edges are to be excluded from {} lists, but {} counts of them "
                "are given",
                arrays.at.count, arrays.counts.count);
  if (arrays.at.count == 0 && arrays.edges.count == 0)
    return out;
  const auto lists = static_cast<std::size_t>(arrays.at.count);
  out.at.resize(lists);
  read_integers(arrays.at, from.bulk, out.at.data());
  std::vector<std::int64_t> counts(lists);
  read_integers(arrays.counts, from.bulk, counts.data());
  out.begins.assign(1, 0);
  for (const auto count : counts) {
    if (count < 1 || count > std::numeric_limits<std::int32_t>::max())
      return fail(ec::invalid_argument,
                  "{} edges are to be excluded from a list: 1 or more expected",
                  count);
    out.begins.push_back(out.begins.back() + count);
  }
  if (std::cmp_not_equal(out.begins.back(), arrays.edges.count))
    return fail(ec::invalid_argument,
                "{} edges are to be excluded, but {} are given",
                out.begins.back(), arrays.edges.count);
  out.edges.resize(static_cast<std::size_t>(arrays.edges.count));
  read_integers(arrays.edges, from.bulk, out.edges.data());
  return out;
}

} // namespace

excluded_arrays write_excluded(const excluded_view& from, bulk_writer& arrays) {
  std::vector<std::int64_t> at(from.at.begin(), from.at.end());
  for (auto& position : at)
    position -= from.first;
  return write(at, from.begins, from.edges, arrays);
}

excluded_arrays write_excluded(const excluded_edges& from,
                               bulk_writer& arrays) {
  return write(from.destinations, from.begins, from.edges, arrays);
}

result<excluded_lists> read_excluded(const excluded_arrays& arrays,
                                     const payload& from, std::size_t lists) {
  GRAPHMILL_TRY(auto out, read(arrays, from));
  GRAPHMILL_TRYV(out.view().check(lists));
  return out;
}

result<excluded_edges> read_excluded(const excluded_arrays& arrays,
                                     const payload& from) {
  GRAPHMILL_TRY(auto read_lists, read(arrays, from));
  // Destinations ascend as positions of lists do.
  GRAPHMILL_TRYV(
    read_lists.view().check(std::numeric_limits<std::size_t>::max()));
  excluded_edges out;
  if (read_lists.at.empty())
    return out;
  out.destinations = std::move(read_lists.at);
  out.begins = std::move(read_lists.begins);
  out.edges = std::move(read_lists.edges);
  return out;
}

} // namespace graphmill
