#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace graphmill {

/// Limits within which sizes computed from a dataset.json cannot overflow.
inline constexpr std::size_t most_types = 4096;     ///< Of nodes, and of edges.
inline constexpr std::size_t most_label_sets = 256; ///< Of a node type.
inline constexpr std::int64_t most_items = std::int64_t{1} << 48;
inline constexpr std::int64_t most_columns = std::int64_t{1} << 24;
inline constexpr std::int64_t most_classes =
  traits_of(label_kind::classes).most;
/// So many classes cost little, with or without nodes.
inline constexpr std::int64_t unquestioned_classes = 4096;
/// The rows of features of a node type, and its rows of labels: 1 PiB.
inline constexpr std::uint64_t most_array_bytes = std::uint64_t{1} << 50;
inline constexpr std::int64_t most_degree = (std::int64_t{1} << 31) - 1;

/// Whether `name` may be the name of a node type or the middle of an edge
/// type's name: it becomes part of file names, and "__" separates the three
/// parts.
/// @param where The place of the name, for the error.
result<void> check_name(std::string_view name, std::string_view where);

/// Whether names are valid and unique, counts agree with each other, and ids
/// of types exist.
result<void> check_info(const dataset_info& info, std::string_view where);

/// Sparse features of a node type, instead of features.npy.
inline constexpr const char* sparse_indptr_file = "features.indptr.npy";
inline constexpr const char* sparse_indices_file = "features.indices.npy";
inline constexpr const char* sparse_values_file = "features.values.npy";

/// Of edges that have weights.
inline constexpr const char* weights_file = "weights.npy";
inline constexpr const char* in_weights_file = "in_weights.npy";
inline constexpr const char* out_weights_file = "out_weights.npy";

/// Of edges that have levels.
inline constexpr const char* visible_file = "visible.npy";

/// Of nodes, or of edges, in the folder of their type.
inline constexpr const char* features_file = "features.npy";
inline constexpr const char* times_file = "times.npy";

/// A line for each node of a table, in the folder of its type.
inline constexpr const char* ids_file = "ids.txt";

/// The folder of the arrays of a type.
std::filesystem::path node_folder(const std::filesystem::path& dataset,
                                  const dataset_info& info, node_type_id type);
std::filesystem::path edge_folder(const std::filesystem::path& dataset,
                                  const dataset_info& info, edge_type_id type);

} // namespace graphmill
