#include "pipelines/model/devices.hpp"

#include <ATen/ATen.h>

namespace graphmill {

result<void> check_device(const std::string& device) {
  try {
    const at::Device parsed{device};
    if (parsed.is_cpu())
      return ok();
    if (parsed.is_cuda() && !at::hasCUDA())
      return fail(ec::invalid_argument,
                  "trainer.device is {}, but there is no CUDA device here, or "
                  "this libtorch was built without CUDA",
                  device);
    at::empty({1}, at::TensorOptions().device(parsed));
    // Sums by index are atomic, and so in any order, unless asked otherwise.
    at::globalContext().setDeterministicAlgorithms(true, true);
    return ok();
  } catch (const std::exception&) {
    return fail(ec::invalid_argument,
                "trainer.device is {}, which libtorch cannot use here; try cpu",
                device);
  }
}

std::uint32_t cuda_devices() {
  try {
    return at::hasCUDA() ? static_cast<std::uint32_t>(at::getNumGPUs()) : 0;
  } catch (const std::exception&) {
    return 0; // A driver that does not work.
  }
}

std::string device_of(const std::string& device, std::size_t nth,
                      std::uint32_t count) {
  return device == "cuda" && count > 0 ? fmt::format("cuda:{}", nth % count)
                                       : device;
}

} // namespace graphmill
