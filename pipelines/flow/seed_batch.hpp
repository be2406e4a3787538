#pragma once

#include "messages/base/ids.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/flow/full_ranking.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// Negatives of some rows, by global ids. Value type.
struct negative_lists {
  /// In place of a negative that does not exist.
  static constexpr node_id none = -1;

  std::size_t wrong_destinations = 0; ///< Of each row.
  std::size_t wrong_sources = 0;      ///< Likewise.
  /// [rows, wrong destinations + wrong sources, then source and destination of
  /// each wrong pair] Of the row's types.
  std::vector<node_id> nodes{};
  /// By node type, of all rows that have such an end; empty: of no type.
  std::vector<std::vector<node_id>> joint_destinations{};
  std::vector<std::vector<node_id>> joint_sources{};
  std::size_t wrong_pairs = 0; ///< Of each row.
  /// Null: no end is replaced by all nodes.
  std::shared_ptr<const full_ranking> full{};

  /// Nodes of each row.
  std::size_t of_each() const {
    return wrong_destinations + wrong_sources + 2 * wrong_pairs;
  }
  friend bool operator==(const negative_lists&,
                         const negative_lists&) = default;
};

/// Some rows of a seed table, as a batch takes them: the nodes that it is
/// sampled around, and which of them each row consists of. Nodes are in the
/// order of their first appearance, row by row, then those of joint negatives;
/// ahead of all others are those of types of which all are there. Each is there
/// once, unless the table has a single column and a node in it twice. Value
/// type.
struct seed_batch : batch_seeds {
  /// In place of a negative that does not exist. Only in evaluations: all
  /// candidates are known links.
  static constexpr local_id none = -1;

  /// Of the table; for links also the negatives of each row, behind the ends of
  /// the edge: those that replace the destination, then the source, then both,
  /// as pairs.
  std::size_t columns = 0;
  std::vector<local_id> locals; ///< [rows, columns] Of the column's type.

  // Of tasks of edges.
  std::size_t wrong_destinations = 0; ///< Negatives of each row.
  std::size_t wrong_sources = 0;      ///< Likewise.
  std::size_t wrong_pairs = 0;        ///< Likewise; either these or others.
  /// [rows] Places in the task's `edge_types`; empty: all are the first.
  std::vector<std::int32_t> relations;
  std::vector<float> weights;        ///< [rows] Empty: all are 1.
  std::vector<std::int64_t> classes; ///< [rows] Of edges with classes.
  /// [rows, `label_bytes()`] Of edges with rows of labels.
  std::vector<std::uint8_t> label_rows;
  /// Negatives that all rows of the step share, by node type: they replace
  /// destinations, or sources, of that type.
  std::vector<std::vector<local_id>> joint_destinations;
  std::vector<std::vector<local_id>> joint_sources;
  /// [rows] Original ids of the edges.
  std::vector<edge_id> edge_ids;
  /// Of evaluations. Null: no end is replaced by all nodes.
  std::shared_ptr<const full_ranking> full;

  std::size_t rows() const {
    return columns == 0 ? 0 : locals.size() / columns;
  }
  /// Whether a column of a row of edges has sources.
  bool at_source(std::size_t column) const {
    const auto pairs = 2 + wrong_destinations + wrong_sources;
    return column == 0
           || (column < pairs ? column >= 2 + wrong_destinations
                              : (column - pairs) % 2 == 0);
  }
  /// Bytes of what it has besides `batch_seeds`.
  std::uint64_t row_bytes() const;
};

/// Takes rows of a table, in the given order. With a single column, nodes are
/// taken as they are, without a search for repetitions, for the table has each
/// of them once; sampling refuses a batch in which one is repeated.
/// @param rows Of the table.
/// @param negatives Of these rows.
/// @param disjoint Whether each row has a tree of its own, and its own time:
/// nodes are apart by row then. Not with joint negatives or a full ranking.
seed_batch batch_of(const seed_table& table, std::span<const seed_row> rows,
                    const dataset_info& info,
                    const negative_lists& negatives = {},
                    bool disjoint = false);

/// The time by which seeds of a step are sampled that share nodes: that of its
/// earliest row, over all ranks, so that none sees anything after itself.
/// One time, or none if there is no row.
/// @param ranks The rows of each rank.
std::vector<std::int64_t>
earliest_of(const seed_table& table,
            std::span<const std::vector<seed_row>> ranks);

/// What the rows of a step, of all ranks together, must not see: the edges
/// that they exclude, by edge type. Empty if the table says nothing of that, as
/// those of nodes, of edges with labels, and of links outside of training.
/// Empty also where seeds see edges before their own time alone: no row of the
/// step is among those.
/// @param ranks The rows of each rank; of one alone where each row has a tree
/// of its own, for destinations are those of one tree then (`batch_seeds`).
std::vector<excluded_edges>
exclusions_of(const seed_table& table,
              std::span<const std::vector<seed_row>> ranks,
              const dataset_info& info, const time_rule& time = {});

} // namespace graphmill
