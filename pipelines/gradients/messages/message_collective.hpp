#pragma once

#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/devices/orphan_threads.hpp"
#include "pipelines/gradients/messages/rank_link.hpp"
#include "pipelines/gradients/roll_call.hpp"

#include <memory>
#include <string>

namespace graphmill {

/// Connects a rank with all others by messages over `link`. Returns at once;
/// joining, which is no more than the roll call, goes on in a thread of its
/// own. What is sent counts as done at once, for it is copied or has an owner.
/// A rank that leaves or is lost fails what is expected of it, whether anything
/// is on the way or not: each rank asks each other one to be told when it
/// leaves.
///
/// The destructor leaves the group and returns at once, too. What this rank has
/// sent and others have not taken may be lost then. A thread that waits for the
/// store of the roll call is left to `orphans`.
/// @param roll Whose options say who this is.
/// @param fingerprint Must be the same on all ranks.
std::unique_ptr<collective>
join_by_messages(std::shared_ptr<roll_call> roll, std::string fingerprint,
                 std::shared_ptr<rank_link> link,
                 std::shared_ptr<orphan_threads> orphans);

} // namespace graphmill
