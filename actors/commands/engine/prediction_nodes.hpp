#pragma once

#include "actors/commands/engine/table_ids.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// What the entries of a list of nodes are.
enum class node_naming {
  either, ///< Whichever all of them are; an error if both, and of other nodes.
  number, ///< Of a node in the dataset, from 0.
  name,   ///< The id in the tables that the dataset was imported from.
};

/// Nodes of a list that a user has written: a .npy of int64 or int32 with one
/// extent, or else a text with one entry in a line. The order, and nodes that
/// come twice, are kept. Fails with a sentence that names the first entries
/// that are no node of the type and how many there are, and if there are none.
/// @param names Null: nodes have numbers alone.
result<std::vector<node_id>>
read_node_list(const std::filesystem::path& file, const node_type_info& type,
               const table_ids* names = nullptr,
               node_naming naming = node_naming::either);

/// Edges that a user has listed.
struct edge_list_file {
  std::vector<named_edge> edges;
  /// As written: source, destination, and edge type, which may be empty.
  std::vector<std::array<std::string, 3>> texts;
};

/// Reads a CSV with the columns source and destination, and type where the
/// task has several edge types. Nodes are named as in `read_node_list`. Fails
/// with a sentence that names file and line.
/// @param info With a chosen task.
/// @param names By node type; null: nodes have numbers alone.
result<edge_list_file>
read_edge_list(const std::filesystem::path& file, const dataset_info& info,
               std::span<const std::shared_ptr<const table_ids>> names,
               node_naming naming = node_naming::either);

} // namespace graphmill
