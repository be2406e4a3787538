#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <filesystem>

namespace graphmill {

/// Removes all checkpoints of a folder but the newest ones.
result<void> keep_newest(const std::filesystem::path& folder,
                         std::uint32_t keep);

/// How many checkpoints stay of a run that has come to its end: the newest one,
/// which says all that the run goes on from if it is to be trained for longer.
/// The one before it is there in case the newest is damaged. More than these
/// two are kept if the user wants them.
/// @param keep What the definition says of the run while it is on.
constexpr std::uint32_t kept_at_end(std::uint32_t keep) {
  return keep == 2 ? 1 : keep;
}

} // namespace graphmill
