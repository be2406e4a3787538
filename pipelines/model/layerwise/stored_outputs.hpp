#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/kernels/model_layout.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace graphmill {

/// Outputs of all nodes at the ends of a task's edges that were computed
/// before: the files `embeddings.TYPE.npy` of a run that has predicted on a
/// cluster. They are mapped, not read.
class stored_outputs {
public:
  /// Whether the folder has those of all types with outputs.
  static bool are_in(const std::filesystem::path& folder,
                     const model_layout& layout, const dataset_info& info);

  /// Fails with `invalid_data` if they are not of these nodes and this width.
  static result<stored_outputs> open(const std::filesystem::path& folder,
                                     const model_layout& layout,
                                     const dataset_info& info);

  /// [nodes, output width], by original id.
  /// @param place In `model_layout::outputs`.
  const_matrix at(std::size_t place) const;

private:
  std::vector<npy_array> arrays_;
};

} // namespace graphmill
