#pragma once

#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/devices/bulk_carrier.hpp"
#include "pipelines/gradients/devices/orphan_threads.hpp"

#include <memory>

namespace graphmill {

/// Gives a group a second way for bulk. When `group` has joined, its ranks tell
/// each other their devices: if each has one of its own, they connect by
/// `factory`, and bulk goes there; if not, all stay with `group`. So every rank
/// decides alike. Returns at once; joining goes on in a thread. The destructor
/// returns at once, too: from then on no memory of an exchange is touched, and
/// the thread is an orphan until the library lets it go.
std::unique_ptr<collective>
join_by_devices(std::unique_ptr<collective> group, carrier_factory factory,
                std::shared_ptr<orphan_threads> orphans);

} // namespace graphmill
