#include "partition/partitioners/methods/contraction.hpp"

#include "messages/base/random.hpp"
#include "partition/partitioners/graph/undirected_view.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Whether an edge is kept: decided by a hash of its ends, so that both of its
/// directions have the same answer without a table of edges.
class edge_sample {
public:
  edge_sample(std::int64_t entries, std::int64_t most, std::uint64_t key)
    : keeps_all_(entries <= most), key_(key) {
    constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
    if (!keeps_all_)
      bound_ = largest / static_cast<std::uint64_t>(entries)
               * static_cast<std::uint64_t>(most);
  }

  bool has(vertex_id u, vertex_id v) const {
    if (keeps_all_)
      return true;
    const auto [low, high] = std::minmax(u, v);
    return mix64(mix64(key_ ^ static_cast<std::uint64_t>(low))
                 + static_cast<std::uint64_t>(high))
           < bound_;
  }

private:
  bool keeps_all_;
  std::uint64_t key_;
  std::uint64_t bound_ = 0;
};

template <class Graph>
class contraction {
public:
  contraction(const Graph& graph, const clustering& clusters, monitor& watch)
    : graph_(graph), clusters_(clusters), watch_(watch) {}

  result<adjacency> run(std::int64_t most_entries, std::uint64_t key) {
    std::int64_t between = 0;
    if (graph_.entries() > most_entries) {
      GRAPHMILL_TRYV(
        for_each_entry([&](vertex_id, vertex_id, std::int64_t) { ++between; }));
    }
    const edge_sample sample{between, most_entries, key};
    GRAPHMILL_TRYV(collect(sample));
    merge();
    return std::move(out_);
  }

private:
  struct entry {
    std::int32_t vertex;
    std::int32_t weight;
  };

  /// Calls `visit(u, v, weight)` for every entry between clusters.
  template <class Visit>
  result<void> for_each_entry(Visit visit) {
    const auto& of = clusters_.of;
    for (vertex_id v = 0; v < graph_.size(); ++v) {
      graph_.for_each_neighbour(v, [&](vertex_id u, std::int64_t weight) {
        if (of[u] != of[v])
          visit(v, u, weight);
      });
      if (v % monitor::interval == 0
          && !watch_.tell("join clusters", static_cast<std::uint64_t>(v),
                          static_cast<std::uint64_t>(graph_.size())))
        return watch_.check();
    }
    return ok();
  }

  /// The lists of all clusters, with repetitions.
  result<void> collect(const edge_sample& sample) {
    const auto& of = clusters_.of;
    auto& begin = out_.begin;
    begin.resize(static_cast<std::size_t>(clusters_.count) + 1);
    GRAPHMILL_TRYV(for_each_entry([&](vertex_id v, vertex_id u, std::int64_t) {
      if (sample.has(u, v))
        ++begin[of[v] + 1];
    }));
    for (std::size_t c = 1; c < begin.size(); ++c)
      begin[c] += begin[c - 1];
    out_.vertices.resize(static_cast<std::size_t>(begin.back()));
    out_.weights.resize(out_.vertices.size());
    auto next = begin;
    // A file that is truncated in use reads as zeros from then on, so lists may
    // turn out longer than they were counted.
    return for_each_entry([&](vertex_id v, vertex_id u, std::int64_t weight) {
      auto& at = next[of[v]];
      if (!sample.has(u, v) || at == begin[of[v] + 1])
        return;
      out_.vertices[at] = static_cast<std::int32_t>(of[u]);
      out_.weights[at++] = static_cast<std::int32_t>(weight);
    });
  }

  /// Sorts the lists and adds up repetitions, in place.
  void merge() {
    std::vector<entry> list;
    std::int64_t end = 0; // Of what is merged; never ahead of what is read.
    for (vertex_id c = 0; c < out_.size(); ++c) {
      list.clear();
      for (auto i = out_.begin[c]; i < out_.begin[c + 1]; ++i)
        list.push_back({out_.vertices[i], out_.weights[i]});
      std::sort(list.begin(), list.end(),
                [](auto a, auto b) { return a.vertex < b.vertex; });
      out_.begin[c] = end;
      for (const auto& [vertex, weight] : list) {
        if (end > out_.begin[c] && out_.vertices[end - 1] == vertex) {
          out_.weights[end - 1] += weight;
        } else {
          out_.vertices[end] = vertex;
          out_.weights[end++] = weight;
        }
      }
    }
    out_.begin.back() = end;
    for (auto* array : {&out_.vertices, &out_.weights}) {
      array->resize(static_cast<std::size_t>(end));
      array->shrink_to_fit();
    }
  }

  const Graph& graph_;
  const clustering& clusters_;
  monitor& watch_;
  adjacency out_;
};

} // namespace

template <class Graph>
result<adjacency> contract(const Graph& graph, const clustering& clusters,
                           std::int64_t most_entries, std::uint64_t key,
                           monitor& watch) {
  if (clusters.count > std::numeric_limits<std::int32_t>::max())
    return fail(ec::invalid_argument,
                "the graph has {} clusters, and METIS can number 2^31 - 1; "
                "partition it with --method ldg",
                clusters.count);
  return contraction<Graph>{graph, clusters, watch}.run(most_entries, key);
}

template result<adjacency> contract(const undirected_view&, const clustering&,
                                    std::int64_t, std::uint64_t, monitor&);
template result<adjacency> contract(const adjacency&, const clustering&,
                                    std::int64_t, std::uint64_t, monitor&);

} // namespace graphmill
