#pragma once

#include "partition/sampling/reply_merge.hpp"
#include "partition/sampling/sampling.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// Nodes of one type, in order, perhaps some of them several times. Owns
/// nothing.
struct asked_nodes {
  std::span<const node_id> ids; ///< Global.
  /// Of each, in whose tree it is, or which walk is there; empty: of none.
  std::span<const std::int64_t> rows{};
  std::span<const std::int64_t> until{}; ///< Of each, with trees.

  std::size_t size() const { return ids.size(); }
};

/// The same, dealt out to the parts that own them.
struct dealt_nodes {
  explicit dealt_nodes(const std::shared_ptr<buffer_pool>& pool)
    : owners(pool), by_part(pool) {}

  asked_nodes nodes;
  pod_vector<part_id> owners; ///< Per node; empty with one part.
  /// Grouped by part, in order within each: what requests refer to. Empty with
  /// one part, whose requests refer to `nodes`.
  pod_vector<node_id> by_part;
  std::vector<std::size_t> cuts;   ///< [parts + 1] of `by_part`.
  std::vector<std::size_t> places; ///< Where each node is in `by_part`.
  // Of each node in `by_part`, if there are some of `nodes`:
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> until;

  /// @param dealt Of one type; borrowed until the next call.
  /// @param with_places Whether `places` are wanted, where there are several
  /// parts.
  void deal(const partitioned_graph& graph, node_type_id type,
            asked_nodes dealt, bool with_places);

  /// What requests refer to, in their order.
  asked_nodes dealt() const {
    return owners.empty() ? nodes : asked_nodes{by_part.span(), rows, until};
  }
  /// Where a node of `nodes` is in it.
  std::size_t place_of(std::size_t i) const {
    return places.empty() ? i : places[i];
  }
};

/// A list from which edges are excluded: its place among the dealt nodes in the
/// upper half, its number among the destinations of `excluded_edges` in the
/// lower. One word, for a thousand of them are sorted.
using shortened_list = std::uint64_t;

constexpr shortened_list shortened_at(std::size_t place, std::size_t number) {
  return std::uint64_t{place} << 32 | std::uint64_t{number};
}
constexpr std::size_t shortened_place(shortened_list list) {
  return static_cast<std::size_t>(list >> 32);
}
constexpr std::size_t shortened_number(shortened_list list) {
  return static_cast<std::size_t>(list & 0xffffffff);
}

/// What some nodes are asked for.
struct node_question {
  /// Tells the answers from those to other questions of the round.
  std::size_t number = 0;
  edge_type_id type = 0;
  draw_rule rule{};
  int hop = 1;
  bool edge_ids = false;
  bool weights = false;
  bool places = false;
  bool ages = false;
  const node_subset* among = nullptr;
};

/// The requests of one round of a batch, and the answers to them. Questions are
/// numbered; one of each number in a round. Not thread-safe.
class request_round {
public:
  /// @param graph, scheme Borrowed.
  request_round(const partitioned_graph& graph, const sampling_scheme& scheme,
                std::uint64_t key)
    : graph_(graph), scheme_(scheme), key_(key) {}

  /// Of all seeds; empty: there is no limit, or nodes have some of their own.
  void limit(std::span<const std::int64_t> until) { until_ = until; }

  void clear();
  /// Adds a request to each part that owns some of the nodes.
  /// @param nodes Borrowed until the answers have been read.
  /// @param lists From which edges are excluded, ascending.
  /// @param excluded Their edges; null: there are none.
  void ask(const node_question& question, const dealt_nodes& nodes,
           std::span<const shortened_list> lists = {},
           const excluded_edges* excluded = nullptr);

  std::span<const batch_sampler::part_request> requests() const {
    return requests_;
  }
  result<void> accept(std::size_t slot, neighbour_reply reply);
  /// Fails with `internal` if an answer is missing.
  result<void> check_complete() const;

  /// Sources in the answers to all questions about an edge type.
  std::int64_t sources(edge_type_id type) const;
  reply_merge merge_of(std::size_t number, const dealt_nodes& nodes) const;
  /// Gives the memory of answers back.
  void release(std::size_t number);

private:
  struct answer {
    neighbour_reply reply;
    bool there = false;
    std::int64_t sources = 0;
  };
  time_limits limits_of(edge_type_id type, const asked_nodes& some) const;

  const partitioned_graph& graph_;
  const sampling_scheme& scheme_;
  std::uint64_t key_;
  std::span<const std::int64_t> until_;
  std::vector<batch_sampler::part_request> requests_;
  std::vector<std::size_t> numbers_; ///< Of the questions of requests.
  std::vector<answer> answers_;
  std::vector<excluded_lists> excluded_; ///< What requests refer to.
};

} // namespace graphmill
