#pragma once

#include "actors/cluster/client/client.hpp"
#include "messages/base/progress.hpp"

#include <filesystem>
#include <vector>

namespace graphmill {

/// Sends the files of a checkpoint to the coordinator, one after the other and
/// piece by piece, for `cluster_client::resume` of the same client. What the
/// coordinator has of them when this fails goes when the client does.
/// @param files The coordinator checks what is in them.
result<void> upload_files(cluster_client& client,
                          const std::vector<std::filesystem::path>& files,
                          const progress_callback& tell);

/// The same of the folder of a checkpoint.
result<void> upload_checkpoint(cluster_client& client,
                               const std::filesystem::path& folder,
                               const progress_callback& tell);

} // namespace graphmill
