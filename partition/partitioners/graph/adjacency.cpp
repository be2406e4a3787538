#include "partition/partitioners/graph/adjacency.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace graphmill {

namespace {

constexpr auto most_adjacency_entries =
  std::int64_t{std::numeric_limits<std::int32_t>::max()};

constexpr std::string_view phase_name = "build symmetric graph";

/// Calls `visit(u, v)` for every edge u -> v but self-loops.
template <class Visit>
result<void> for_each_edge(const graph_view& graph, monitor& watch, int pass,
                           Visit visit) {
  const auto n = graph.vertex_count();
  for (vertex_id v = 0; v < n; ++v) {
    graph.for_each_in_neighbour(v, [&](vertex_id u) {
      if (u != v)
        visit(u, v);
    });
    if (v % monitor::interval == 0
        && !watch.tell(phase_name, static_cast<std::uint64_t>(pass * n + v),
                       static_cast<std::uint64_t>(3 * n)))
      return watch.check();
  }
  return ok();
}

/// Sorts each list and counts the distinct neighbours in all.
std::int64_t sort_lists(adjacency& out) {
  std::int64_t distinct = 0;
  for (vertex_id v = 0; v < out.size(); ++v) {
    const auto first = out.vertices.begin() + out.begin[v];
    const auto last = out.vertices.begin() + out.begin[v + 1];
    std::sort(first, last);
    for (auto it = first; it != last; ++it)
      distinct += it == first || *it != *(it - 1);
  }
  return distinct;
}

/// Turns sorted lists with repetitions into lists with weights, in place.
void merge_lists(adjacency& out) {
  out.weights.resize(sort_lists(out));
  // Where the merged entries end, which is never ahead of what is read.
  std::int64_t end = 0;
  for (vertex_id v = 0; v < out.size(); ++v) {
    // The list of `v` still ends where that of v + 1 began: `begin` is replaced
    // one vertex at a time.
    const auto first = std::exchange(out.begin[v], end);
    for (auto i = first; i < out.begin[v + 1]; ++i) {
      const auto u = out.vertices[i];
      if (end > out.begin[v] && out.vertices[end - 1] == u) {
        ++out.weights[end - 1];
      } else {
        out.vertices[end] = u;
        out.weights[end++] = 1;
      }
    }
  }
  out.begin.back() = end;
  out.vertices.resize(end);
}

/// Turns counts at [v + 1] into positions.
void sum_up(std::vector<std::int64_t>& begin) {
  for (std::size_t v = 1; v < begin.size(); ++v)
    begin[v] += begin[v - 1];
}

result<void> check_numbers(std::int64_t value, std::string_view name) {
  if (value <= most_adjacency_entries)
    return ok();
  return fail(ec::invalid_argument,
              "the graph has {} {}, and METIS can number {}; partition it with "
              "--coarsen always",
              value, name, most_adjacency_entries);
}

} // namespace

result<adjacency> build_adjacency(const graph_view& graph, monitor& watch) {
  GRAPHMILL_TRYV(check_numbers(graph.vertex_count(), "nodes"));
  // METIS sums weights of both directions in 32 bits.
  GRAPHMILL_TRYV(
    check_numbers(2 * graph.edge_count(), "edges in both directions"));
  adjacency out;
  out.begin.resize(graph.vertex_count() + 1);
  GRAPHMILL_TRYV(for_each_edge(graph, watch, 0, [&](vertex_id u, vertex_id v) {
    ++out.begin[u + 1];
    ++out.begin[v + 1];
  }));
  sum_up(out.begin);
  out.vertices.resize(out.begin.back());
  auto next = out.begin;
  // A file that is truncated in use reads as zeros from then on, so lists may
  // turn out longer than they were counted.
  const auto put = [&](vertex_id at, vertex_id other) {
    if (next[at] < out.begin[at + 1])
      out.vertices[next[at]++] = static_cast<std::int32_t>(other);
  };
  GRAPHMILL_TRYV(for_each_edge(graph, watch, 1, [&](vertex_id u, vertex_id v) {
    put(u, v);
    put(v, u);
  }));
  if (auto fault = mapped_file::first_fault())
    return std::move(*fault);
  next = decltype(next){}; // `{}` alone would keep its memory.
  merge_lists(out);
  watch.tell(phase_name, 1, 1);
  return out;
}

neighbour_lists neighbours_of(const adjacency& graph) {
  return [&graph](vertex_id v, std::vector<neighbour>& out) {
    out.clear();
    for (auto i = graph.begin[v]; i < graph.begin[v + 1]; ++i)
      out.push_back({graph.vertices[i], graph.weights[i]});
  };
}

} // namespace graphmill
