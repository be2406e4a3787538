#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/keyed_split.hpp"
#include "partition/writing/task_writer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// In which order edges go to training, validation and test.
enum class edge_order : std::uint8_t {
  random, ///< By chance.
  time,   ///< The oldest first; edges of one time stay together.
  pair    ///< By chance, all edges of two nodes together, both ways.
};

/// Shares of the edges of a task.
struct edge_split_request {
  split_fractions fractions{};
  edge_order order = edge_order::random;
  std::uint64_t seed = 0; ///< Of what chance decides.
};

/// A task of edges that is made while importing.
struct edge_task_request {
  std::string name{}; ///< Empty: the word of its kind.
  edge_task_kind kind = edge_task_kind::link;
  /// Full or middle names; empty: all edge types of the source.
  std::vector<std::string> edge_types{};
  /// Without it the source says the split of each edge.
  std::optional<edge_split_request> split{};
  bool timed = false;
  bool weighted = false;
  /// Types that join nodes of one type are their own reverses, as after a split
  /// by pairs.
  bool own_reverse = false;
};

/// The splits in which new edges of a dataset are rows of its tasks, where no
/// column says so, by the name of the task; empty: of all others. Nothing: they
/// are no rows. Of tasks that it does not name they are of the test split.
using new_row_splits =
  std::vector<std::pair<std::string, std::optional<split>>>;

/// The entry that is for a task; null: there is none.
const std::optional<split>* said_for(const new_row_splits& splits,
                                     std::string_view task);

/// The split of new edges for a task.
inline std::optional<split> split_for(const new_row_splits& splits,
                                      std::string_view task) {
  const auto* said = said_for(splits, task);
  return said == nullptr ? split::test : *said;
}

/// What a task is called.
std::string name_of(const edge_task_request& task);

/// The names of tasks, for sentences.
std::string names_of(const std::vector<edge_task_request>& tasks);

/// Splits edges by shares. By chance, sizes are as `keyed_split` has them, of
/// edges or of pairs. By time, training has the edges up to the quantile of
/// its share, which is interpolated between times as numpy.quantile does it,
/// and so on. Rows stay in the order of edges, or by time in that of times.
/// @param symmetric Whether pairs of a type, by its place, are the same either
/// way.
/// Fails if the shares make no sense.
result<task_rows> split_edges(const edge_split_request& request,
                              std::span<const task_edge> edges,
                              const std::vector<bool>& symmetric);

} // namespace graphmill
