#pragma once

#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/orphan_threads.hpp"
#include "pipelines/gradients/roll_call.hpp"

#include <memory>
#include <string>

namespace graphmill {

/// Connects a rank with all others by libtorch's c10d over Gloo (TCP, ports
/// that the system chooses, in the clear). Returns at once; joining goes on in
/// a thread of its own. The destructor ends all transfers and returns at once,
/// too: what is still joining is left to `orphans`. Threads that exchange block
/// SIGPIPE.
/// @param roll Whose options say who this is, and whose store ranks meet in.
/// @param fingerprint Must be the same on all ranks.
std::unique_ptr<collective>
join_by_gloo(std::shared_ptr<roll_call> roll, std::string fingerprint,
             std::shared_ptr<rendezvous_store> store,
             std::shared_ptr<orphan_threads> orphans);

} // namespace graphmill
