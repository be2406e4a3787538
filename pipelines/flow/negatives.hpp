#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/base/random.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/flow/seed_table.hpp"
#include "pipelines/flow/unknown_pairs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// Draws numbers by their weights, with one word for the place and one for the
/// choice: the alias method (Walker, "An efficient method for generating
/// discrete random variables with general distributions", TOMS 1977), built as
/// by Vose (1991). Value type.
class alias_table {
public:
  /// @param weights Finite and not negative. If all are 0, they count as equal.
  explicit alias_table(std::span<const double> weights);

  std::size_t size() const { return kept_.size(); }
  /// @pre size() > 0
  std::size_t draw(random_stream& draws) const;

private:
  std::vector<std::uint32_t> kept_;  ///< Below it of 2^32: the place itself.
  std::vector<std::uint32_t> other_; ///< Else this one.
};

/// Draws the negatives of the links of a run. Nodes are drawn by original ids,
/// and rows by their position in the split, so that the same lists come out for
/// any parts, ranks and order of seeds. Pure: any number of threads may ask it.
///
/// Training, unless they are given. Those of a row at position `p` come from
/// the stream (run seed, `train_negatives`, epoch, step 0; index p; 0 for wrong
/// destinations or 1 for wrong sources), and do not depend on the step that
/// takes the row. Joint ones come from the stream of the step, with index 0.
/// They may be nodes to which the row has an edge, its own among them: none is
/// rejected, for that would take the lists of all nodes. Wrong pairs are the
/// wrong sources and destinations that `both` draws, side by side.
///
/// Evaluation: those of the split, if it has some, which are wrong destinations
/// alone. Otherwise `evaluate.negatives` for each corrupted end, of equal
/// chance, always from epoch 0, so that all validations have the same. Known
/// links are rejected, and so are nodes that are younger than the row, where
/// seeds see their past alone and nodes have times: after a bounded number of
/// vain draws, one of the nodes that are left is drawn. If there are no more
/// nodes of a row's type than negatives, all nodes but the known ones are
/// negatives, each once, and `none` fills the rest. If that holds for all types
/// at an end, there is a
/// `full_ranking` instead, and nothing is listed. The training split has no
/// known links in its files, and nothing is rejected where it is evaluated.
/// Wrong pairs are drawn from `unknown_pairs` of all splits and of edges in no
/// split, and with them `none` says that all pairs are links.
class link_negatives {
public:
  /// Global ids by original id, of each node type. Null: they are the same.
  using node_orders = std::vector<std::shared_ptr<const std::vector<node_id>>>;

  /// @param info Of a graph with a task of links.
  /// @param training The rows of the training split, for chances by degree.
  /// @param unknown For evaluations with wrong pairs.
  link_negatives(const definition& def, const dataset_info& info,
                 node_orders orders, const seed_table& training,
                 std::shared_ptr<const unknown_pairs> unknown = nullptr);

  /// Reads the maps of ids, which takes 8 bytes for each node of the types that
  /// are ends of rows. With wrong pairs it also reads the edges of types that
  /// have more of them than rows. Null if the graph has no task, or one of
  /// another kind.
  /// Fails if given negatives are to be learnt from, and there are none.
  /// Fails also if a training row is older than all nodes that could replace
  /// one of its ends.
  static result<std::shared_ptr<const link_negatives>>
  make(const std::shared_ptr<const partitioned_graph>& graph,
       const definition& def);

  /// @param table Of the split that the phase draws from.
  /// @param rows Of the table: those of a rank.
  negative_lists of(const seed_table& table, std::span<const seed_row> rows,
                    phase which, std::int32_t epoch, std::int64_t step) const;

private:
  negative_lists given(const seed_table& table,
                       std::span<const seed_row> rows) const;
  negative_lists drawn(const seed_table& table, std::span<const seed_row> rows,
                       std::int32_t epoch) const;
  negative_lists joint(const seed_table& table, std::int32_t epoch,
                       std::int64_t step) const;
  negative_lists unknown(const seed_table& table,
                         std::span<const seed_row> rows) const;
  negative_lists drawn_pairs(const seed_table& table,
                             std::span<const seed_row> rows,
                             std::int32_t epoch) const;
  negative_lists pairs_unknown(const seed_table& table,
                               std::span<const seed_row> rows) const;
  std::shared_ptr<const full_ranking>
  ranking_of(const seed_table& table, std::span<const seed_row> rows) const;
  std::shared_ptr<const complete_nodes>
  complete_at_ends(const dataset_info& info) const;
  node_id global(node_type_id type, std::uint64_t original) const;
  node_id draw(node_type_id type, random_stream& draws) const;
  std::vector<node_id> unknown_of(std::span<const node_id> known,
                                  std::uint64_t count,
                                  const auto& node_at) const;
  void draw_unknown(node_type_id type, std::span<const node_id> known,
                    std::optional<std::int64_t> time, random_stream& draws,
                    std::span<node_id> out) const;
  void know_times(const partitioned_graph& graph, bool inclusive);
  result<void> check_ages(const seed_table& rows, split which,
                          const dataset_info& info) const;
  result<void> check_known(const seed_table& rows,
                           const dataset_info& info) const;

  std::uint64_t seed_;
  definition::negatives_section wanted_;
  /// In evaluations, of each row: wrong destinations, wrong sources.
  std::array<std::size_t, 2> evaluated_{};
  std::size_t evaluated_pairs_ = 0; ///< Likewise.
  std::shared_ptr<const unknown_pairs> unknown_;
  std::vector<std::int64_t> counts_; ///< Nodes, by type.
  /// The nodes of a type from the oldest on, those of one time by original id.
  struct dated_nodes {
    std::vector<std::int64_t> times; ///< Ascending; empty: they have none.
    std::vector<node_id> nodes;      ///< Likewise, global ids.
    bool inclusive = false;

    bool dated() const { return !times.empty(); }
    /// How many are there at a time.
    std::uint64_t until(std::int64_t time) const;
  };
  std::vector<dated_nodes> dated_; ///< By node type.
  node_orders orders_;
  /// By node type; empty: nodes have equal chances.
  std::vector<std::shared_ptr<const alias_table>> by_degree_;
  std::array<bool, 2> all_{}; ///< Ends at which all nodes are ranked.
  std::shared_ptr<const complete_nodes> complete_; ///< Null: at none.
  /// Of a split. Made when it is evaluated for the first time.
  struct groups_of_split {
    std::once_flag once;
    std::shared_ptr<const link_groups> groups;
  };
  mutable std::array<groups_of_split, 3> groups_;
};

/// How many negatives a phase has: of each row, and in joint lists. Value type.
struct negative_numbers {
  std::int64_t destinations = 0;
  std::int64_t sources = 0;
  std::int64_t pairs = 0;
  std::int64_t joint_destinations = 0;
  std::int64_t joint_sources = 0;
  /// Destinations, sources: all nodes replace them.
  std::array<bool, 2> all{};
};
/// None of tasks that are not of links.
negative_numbers numbers_of(const definition& def, const dataset_info& info,
                            const edge_task_info& task, phase which);

/// The most seeds of each node type that a batch of so many rows has: their
/// ends, and the negatives of a phase.
/// @param info As `choose_target` shows it. @param rows Of one rank.
std::vector<std::int64_t> seed_bound(const definition& def,
                                     const dataset_info& info, phase which,
                                     std::int64_t rows);

/// The most bytes that such a batch has besides its nodes
/// (`seed_batch::row_bytes`).
std::uint64_t row_bound(const definition& def, const dataset_info& info,
                        phase which, std::int64_t rows);

} // namespace graphmill
