#include "pipelines/model/threads.hpp"

#include "pipelines/model/torch/devices.hpp"

#include <dlfcn.h>

namespace graphmill {

void keep_libraries_single_threaded() {
  keep_devices_single_threaded();
  // Products are already spread over the threads of replicas, chunk by chunk;
  // OpenBLAS's own would only fight for the cores. Another BLAS has no such
  // function.
  using setter = void (*)(int);
  if (auto* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<setter>(symbol)(1);
}

} // namespace graphmill
