#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/shard.hpp"

#include <filesystem>
#include <memory>
#include <optional>

namespace graphmill {

/// Opens a graph that was opened before. Its seeds are those that lie there
/// now; all else must be as it was, since plans rest on it and other processes
/// were told of it. Fails with `invalid_data` and a sentence that says what
/// differs.
result<std::shared_ptr<const partitioned_graph>>
reopen(const std::filesystem::path& folder, const partitioned_graph& before);

/// A graph that was opened, with labels as a run has learnt them, none of which
/// is known (`with_unknown_labels`); as it is, if nothing is said of them.
result<std::shared_ptr<const partitioned_graph>>
as_learnt(result<std::shared_ptr<const partitioned_graph>> graph,
          const std::optional<label_meaning>& learnt);

} // namespace graphmill
