#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/writing/edge_rules.hpp"
#include "partition/writing/edge_spool.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace graphmill {

/// Where the edges of a type lie once they are written, in the order in which
/// they were appended. What was dropped lies nowhere.
struct placed_edges {
  std::vector<node_id> sources;
  std::vector<node_id> destinations;
  std::vector<edge_id> places; ///< In the order of lists; -1: dropped.
  /// Likewise, of what `both_ways` has added to each edge; -1: nothing. Empty
  /// without it.
  std::vector<edge_id> opposites{};
};

/// Edges of one type on their way into files. Owns a spool of them. It has two
/// states, which it does not check: calls of `append`, then one of `write`.
/// Move-only.
class kept_edges {
public:
  /// @param folder Of the type; it must be there.
  static result<kept_edges> create(std::filesystem::path folder,
                                   const dataset_info& info, edge_type_id type,
                                   edge_rules rules);

  /// Takes edges, checked.
  /// @param weights One for each if the type has weights, else none.
  result<void> append(std::span<const node_id> sources,
                      std::span<const node_id> destinations,
                      std::span<const float> weights);

  /// Sorts the edges and writes the arrays.
  /// @param about Gets what is known of them then.
  /// @param name_of What a node of the source type is called in errors.
  /// @param placed Gets where edges lie, if the type is leveled or timed or has
  /// features: 24 to 32 bytes of memory for each edge. If leveled or timed,
  /// `arrange` must follow.
  result<void> write(edge_type_info& about, std::uint64_t memory_bytes,
                     const progress_callback& on_progress,
                     std::function<std::string(node_id)> name_of,
                     placed_edges& placed);

  /// Sorts each list by level and within a level by time, stably, and writes
  /// the arrays again, with the ends of levels and the times. Takes 24 bytes of
  /// memory for each edge.
  /// @param levels [edges] In the order of lists; empty: all are 0.
  /// @param times [edges] Likewise; empty: there are none.
  /// @returns [edges] the new place of each edge.
  result<std::vector<edge_id>> arrange(const edge_type_info& about,
                                       std::span<const std::uint8_t> levels,
                                       std::span<const std::int64_t> times);

  const dropped_edges& dropped() const { return dropped_; }

private:
  using any_spool = std::variant<edge_spool<spooled_edge<std::int32_t>>,
                                 edge_spool<spooled_edge<std::int64_t>>,
                                 edge_spool<weighted_edge<std::int32_t>>,
                                 edge_spool<weighted_edge<std::int64_t>>>;

  result<void> write_sums(const edge_type_info& about) const;
  template <class Edge>
  result<placed_edges> place(edge_spool<Edge>& spool) const;

  std::filesystem::path folder_;
  std::string name_;              ///< Of the type.
  std::int64_t sources_ = 0;      ///< Nodes of the source type.
  std::int64_t destinations_ = 0; ///< Nodes of the destination type.
  edge_rules rules_;
  any_spool spool_;
  std::int64_t given_ = 0; ///< Edges so far.
  /// Self-loops that were dropped, by their numbers.
  std::vector<std::int64_t> dropped_loops_;
  dropped_edges dropped_;
};

} // namespace graphmill
