#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/shard.hpp"

#include <filesystem>
#include <memory>

namespace graphmill {

/// Opens a graph that was opened before. Its seeds are those that lie there
/// now; all else must be as it was, since plans rest on it and other processes
/// were told of it. Fails with `invalid_data` and a sentence that says what
/// differs.
result<std::shared_ptr<const partitioned_graph>>
reopen(const std::filesystem::path& folder, const partitioned_graph& before);

} // namespace graphmill
