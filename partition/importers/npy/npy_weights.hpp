#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/npy/npy_folder.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace graphmill {

/// Opens the weights of an edge type, if it has some: `edge_weight.npy` or one
/// of a few other names. Fails if there are several, or if they are no list of
/// a number for each edge.
/// @param prefix What stands before the names of the type's files.
result<std::optional<npy_array>> open_npy_weights(npy_folder& folder,
                                                  const std::string& prefix,
                                                  std::int64_t edges);

/// Converts weights [begin, begin + out.size()) to float32. Fails on what is no
/// weight, naming it, and on an integer that float32 cannot hold exactly.
result<void> copy_weights(const npy_array& array, std::int64_t begin,
                          std::span<float> out);

} // namespace graphmill
