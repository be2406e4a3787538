#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/draw_rule.hpp"
#include "messages/base/error.hpp"
#include "partition/sampling/sampling.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// scores[type][global id]: how much a node's row is wanted; never negative.
using node_scores = std::vector<std::vector<float>>;

/// What is asked of the owner of some nodes, for one hop of `inclusion`: the
/// in-edges of one type of the destinations [first, first + chances.size()).
/// Borrows the chances.
struct inclusion_request {
  edge_type_id edge_type = 0;
  draw_rule rule;
  node_id first = 0;
  std::int64_t skip = 0; ///< In-edges of `first` that were answered before.
  /// Of each destination, that the hop before has found it; in [0, 1].
  std::span<const float> chances;
};

/// The answer, about as many in-edges as its limits allow, in order. It ends
/// behind in-edge `edges` of the destination that follows `nodes` whole ones;
/// the next request goes on from there.
struct inclusion_reply {
  std::int64_t nodes = 0;      ///< Destinations that it covers as a whole.
  std::int64_t edges = 0;      ///< In-edges of the next one that it covers.
  pod_vector<node_id> sources; ///< Distinct global ids.
  /// Per source: the logarithm of the chance that none of these edges leads to
  /// it; 0 or less, perhaps infinite.
  pod_vector<float> misses;
};

/// What an answer may take: 8 MiB, and about 50 ms.
struct inclusion_limits {
  std::int64_t sources = std::int64_t{1} << 20;
  std::int64_t edges = std::int64_t{1} << 22;
};

/// Answers out of one part. A pure function of its arguments, for any thread;
/// fails with `invalid_argument` on nodes that the part does not own and on
/// chances that are none. Throws std::bad_alloc.
result<inclusion_reply> spread(const shard& part,
                               const inclusion_request& request,
                               const inclusion_limits& limits = {});

/// A node and the chance that a batch has it as a seed.
struct seed_chance {
  static constexpr node_type_id target = -1;

  node_id id = 0;
  float chance = 0;
  node_type_id type = target; ///< Of the node.
};

/// How likely each node is in a batch of one trainer: the vertex-inclusion
/// probabilities of SALIENT++ (Kaler et al., arXiv 2305.03152). With p_0 the
/// chances of the seeds,
///
///     p_h(u) = 1 - product over in-edges (u, v) of 1 - p_{h-1}(v) d_h(v),
///
/// where d_h(v) is the probability that an in-edge of v is drawn; and in all 1
/// minus the product over hops, 0 included, of 1 - p_h(u). That treats nodes as
/// independent of each other, which they are not quite. By weights, the chance
/// of an in-edge with the share s of its list is taken as 1 - (1 - s)^fanout,
/// which is exact with replacement, and without a little too low. With `labor`,
/// nodes prefer the same sources, so that the product is too high for nodes
/// with many out-edges. Both keep about the same order. Edges that a batch does
/// not see, by level or because they are excluded, count as if it did, so that
/// what they lead to is a little too high and the rest too low. Times the steps
/// of an epoch, it is how often the node's row is expected to be wanted in one.
///
/// Other subgraphs than `directional` have the same nodes. Methods that do not
/// draw from lists have no such chances: whether a node is among those visited
/// most, or within a budget, depends on all others of the batch.
///
/// In-edges lie with the owner of their destination, so every hop asks the
/// owner of each part for what follows from the nodes that are there, and adds
/// up the answers (sums of logarithms) in any order. It is computed when a run
/// begins, and not when a graph is partitioned, because it depends on fanouts,
/// batch size and the seeds of a trainer, which the definition decides. Arrays
/// have an element per node, since most nodes are reached: the asker needs
/// `bytes_per_node`, and owners keep nothing between two requests.
///
/// It sends nothing and waits for nobody. Tasks of a hop are independent of
/// each other, but not thread-safe: one thread calls all member functions.
///
///   inclusion work{graph, plan, seeds};
///   for (; !work.done(); work.finish_hop())
///     for (auto& task : work.tasks())    // in any order, side by side
///       do
///         ... spread(owner of task.part, work.request(task)) ...
///       while (!work.accept(task, reply));
class inclusion {
public:
  /// Memory that it takes at the most, with the scores.
  static constexpr std::uint64_t bytes_per_node = 24;

  /// What remains to be asked of a piece of a hop. The caller keeps it, and
  /// `accept` moves it on.
  struct task {
    part_id part = 0;
    edge_type_id edge_type = 0;
    node_id first = 0;
    std::int64_t count = 0; ///< Destinations; at most 262,144.
    std::int64_t skip = 0;
  };

  /// @param graph, scheme Borrowed; must outlive it.
  /// @param seeds Distinct nodes; read here only.
  inclusion(const partitioned_graph& graph, const sampling_scheme& scheme,
            std::span<const seed_chance> seeds);

  bool done() const { return hop_ == scheme_.hops(); }

  /// What the present hop takes; nothing about nodes that are not reached.
  std::vector<task> tasks() const;
  /// What to ask next for a task. Its chances are valid until `finish_hop`.
  inclusion_request request(const task& next) const;
  /// Takes an answer and cuts what it covers off the task. An answer may come
  /// from outside: one that does not fit the task, or would not move it on,
  /// fails with `invalid_data`, and then the whole computation is spoilt.
  /// @returns whether nothing remains of the task.
  result<bool> accept(task& next, const inclusion_reply& reply);
  /// Goes on to the next hop. All tasks must have been answered in full.
  void finish_hop();

  /// Adds the probabilities to scores of all nodes, once `done`.
  void add_to(node_scores& scores) const;

private:
  const partitioned_graph& graph_;
  const sampling_scheme& scheme_;
  int hop_ = 0;
  std::vector<std::vector<float>> chances_; ///< p of the hop before.
  std::vector<std::vector<double>> misses_; ///< Logarithms, of this hop.
  std::vector<std::vector<float>> never_;   ///< The same of all before.
};

/// Scores of 0 for all nodes.
node_scores no_scores(const dataset_info& info);

} // namespace graphmill
