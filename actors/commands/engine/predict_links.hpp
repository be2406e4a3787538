#pragma once

#include "actors/commands/engine/prediction_nodes.hpp"
#include "actors/commands/options/run_options.hpp"
#include "messages/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace graphmill {

/// Which links of a run of a task of links are to be found.
struct link_prediction_request {
  std::int64_t most = 1;       ///< For each node.
  std::filesystem::path nodes; ///< See `read_node_list`; empty: all.
  node_naming nodes_by = node_naming::either;
  bool to_sources = false;  ///< Nodes are destinations, and sources are found.
  std::string edge_type;    ///< Empty: all of the task.
  bool keeps_known = false; ///< See `link_search::setting`.
  bool computes = false; ///< Also where the run's folder has outputs of nodes.
  std::filesystem::path out; ///< A .csv.
  std::string scratch;       ///< As of `layers_of`.
  bool json = false;
  bool quiet = false;
};

/// Finds the links with the largest scores for each node (`link_search`), layer
/// by layer or by the outputs of nodes that the run's folder has
/// (`stored_outputs`), and writes a line for each: source, destination, edge
/// type where the task has several, score, rank from 1. Lines are in the order
/// of edge types, nodes and ranks. The file is seen once it is whole.
/// @param run Of a task of edges; fails if these are not links.
result<void> predict_links(const link_prediction_request& request,
                           finished_run& run);

/// Which outputs of a run of a task of edges are to be written.
struct output_prediction_request {
  std::vector<std::string> types; ///< Node types; empty: all with outputs.
  std::filesystem::path out;      ///< As of `prediction_files`.
  std::string scratch;            ///< As of `layers_of`.
  bool json = false;
  bool quiet = false;
};

/// Writes what the decoder takes, the outputs of all nodes of the types at the
/// ends of a task's edges, as embeddings (`prediction_files`).
/// @param run Of a task of edges.
result<void> predict_outputs(const output_prediction_request& request,
                             finished_run& run);

} // namespace graphmill
