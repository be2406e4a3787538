#pragma once

#include "messages/base/error.hpp"

#include <chrono>
#include <filesystem>

namespace graphmill {

/// A disk that is full on purpose: what this process writes to files below a
/// folder fails with ENOSPC for a while. For `graphmill chaos`; of the process,
/// as a disk is. From any thread.
void fill_disk(std::filesystem::path folder,
               std::chrono::steady_clock::time_point until);

/// Asked by whatever writes to files of a run before it does. Costs one load
/// unless a disk is full on purpose.
/// @returns `ec::no_space` as a real disk gives it, with the file's name.
result<void> room_for(const std::filesystem::path& file);

} // namespace graphmill
