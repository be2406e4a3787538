#pragma once

#include "actors/commands/engine/table_ids.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"

#include <filesystem>
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

} // namespace graphmill
