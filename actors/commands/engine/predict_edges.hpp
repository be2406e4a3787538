#pragma once

#include "actors/commands/engine/prediction_nodes.hpp"
#include "actors/commands/options/run_options.hpp"
#include "messages/base/error.hpp"

#include <filesystem>
#include <string>

namespace graphmill {

/// What a run of a task of edges is to predict.
struct edge_prediction_request {
  std::filesystem::path edges; ///< See `read_edge_list`; unless `split` is set.
  std::string split;         ///< "train", "validation" or "test"; empty: none.
  std::filesystem::path out; ///< A .csv.
  node_naming nodes_by = node_naming::either;
  bool probabilities = false; ///< Of classes and labels,
  bool logits = false;        ///< as these.
  bool computes = false; ///< Also where the run's folder has outputs of nodes.
  bool json = false;
  bool quiet = false;
};

/// Predicts edges by batches, or listed ones by the outputs of nodes that the
/// run's folder has (`stored_outputs`), and writes a line for each, in the
/// order of the list or split: its ends, as they were listed, or by the names
/// that nodes have; the score of a link, the class, the labels or the numbers
/// of an edge; and of a split the row's position and its time, if it has one.
/// Batches of a split are those that `graphmill evaluate` measures, without
/// negatives. The file is seen once it is whole.
/// @param run Of a task of edges.
result<void> predict_edges(const edge_prediction_request& request,
                           finished_run& run);

} // namespace graphmill
