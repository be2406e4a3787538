#pragma once

#include "messages/base/error.hpp"

#include <filesystem>

namespace graphmill {

/// Has the curves of a run lie in a new folder elsewhere, to which a link in
/// the run folder leads. Whoever makes run folders for others can lay links to
/// all that these may write, so that both folders get a file `curves.id` with
/// the same random words, which that one could not put into the other folder.
/// @param link In the run folder; made here.
/// @param place Not there yet; its parents may be missing.
result<void> make_event_place(const std::filesystem::path& link,
                              const std::filesystem::path& place);

/// Where the curves of a run lie: in `folder` or, if that is a link that
/// `make_event_place` has made, where it leads. A run folder may have been
/// moved or copied since.
/// @returns `not_found` if it leads nowhere, `permission` of any other link.
result<std::filesystem::path> event_place(const std::filesystem::path& folder);

} // namespace graphmill
