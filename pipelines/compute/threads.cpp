#include "pipelines/replica.hpp"

#include <ATen/Parallel.h>

#include <dlfcn.h>

#include <algorithm>

namespace graphmill {

void set_compute_threads(unsigned threads) {
  at::set_num_threads(static_cast<int>(std::clamp(threads, 1u, 1024u)));
  // Products are already spread over the threads of replicas, chunk by chunk;
  // OpenBLAS's own would only fight for the cores. Another BLAS has no such
  // function.
  using setter = void (*)(int);
  if (auto* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<setter>(symbol)(1);
}

} // namespace graphmill
