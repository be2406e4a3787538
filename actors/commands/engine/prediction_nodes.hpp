#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"

#include <filesystem>
#include <vector>

namespace graphmill {

/// Original ids from a file that a user has written: a .npy of int64 or int32
/// with one extent, or else a text with one number in a line. The order, and
/// ids that come twice, are kept. Fails with a sentence that names the place of
/// the first one that is no node of the type, and if there are none.
result<std::vector<node_id>> read_node_list(const std::filesystem::path& file,
                                            const node_type_info& type);

} // namespace graphmill
