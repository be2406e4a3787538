#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/writing/kept_edges.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Features of the edges of one type on their way into features.npy. Edges come
/// in any order and are sorted into lists later, so rows wait in a file beside
/// it. First come all calls of `append`, then one of `write`, which removes
/// that file. Move-only; not thread-safe.
class kept_edge_features {
public:
  /// @param folder Of the type; it must be there.
  static result<kept_edge_features> create(const std::filesystem::path& folder,
                                           const dataset_info& info,
                                           edge_type_id type);

  /// Takes rows of values, one for each edge, in the order of the edges. A
  /// value that is not finite, or beyond float16 where that is the dtype, is an
  /// error that names its edge and column.
  result<void> append(std::span<const float> values);

  /// Writes the rows in the order of lists. Takes 8 bytes of memory for each
  /// edge. Fails unless each edge has a row.
  /// @param edges How many the lists have.
  /// @param placed Where each edge lies that was given, or that it lies
  /// nowhere.
  result<void> write(std::int64_t edges, const placed_edges& placed);

private:
  kept_edge_features(npy_writer out, std::filesystem::path folder)
    : waiting_(std::move(out)), folder_(std::move(folder)) {}

  npy_writer waiting_;
  std::filesystem::path folder_;
  std::string name_; ///< Of the type.
  std::int64_t width_ = 0;
  dtype type_ = dtype::float32;
  std::int64_t given_ = 0; ///< Values so far.
  std::vector<std::uint16_t> halves_;
};

} // namespace graphmill
