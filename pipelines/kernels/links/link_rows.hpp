#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/kernels/model_layout.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace graphmill {

/// The logit of a negative that does not exist. It has no rank, counts in no
/// loss and gets no gradient.
inline constexpr float no_score = -std::numeric_limits<float>::infinity();

/// The slots of a row of link logits: [0] is the edge, and then come its
/// negatives, in four ranges. Joint ranges are as wide as the longest list of a
/// node type; what a shorter one leaves is `no_score`. Wrong pairs have the
/// slots of wrong destinations. Value type.
struct link_slots {
  std::int64_t wrong_destinations = 0;
  std::int64_t wrong_sources = 0;
  std::int64_t joint_destinations = 0;
  std::int64_t joint_sources = 0;

  /// The edge and the negatives of its own.
  std::int64_t own() const { return 1 + wrong_destinations + wrong_sources; }
  std::int64_t count() const {
    return own() + joint_destinations + joint_sources;
  }
  /// Whether the negative in this slot replaces the source.
  bool replaces_source(std::int64_t slot) const {
    return slot < own() ? slot > wrong_destinations
                        : slot >= own() + joint_destinations;
  }
};

link_slots slots_of(const seed_batch& rows);

/// The rows of a batch over a *stack*: the outputs of all node types one below
/// the other, so that a node of any type is one number. Wrong pairs are rows of
/// their own, behind the row that they belong to: an edge without negatives,
/// whose only candidate is `seed_batch::none` if the pair does not exist. So
/// scores of all rows, one after the other, are those of `slots_of` the batch.
/// Value type.
struct link_rows {
  /// Rows that share a list of joint negatives.
  struct joint_list {
    std::vector<std::int32_t> rows;
    std::vector<local_id> nodes;
    std::int64_t slot = 0; ///< Of the first of them.
    bool sources = false;  ///< They replace sources.
  };

  /// Rows whose destinations, or sources, all nodes of a type replace: `count`
  /// rows of the stack, from `first` on.
  struct full_list {
    std::vector<std::int32_t> rows;
    node_type_id type = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
    bool sources = false; ///< They replace sources.
  };

  link_slots slots;
  std::vector<local_id> sources;      ///< [rows]
  std::vector<local_id> destinations; ///< [rows]
  /// [rows, slots.own()] The destination, wrong destinations, wrong sources;
  /// or `seed_batch::none`.
  std::vector<local_id> candidates;
  std::vector<std::int32_t> relations; ///< [rows] Places in the edge types.
  std::vector<joint_list> joint;
  std::vector<full_list> full; ///< At an end, each row is in one of them.

  std::int64_t count() const {
    return static_cast<std::int64_t>(sources.size());
  }
  /// Whether negatives of any kind replace sources.
  bool replaces_sources() const;
};

/// Fails with `internal` if the rows do not fit the task or name nodes that are
/// no seeds of the batch.
/// @param ends Of the edge types of the task.
/// @param negatives Whether rows may have some.
result<void> check_link_rows(const seed_batch& rows,
                             std::span<const edge_ends> ends,
                             const sampled_subgraph& graph, bool negatives);

/// @param ends Of the edge types of the task.
/// @param offsets Per node type: where its nodes begin in the stack.
link_rows link_rows_of(const seed_batch& rows, std::span<const edge_ends> ends,
                       std::span<const std::int64_t> offsets);

/// The numbers of the rows of each edge type, ascending.
std::vector<std::vector<std::int32_t>>
rows_by_relation(std::span<const std::int32_t> relations, std::size_t count);

} // namespace graphmill
