#pragma once

#include "actors/transport/transport.hpp"
#include "pipelines/gradients/rendezvous.hpp"

#include <memory>
#include <string>

namespace graphmill {

/// The store of a run's ranks that the coordinator keeps. Blocks the caller, a
/// thread of a gradient group, until the coordinator has answered.
std::shared_ptr<rendezvous_store> rendezvous_at(std::shared_ptr<transport> net,
                                                std::string coordinator,
                                                std::string run);

} // namespace graphmill
