#pragma once

#include "messages/base/error.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/model/passes/model_step.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace graphmill {

// Devices other than the CPU compute by libtorch. A program that is built with
// a libtorch with CUDA has them (torch_devices.cpp). Any other program has
// the CPU alone (no_devices.cpp) and is not linked with libtorch: Debian's
// would take half a second and 150 MB of each process.

/// Fails if this program knows no device of this name, or this machine has
/// none.
result<void> check_device(const std::string& device);

/// CUDA devices that replicas in this process can compute on.
std::uint32_t cuda_devices();

/// The device for the `nth` of this process's replicas: `device`, a
/// definition's `trainer.device`, but "cuda" stands for all of `count` CUDA
/// devices, which are dealt out in turn.
std::string device_of(const std::string& device, std::size_t nth,
                      std::uint32_t count);

/// What a step on a device is told besides its batch.
struct device_step {
  std::string device; ///< One that `check_device` allows, and not "cpu".
  bool training = false;
  std::uint64_t key = 0; ///< Of the dropout stream.
  float statistic = 0;   ///< For `begin_gradients`.
};

/// A step on a device. Borrows layout, parameters and batch.
std::unique_ptr<model_step> begin_on_device(const model_layout& layout,
                                            const parameter_store& parameters,
                                            const minibatch& batch,
                                            const device_step& how);

/// Keeps the operations of libtorch, where it is, on the thread that calls
/// them.
void keep_devices_single_threaded();

} // namespace graphmill
