#include "pipelines/model/torch/devices.hpp"
#include "pipelines/model/torch/torch_model.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <dlfcn.h>

#include <cstdint>

namespace graphmill {

namespace {

/// libtorch makes the pool of its default size before that of the size wanted,
/// and its pools wait for ever for threads that the system refuses them. So the
/// default is 1, too. Its option lies in one of two namespaces, as libtorch was
/// built with gflags or without.
void forgo_default_pool() {
  for (const auto* option :
       {"_ZN3fLI22FLAGS_pthreadpool_sizeE", "_ZN3c1022FLAGS_pthreadpool_sizeE"})
    if (auto* size = dlsym(RTLD_DEFAULT, option))
      *static_cast<std::int32_t*>(size) = 1;
}

} // namespace

result<void> check_device(const std::string& device) {
  try {
    const at::Device parsed{device};
    if (parsed.is_cpu())
      return ok();
    if (parsed.is_cuda() && !at::hasCUDA())
      return fail(ec::invalid_argument,
                  "trainer.device is {}, but there is no CUDA device here",
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

std::unique_ptr<model_step> begin_on_device(const model_layout& layout,
                                            const parameter_store& parameters,
                                            const minibatch& batch,
                                            const device_step& how) {
  return std::make_unique<torch_model>(layout, parameters, batch, how);
}

void keep_devices_single_threaded() {
  forgo_default_pool();
  at::set_num_threads(1);
}

} // namespace graphmill
