#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/draw_rule.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/definition/definition_words.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/sampling/excluded_edges.hpp"
#include "partition/sampling/time_limits.hpp"
#include "partition/sampling/walks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

class id_table;

/// What to sample: part of the definition, the same on every daemon. Value
/// type.
struct sampling_scheme {
  /// fanouts[hop][edge type]: in-edges per node; -1 = all, 0 = none.
  std::vector<std::vector<std::int32_t>> fanouts;
  draw_kind kind = draw_kind::without_replacement;
  /// Also report original edge ids. No run asks for them: tests use them to
  /// check that the drawn edges are edges of the graph.
  bool edge_ids = false;
  /// Report the weights of edges, for types with weights.
  bool weights = false;
  /// Report the places of edges, for types with features: where their rows lie.
  bool places = false;
  /// Report the ages of edges, for types with times. Only with `time.used`.
  bool ages = false;
  /// Edges of higher levels carry no message, as if the graph had none.
  edge_level level = all_levels;
  time_rule time{};
  /// Anything but `directional`: layers run over all nodes of the batch, and
  /// the last one over seeds alone.
  subgraph_kind subgraph = subgraph_kind::directional;
  /// With `bidirectional`: the edge type of the reverses of each type, which
  /// has those of that type; -1: none. With `pinsage`: that of the way back.
  std::vector<edge_type_id> opposites{};
  /// Of other subgraphs than `directional`, as many blocks at the least: with
  /// two, all nodes have rows.
  int least_blocks = 0;
  /// How nodes are found. `pinsage`: fanouts are of nodes that walks visit, and
  /// weights are visits. `hgt`: a hop takes nodes by `budgets`, and fanouts are
  /// the in-edges that propose them. `saint`: by walks from the seeds, and
  /// fanouts say which edge types they take. By all others, of lists as `kind`
  /// says. The last two need the subgraph `induced`.
  sampling_method method = sampling_method::uniform;
  walk_rule walk{};
  /// budgets[hop][node type]: nodes that a hop takes.
  std::vector<std::vector<std::int32_t>> budgets{};

  int hops() const { return static_cast<int>(fanouts.size()); }
  /// Whether some hop samples edges of a type.
  bool samples(edge_type_id type) const {
    return std::any_of(fanouts.begin(), fanouts.end(), [type](const auto& of) {
      return of[static_cast<std::size_t>(type)] != 0;
    });
  }
  /// Whether edges of a type have weights.
  bool weighs(const edge_type_info& type) const {
    return weights && (type.weighted || method == sampling_method::pinsage);
  }
  /// Hops of the batch, which are the layers of a model.
  int blocks() const {
    return subgraph == subgraph_kind::directional || hops() == 0
             ? hops()
             : std::max(hops(), least_blocks);
  }

  /// How in-edges of a type are sampled in a hop; here hops count from 0.
  draw_rule rule(int hop, edge_type_id edge_type) const {
    return {fanouts[hop][edge_type], kind};
  }
};

/// What a batch is sampled around. Value type.
struct batch_seeds {
  /// Per node type: distinct global ids. The position is the local id.
  std::vector<std::vector<node_id>> nodes;
  /// Per edge type: edges that the batch is without. None is of a higher level
  /// than the batch sees. Empty: of no type. With trees, a destination is that
  /// of one tree: its global id, and the number of nodes of its type times the
  /// place of the row in `row_numbers`.
  std::vector<excluded_edges> excluded{};
  /// Of a scheme whose seeds see their past: one time for all of them, or
  /// with trees that of each row. Else empty.
  std::vector<std::int64_t> until{};
  /// With trees: numbers of the rows, each once, from 0 on.
  std::vector<std::int64_t> row_numbers{};
  /// With trees, per node type: for each of `nodes` the place of its row in
  /// `row_numbers`. A node may be there once in each tree.
  std::vector<std::vector<std::int32_t>> trees{};

  /// Seeds of all types.
  std::size_t count() const;

  friend bool operator==(const batch_seeds&, const batch_seeds&) = default;
};

/// Seeds of the target type alone.
batch_seeds target_seeds(const dataset_info& info,
                         std::span<const node_id> nodes);

/// The nodes of one type in a batch, in discovery order.
struct node_list {
  pod_vector<node_id> ids; ///< Global ids; position = local id.
  /// found[h] = nodes known after hop h; found[0] = seeds of the type. The
  /// nodes that hop h + 1 expands are [h == 0 ? 0 : found[h - 1], found[h]).
  /// Of other subgraphs than `directional`, all nodes from found[1] on.
  std::vector<std::int64_t> found;
  /// [ids] With trees: the place among the rows of the one whose tree it is in.
  pod_vector<std::int32_t> trees{};
};

/// The sampled edges of one type: the CSRs of hops 1..L, one after the other.
/// Row r is the node with local id r of the destination type. Every hop appends
/// rows for the nodes that it expands. So the first `found[h - 1]` rows are the
/// blocks of hops 1..h: a layer that needs fewer hops takes a prefix.
struct edge_list {
  pod_vector<std::int64_t> indptr; ///< [found[L - 1] of destination + 1]
  pod_vector<local_id> sources;    ///< Local ids of the source type.
  pod_vector<edge_id> edge_ids;    ///< Original ids; empty unless asked for.
  /// Of the edges; empty unless asked for, or if the type has none.
  pod_vector<float> weights{};
  /// Of the edges: positions in the part that owns their destination; empty
  /// unless asked for, or if the type has no features.
  pod_vector<edge_id> places{};
  /// `time_limits::age` of the edges; empty unless asked for, or if the type
  /// has no times.
  pod_vector<float> ages{};
};

/// A sampled neighbourhood: typed blocks over local ids.
struct sampled_subgraph {
  std::vector<node_list> nodes; ///< Per node type.
  std::vector<edge_list> edges; ///< Per edge type.
  int hops = 0;

  /// The number of rows, in a list of edges into `destination`, of the blocks
  /// of hops 1..`hop`.
  std::int64_t rows(node_type_id destination, int hop) const {
    return hop == 0 ? 0 : nodes[destination].found[hop - 1];
  }
  /// Bytes of all elements of the arrays; spare capacity does not count.
  std::size_t byte_size() const;
};

/// Some nodes of one type, among which sources are looked up. Borrows all.
struct node_subset {
  node_type_id type = 0;
  const pod_vector<node_id>* ids = nullptr; ///< Global ids, each once.
  const id_table* numbers = nullptr;        ///< Of these.
};

/// One request to the owner of a part: sample the in-edges of one type of some
/// of its nodes. The answer is a pure function of these fields and the shard.
/// So a request may be repeated, cut into pieces, or sent to another daemon
/// that holds the part. Borrows the destinations.
struct neighbour_request {
  std::uint64_t key = 0; ///< `stream_key` of the batch's step.
  std::int32_t hop = 0;  ///< From 1.
  edge_type_id edge_type = 0;
  draw_rule rule;
  bool edge_ids = false;
  std::span<const node_id> destinations; ///< Global ids owned by the shard.
  bool weights = false;                  ///< Only of types that have some.
  /// Lists are sampled as if these edges were not in them.
  excluded_view excluded{};
  edge_level level = all_levels; ///< Lists end before edges of higher levels.
  time_limits time{};
  bool places = false; ///< Only of types that have features.
  bool ages = false;   ///< Only of lists with a limit of time.
  /// If not null: of each list, all edges whose sources are some of these. The
  /// rule takes all.
  const node_subset* among = nullptr;
  /// With `among`: an answer of more sources is `too_large`.
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  /// The same of `count` destinations from number `from` on.
  neighbour_request piece(std::size_t from, std::size_t count) const;
};

/// The answer: for each destination, in request order, its sampled sources.
struct neighbour_reply {
  pod_vector<std::int32_t> counts; ///< Sources per destination.
  pod_vector<std::byte> sources;   ///< Global ids, int32 or int64 each.
  bool wide = false;               ///< true: int64.
  pod_vector<edge_id> edge_ids;    ///< Empty unless asked for.
  pod_vector<float> weights{};     ///< Likewise.
  /// Likewise: positions of the edges among those of their type in the part.
  pod_vector<edge_id> places{};
  pod_vector<float> ages{}; ///< Likewise: `time_limits::age`.
  bool too_large = false;   ///< Then it has no sources.

  /// Adds further sources, with all that is beside them but counts.
  void append_sources(const neighbour_reply& more);
  /// Leaves the sources that are some of these nodes, in their order. What is
  /// no node stays, for whoever checks the answer. Gives no memory back.
  /// @param count Nodes of the type in the whole graph.
  void keep_among(const node_subset& nodes, std::int64_t count);

  /// An empty one, whose arrays take memory from a pool.
  static neighbour_reply in(const std::shared_ptr<buffer_pool>& pool);
};

/// One answer, from those to the pieces of a request, in their order. Of
/// several pieces, its arrays are no larger than they need to be, and the
/// memory of each piece is given back once it has been copied: `bytes_of` a
/// bound counts on both.
neighbour_reply join(std::vector<neighbour_reply> pieces);

/// Samples on one shard. Without replacement, the positions drawn from a list
/// ascend. With replacement, they are in the order of the draws. Every draw
/// comes from Philox keyed by `key` with the counter (original id; hop and edge
/// type; block). Original ids make the answer the same for every partitioning.
/// Edges of higher levels and edges to exclude are left out of the lists before
/// anything is drawn.
///
/// Replaces the content of `out`, and takes memory from the pools of its
/// arrays. Any number of threads may sample on one shard at once. Kinds of
/// drawing that read whole lists (keyed_draws.hpp) take memory for the longest
/// of them, up to 24 bytes for each edge. Those by weights are uniform for a
/// type that has none. Fails with `not_found` if `labor` would need original
/// ids of nodes that the shard does not own, and has none; with
/// `invalid_argument` on ids that the shard does not own, on an invalid rule,
/// on a request for weights that the type does not have or for ages without a
/// time, and on edges to exclude that are not in their lists, with
/// `invalid_data` on broken lists, and with `out_of_memory`.
result<void> sample_neighbours(const shard& graph,
                               const neighbour_request& request,
                               neighbour_reply& out);

/// Builds one batch hop by hop: says what to ask of which part, takes the
/// answers in any order, and numbers new nodes in discovery order once all
/// answers of a hop are there. It waits for nobody and sends nothing: whoever
/// drives it carries requests and answers, by function calls or by messages.
///
///     made -- start --> in hop 1 -- finish_hop --> ... in hop L --> done
///                          ^   |
///                          '---' accept, once per request
///
/// Numbering waits for the whole hop because local ids must not depend on the
/// order in which answers come. A hop without requests is finished like any
/// other. After an error of `start` or `finish_hop` the batch is lost; after
/// one of `accept` the slot still waits for a good answer. Not thread-safe: one
/// caller at a time. All arrays take their memory from `pool`, or from the heap
/// if it is null.
///
///   batch_sampler sampler{graph, plan, key, pool};
///   sampler.start(seeds);
///   while (!sampler.done()) {
///     for (auto& r : sampler.requests())   // one per (edge type, part)
///       ... sampler.accept(r.slot, reply)
///     sampler.finish_hop();
///   }
///   sampler.take();
class batch_sampler {
public:
  struct part_request {
    std::size_t slot = 0; ///< Names the request in `accept`.
    part_id part = 0;
    neighbour_request request; ///< Spans stay valid until `finish_hop`.
  };

  /// @param graph Borrowed; must outlive the sampler.
  /// @param scheme Copied.
  /// @param key `stream_key` of the batch's step.
  batch_sampler(const partitioned_graph& graph, const sampling_scheme& scheme,
                std::uint64_t key, std::shared_ptr<buffer_pool> pool);
  ~batch_sampler();

  /// Begins the first hop; once.
  /// @param seeds Of all node types; may be empty. They are copied.
  result<void> start(const batch_seeds& seeds);

  /// The requests of the current hop, all to be answered before `finish_hop`.
  std::span<const part_request> requests() const;

  /// Accepts an answer; ignores a second answer to the same slot. Fails when
  /// the answer does not fit the request (counts, ranges).
  result<void> accept(std::size_t slot, neighbour_reply reply);

  /// Numbers the new nodes and moves on. All slots must have been answered.
  result<void> finish_hop();

  bool done() const;

  /// Hands over the finished batch. To be called once, when `done`.
  sampled_subgraph take();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// The whole loop against one or several shards in this thread. Tests and
/// benchmarks use it; the actors do the same with messages.
result<sampled_subgraph>
sample(const partitioned_graph& graph,
       std::span<const std::shared_ptr<const shard>> shards,
       const sampling_scheme& scheme, std::uint64_t key,
       const batch_seeds& seeds, std::shared_ptr<buffer_pool> pool = nullptr);
/// The same around nodes of the target type.
result<sampled_subgraph>
sample(const partitioned_graph& graph,
       std::span<const std::shared_ptr<const shard>> shards,
       const sampling_scheme& scheme, std::uint64_t key,
       std::span<const node_id> seeds,
       std::shared_ptr<buffer_pool> pool = nullptr);

/// The largest possible size of a batch. Counts beyond 64 bits are cut off at
/// the largest number.
struct subgraph_bound {
  std::vector<std::int64_t> nodes;    ///< Per node type, all hops.
  std::vector<std::int64_t> expanded; ///< Per node type: rows of its CSRs.
  std::vector<std::int64_t> edges;    ///< Per edge type, all hops.
  std::vector<std::int64_t> seeds{};  ///< Per node type.
  /// Bytes that walks and budgets take while nodes are found, besides all that.
  std::int64_t working = 0;
};
/// The bound of a batch of so many seeds of each node type under `scheme`, from
/// the counts and the largest in-degrees of the dataset alone, levels apart. It
/// reserves memory before anything is sampled.
subgraph_bound bound_of(const dataset_info& info, const sampling_scheme& scheme,
                        std::span<const std::int64_t> seeds);
/// The same of a batch of so many seeds of the target type.
subgraph_bound bound_of(const dataset_info& info, const sampling_scheme& scheme,
                        std::int64_t seeds);

/// Bytes that a thread which samples keeps for the longest list that it reads
/// as a whole.
std::uint64_t list_bytes(const dataset_info& info,
                         const sampling_scheme& scheme);

} // namespace graphmill
