#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace graphmill {

// Arrays of a dataset that has grown: what was there, and behind it what is
// new. Nothing here keeps more in memory than a few megabytes.

/// The same file under a new name: a second name where the file system has
/// these, else a copy. No dataset changes a file that is there.
result<void> take_file(const std::filesystem::path& from,
                       const std::filesystem::path& to);

/// An array, and behind it `more` bytes of elements of its type. Without any,
/// takes the file.
/// @param before May be null; then `like` says what the array is.
struct array_form {
  dtype type = dtype::float32;
  std::vector<std::int64_t> row_shape{};
};
result<void> write_longer(const npy_array* before, const array_form& like,
                          std::span<const std::byte> more,
                          const std::filesystem::path& to);

/// The same with each number of `more` greater by `shift`.
result<void> write_longer_ids(const npy_array* before,
                              std::span<const std::int64_t> more,
                              std::int64_t shift,
                              const std::filesystem::path& to);

/// The elements of an array.
std::span<const std::byte> bytes_of(const npy_array& array);

/// Edges of one type that a dataset has, and new ones. The new lists may be
/// more than those that were there. Borrows both.
struct grown_edges {
  const dataset::edge_arrays& before;
  const dataset::edge_arrays* more = nullptr; ///< Null: there are none.
  std::int64_t destinations = 0;              ///< Nodes, old and new.
  std::int64_t sources = 0;
};

/// Writes lists that each have the old edges and then the new ones, or all of
/// them by their times, degrees, and, if edges have them, times, weights with
/// their sums, and features. Completes
/// `about`: count, largest degree, and width of ids.
/// @param folder Of the type; it exists.
result<void> write_grown_edges(const grown_edges& edges, std::string_view name,
                               const std::filesystem::path& folder,
                               edge_type_info& about);

} // namespace graphmill
