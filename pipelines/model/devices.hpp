#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace graphmill {

/// Fails if libtorch knows no device of this name, or this machine has none.
result<void> check_device(const std::string& device);

/// CUDA devices that replicas in this process can compute on.
std::uint32_t cuda_devices();

/// The device for the `nth` of this process's replicas: `device`, a
/// definition's `trainer.device`, but "cuda" stands for all of `count` CUDA
/// devices, which are dealt out in turn.
std::string device_of(const std::string& device, std::size_t nth,
                      std::uint32_t count);

} // namespace graphmill
