#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/npy/npy_folder.hpp"
#include "partition/importers/row_norm.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Opens the features of an edge type, if it has some: `edge_attr.npy` or one
/// of a few other names. Fails if there are several, or if they are no array of
/// a row, or a number, for each edge.
/// @param prefix What stands before the names of the type's files.
result<std::optional<npy_array>>
open_npy_edge_features(npy_folder& folder, const std::string& prefix,
                       std::int64_t edges);

/// Scales and rounds the features of edges on their way to a writer. Value
/// type.
class npy_edge_scaler {
public:
  /// Reads the array if `norm` needs all of its values at once.
  static result<npy_edge_scaler> make(const npy_array& array, row_norm norm);

  /// Rows [first, first + rows), scaled. Valid until the next call. Fails on
  /// integers that float32 cannot hold exactly, unless they are scaled.
  result<std::span<const float>> rows(std::int64_t first, std::int64_t rows);

private:
  npy_edge_scaler(const npy_array& array, row_norm norm);

  const npy_array* array_;
  row_norm norm_;
  std::int64_t width_;
  column_scale scale_;
  std::vector<double> wide_;
  std::vector<float> narrow_;
};

} // namespace graphmill
