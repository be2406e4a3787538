#include "pipelines/model/torch/devices.hpp"

#include <stdexcept>

namespace graphmill {

result<void> check_device(const std::string& device) {
  if (device == "cpu")
    return ok();
  return fail(ec::invalid_argument,
              "trainer.device is {}, but this program was built without CUDA; "
              "use cpu, or build with -Dlibtorch=PATH of a libtorch with CUDA",
              device);
}

std::uint32_t cuda_devices() {
  return 0;
}

std::unique_ptr<model_step> begin_on_device(const model_layout&,
                                            const parameter_store&,
                                            const minibatch&,
                                            const device_step&) {
  throw std::logic_error{"there are no devices besides the CPU"};
}

void keep_devices_single_threaded() {}

} // namespace graphmill
