#pragma once

#include "messages/base/random.hpp"
#include "partition/sampling/sampling.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill::test {

template <class T>
std::vector<T> list(const pod_vector<T>& values) {
  return {values.begin(), values.end()};
}

/// A sampled neighbourhood in original ids, to compare.
struct plain_batch {
  struct edges {
    std::vector<std::int64_t> indptr;
    std::vector<local_id> sources;
    std::vector<edge_id> edge_ids;
    std::vector<float> weights;
    std::vector<float> ages{};
    friend bool operator==(const edges&, const edges&) = default;
  };
  std::vector<std::vector<node_id>> nodes; ///< Per type.
  std::vector<std::vector<std::int64_t>> found;
  std::vector<edges> edge_types;
  std::vector<std::vector<std::int32_t>> trees{}; ///< Per type.
  friend bool operator==(const plain_batch&, const plain_batch&) = default;
};

plain_batch to_plain(const sampled_subgraph& batch, const cut_graph& graph);

/// Samples with seeds in original ids.
plain_batch sample_plain(const cut_graph& graph, const sampling_scheme& scheme,
                         std::uint64_t key, std::span<const node_id> seeds);

/// Samples with seeds in ids of the parts.
plain_batch sample_plain(const cut_graph& graph, const sampling_scheme& scheme,
                         std::uint64_t key, const batch_seeds& seeds);

/// The same fanouts for all edge types.
sampling_scheme scheme_of(const memory_graph& graph,
                          std::vector<std::int32_t> fanouts,
                          bool replace = false, bool edge_ids = true);

/// One of all kinds of drawing.
draw_kind random_kind(random_stream& draws);

/// Fanouts and weights of all kinds.
sampling_scheme random_scheme(const memory_graph& graph, random_stream& draws);

/// Samples a batch whose requests are answered out of memory or from disk, as a
/// whole, in pieces, or each node's list in slices.
plain_batch sample_anyhow(const cut_graph& graph, const sampling_scheme& scheme,
                          std::uint64_t key, const batch_seeds& seeds,
                          random_stream& draws);

struct random_graph_options {
  std::int64_t most_nodes = 60;
  std::uint32_t most_degree = 12;
};

/// A few node types and edge types, with isolated nodes, self-loops and
/// parallel edges, and perhaps a type without nodes.
memory_graph random_graph(std::uint64_t seed, random_graph_options opts = {});

/// The same with weights of edges of every second type, of which some are 0.
memory_graph with_weights(memory_graph graph, std::uint64_t seed);

/// Some edges of a graph, and the graph without them.
struct thinned_graph {
  memory_graph left;
  /// Per edge type and destination: positions of edges in the list of the
  /// graph.
  std::vector<std::vector<std::vector<std::int64_t>>> gone;
  /// Per edge type: the ids in the graph of the edges that are left.
  std::vector<std::vector<edge_id>> kept;

  /// The edges that are gone.
  std::size_t count() const;
  /// The same as a batch is told.
  std::vector<excluded_edges> excluded(const memory_graph& graph,
                                       const cut_graph& parts) const;
  /// A batch of what is left, with edge ids of the graph.
  plain_batch renumbered(plain_batch batch) const;
};

/// Takes out a few edges at random, or all edges between some nodes in both
/// directions, or all in-edges of some nodes.
thinned_graph thin_out(const memory_graph& graph, std::uint64_t seed);

/// Gives edges levels at random, and sorts each list by them, stably. Some
/// types have none.
memory_graph with_levels(memory_graph graph, std::uint64_t seed);

/// Gives edges of most types times from 0 to 19, which ascend in each list
/// within a level.
/// @param over_levels Over all levels, too.
memory_graph with_times(memory_graph graph, std::uint64_t seed,
                        bool over_levels);

/// A graph without the edges beyond a level, and without some of level 0.
struct reduced_graph {
  thinned_graph seen;     ///< What is left of all that.
  thinned_graph excluded; ///< The edges of level 0 that go.
};

/// @param share One of so many edges of level 0 goes; 0: none does.
reduced_graph reduce(const memory_graph& graph, edge_level level,
                     std::uint32_t share, std::uint64_t seed);

/// Edge types between two node types get a type of reverses, as importers make
/// them.
/// @param within So do those of every second number within one.
memory_graph with_reverses(memory_graph graph, bool within = false);

/// Of all edge types; each must have one.
std::vector<edge_type_id> opposites_of(const dataset_info& info);

/// In one part or several, at random, with ids of 32 or 64 bits.
cut_graph random_cut(const memory_graph& graph, part_id parts,
                     std::uint64_t seed, random_stream& draws);

/// Checks that the graph in 1, 2 and 4 parts gives this batch, too.
void check_cuts(const memory_graph& graph, const sampling_scheme& scheme,
                std::uint64_t seed, random_stream& draws,
                const plain_batch& batch);

/// Checks that a batch is not beyond what is promised of its size.
void check_bound(const cut_graph& graph, const sampling_scheme& scheme,
                 const batch_seeds& seeds, const plain_batch& batch);

/// Checks that rows have as many edges as the graph has among the nodes.
void check_induced(const memory_graph& graph, const sampling_scheme& scheme,
                   const plain_batch& batch);

/// Checks sums of weights up to a level without some edges: they are those of
/// the graph that is left.
void check_in_weights(const memory_graph& graph, std::uint64_t seed,
                      const thinned_graph& excluded, const memory_graph& left,
                      edge_level level = all_levels);

/// Checks that a count out of so many is within 4 standard deviations.
void check_share(double count, double share, double of);

/// A few distinct nodes of every type, as global ids.
batch_seeds random_typed_seeds(const memory_graph& graph,
                               const cut_graph& parts, std::uint64_t seed);

/// A few distinct nodes of the target type.
std::vector<node_id> random_seeds(const memory_graph& graph,
                                  std::uint64_t seed);

} // namespace graphmill::test
