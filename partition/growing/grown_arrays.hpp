#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace graphmill {

// Writes arrays of a dataset that grows: the elements that were there, and
// behind them the new ones. A few megabytes at a time are in memory.

/// Gives a file a second name, or copies it where the file system has no second
/// names. Both stay as they are, for no dataset changes its files.
result<void> take_file(const std::filesystem::path& from,
                       const std::filesystem::path& to);

/// Elements of an array.
struct array_form {
  dtype type = dtype::float32;
  std::vector<std::int64_t> row_shape{}; ///< Of each row; empty: one element.
};

/// Writes an array and, behind it, more rows. Without any, takes the file.
/// @param before Null: there is none, and rows are as `like` says.
/// @param more The bytes of the new rows.
result<void> write_longer(const npy_array* before, const array_form& like,
                          std::span<const std::byte> more,
                          const std::filesystem::path& to);

/// The same of ids, or positions, with `shift` added to each new one.
result<void> write_longer_ids(const npy_array* before,
                              std::span<const std::int64_t> more,
                              std::int64_t shift,
                              const std::filesystem::path& to);

/// Positions of lists, checked: they ascend, and end where the edges do.
result<std::span<const std::int64_t>>
checked_lists(const dataset::edge_arrays& edges);

/// The order of old and new edges of a leveled type.
struct grown_order {
  /// [edges] In the order of lists: an old edge by its place, a new one as -1
  /// and below.
  std::vector<std::int64_t> edges;
  std::vector<std::int32_t> visible; ///< [destinations, 2] As visible.npy.
};

/// Edges of one type that a dataset has, and new ones. Each has a list of edges
/// for each destination that it knows, and the new ones may know more. Borrows
/// both.
struct grown_edges {
  const dataset::edge_arrays& before;
  const dataset::edge_arrays* more = nullptr; ///< Null: there are none.
  std::int64_t destinations = 0;              ///< Nodes, old and new.
  std::int64_t sources = 0;
  const grown_order* order = nullptr; ///< Of a leveled type, else null.
};

/// Writes a list for each destination, and degrees; if edges have them, also
/// times, weights with their sums, features, and ends of levels. A list has its
/// old edges and then its new ones. With times it ascends, and of equal times
/// the old edges come first. Edges of a leveled type lie as their order says.
/// @param name Of the type, for errors.
/// @param folder Of the type; it exists.
/// @param about Gets the number of edges, the largest degree, and the width of
/// ids.
result<void> write_grown_edges(const grown_edges& edges, std::string_view name,
                               const std::filesystem::path& folder,
                               edge_type_info& about);

} // namespace graphmill
