#pragma once

#include "pipelines/gradients/devices/bulk_carrier.hpp"
#include "pipelines/gradients/rendezvous.hpp"
#include "pipelines/gradients/roll_call.hpp"

#include <memory>
#include <string>

namespace graphmill {

/// Connects CUDA devices by NCCL, through libtorch's c10d. NCCL opens
/// connections of its own, in the clear, on the interface that its variable
/// NCCL_SOCKET_IFNAME names. Without a device when `device` is none of CUDA's,
/// or this program was built without NCCL.
/// @param device As `replica::device` gives it: "cpu", "cuda:1".
carrier_factory nccl_factory(const std::string& device,
                             std::shared_ptr<roll_call> roll,
                             std::shared_ptr<rendezvous_store> store);

/// Keeps libtorch from ending the process when an exchange fails or hangs, as
/// it does by default: here the rank of a group finds that out, and a new
/// generation follows. Sets variables of the environment, so it is to be called
/// before there are threads.
void keep_process_alive();

} // namespace graphmill
