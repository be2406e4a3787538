#pragma once

#include "messages/error.hpp"
#include "messages/progress.hpp"

#include <filesystem>
#include <functional>

namespace graphmill {

/// Prepares `target` (a folder that does not exist yet) exactly once, safely
/// among many processes and threads: takes a lock beside it, and if the folder
/// is there meanwhile, returns false and leaves it alone; otherwise calls
/// `build` with a private temporary folder beside it, fsyncs and renames. A
/// killed process leaves only a temporary folder that the next one removes. An
/// error of `build` is passed on unchanged and nothing is left behind. Missing
/// parents are made. An empty folder counts as not there.
/// @param on_progress Also told when this process waits for another one.
/// @returns true if this call has built it.
result<bool> prepare_folder(
  const std::filesystem::path& target,
  const std::function<result<void>(const std::filesystem::path&)>& build,
  const progress_callback& on_progress = {});

/// Removes what `prepare_folder` has begun for `target`, and its lock; from
/// another thread, while `build` is on, in a process that ends right after it.
void abandon_folder(const std::filesystem::path& target);

} // namespace graphmill
