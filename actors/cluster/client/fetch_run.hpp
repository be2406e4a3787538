#pragma once

#include "actors/cluster/client/client.hpp"
#include "messages/base/progress.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace graphmill {

/// What was brought here.
struct fetched_run {
  std::vector<std::string> files;
  std::uint64_t bytes = 0;
};

/// Copies the folder of a run from the coordinator to `folder`, which must not
/// exist: aside first, then renamed. What fails leaves nothing behind.
result<fetched_run> fetch_run(cluster_client& client, const std::string& run,
                              const std::filesystem::path& folder,
                              const progress_callback& tell);

/// Whether a file that a coordinator names may be made below a folder: a
/// relative path of ordinary names.
bool is_plain_path(const std::string& file);

} // namespace graphmill
