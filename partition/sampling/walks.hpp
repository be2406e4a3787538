#pragma once

#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Walks against the direction of edges, as messages come. An owner draws each
// step: one in-edge of the node where a walk is, all equally likely. What a
// walk draws depends on the step's key and on its token, which names the edge
// of its first step and its number among the walks from that node. Both are of
// original ids, so walks are the same for any parts, in any order.

namespace graphmill {

/// How long walks are, and how many. Value type.
struct walk_rule {
  std::int32_t walks = 1;  ///< From each node.
  std::int32_t length = 1; ///< Steps of each, at the most.
  /// How likely a walk ends before a further step, in units of 2^-32.
  std::uint64_t stop = 0;

  friend bool operator==(const walk_rule&, const walk_rule&) = default;
};

/// Walks from the nodes of a hop, along one edge type or, between two node
/// types, along it and its opposite in turn. Counts the nodes of the type's
/// source that they visit (Ying et al., "Graph convolutional neural networks
/// for web-scale recommender systems", KDD'18).
///
///   for (visit_walks walks{...}; !walks.over();)
///     walks.take(... one source of each of walks.places() ...);
///   walks.most_visited(10);
class visit_walks {
public:
  /// @param key Of the batch's step.
  /// @param starts Global ids, each once.
  /// @param alternates Whether every second step leads back to the type of the
  /// starts.
  visit_walks(const walk_rule& rule, std::uint64_t key,
              std::span<const node_id> starts, bool alternates);

  bool over() const { return places_.empty(); }
  int step() const { return step_; } ///< From 1.
  /// Whether this step is along the opposite edge type.
  bool turns() const { return alternates_ && step_ % 2 == 0; }
  /// Where walks are that go on. In step 1 each start, for all of its walks.
  std::span<const node_id> places() const { return places_; }
  /// Of each of them; in step 1 there are none.
  std::span<const std::int64_t> tokens() const { return tokens_; }
  /// Sources of each of `places` that are drawn.
  std::int32_t draws() const { return step_ == 1 ? rule_.walks : 1; }

  /// Takes the answer to the present step. A node without in-edges ends a walk.
  /// @param ends Of each list among the sources.
  /// @param edges In step 1, the original ids of the edges.
  void take(std::span<const std::int64_t> ends,
            std::span<const node_id> sources, std::span<const edge_id> edges);

  /// The nodes that walks from each start have visited most often.
  struct visited {
    std::vector<std::int64_t> ends; ///< Of each start's list.
    /// Those with most visits first; of equal ones, those visited first.
    std::vector<node_id> nodes;
    std::vector<float> visits;
  };
  /// @param most Of each start; below 0: all.
  visited most_visited(std::int32_t most) const;

private:
  void go_on();

  walk_rule rule_;
  std::uint64_t key_;
  std::vector<node_id> starts_;
  bool alternates_;
  int step_ = 1;
  std::vector<node_id> places_;
  std::vector<std::int64_t> tokens_;
  std::vector<std::int32_t> origins_; ///< The start of each walk, by number.
  struct visit {
    std::int32_t start = 0;
    node_id node = 0;
  };
  std::vector<visit> visits_;
};

/// A walk from each seed of a batch, over all edge types that lead to where it
/// is: one of those that lead there from some node is chosen, all equally
/// likely, and an in-edge of it.
///
///   for (root_walks walks{...}; !walks.over(); walks.finish_step())
///     for (... each edge type ...)
///       walks.offer(type, ... one source of each of walks.places(type) ...);
///   walks.visited(type);
class root_walks {
public:
  /// @param used Of each edge type, whether walks take it.
  /// @param seeds Of each node type: global ids.
  root_walks(const dataset_info& info, const walk_rule& rule, std::uint64_t key,
             std::vector<bool> used,
             const std::vector<std::vector<node_id>>& seeds);

  bool over() const { return step_ > rule_.length || walkers_.empty(); }
  int step() const { return step_; } ///< From 1.
  /// Where walks are that may take an edge of a type, and their tokens, of
  /// which there are none in step 1.
  std::span<const node_id> places(edge_type_id type) const {
    return moves_[static_cast<std::size_t>(type)].places;
  }
  std::span<const std::int64_t> tokens(edge_type_id type) const {
    return moves_[static_cast<std::size_t>(type)].tokens;
  }

  /// @param ends, sources, edges As `visit_walks::take`.
  void offer(edge_type_id type, std::span<const std::int64_t> ends,
             std::span<const node_id> sources, std::span<const edge_id> edges);
  /// Moves the walks on.
  void finish_step();

  /// The nodes of a type that walks have come to, step by step, some of them
  /// several times.
  std::span<const node_id> visited(node_type_id type) const {
    return visited_[static_cast<std::size_t>(type)];
  }

private:
  struct walker {
    node_type_id type = 0;
    node_id node = 0;
    std::int64_t token = -1; ///< -1: it has made no step.
  };
  /// An in-edge that a walk may take.
  struct offered {
    std::size_t walker = 0;
    edge_type_id type = 0;
    node_id source = 0;
    edge_id edge = 0;
  };
  struct move {
    std::vector<node_id> places;
    std::vector<std::int64_t> tokens;
    std::vector<std::size_t> walkers;
  };
  void prepare();
  void follow(const offered& chosen);

  const dataset_info& info_;
  walk_rule rule_;
  std::uint64_t key_;
  std::vector<bool> used_;
  int step_ = 1;
  std::vector<walker> walkers_;
  std::vector<move> moves_; ///< Per edge type.
  std::vector<offered> offers_;
  std::vector<std::vector<node_id>> visited_;
};

} // namespace graphmill
