#include "pipelines/model/threads.hpp"

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

void keep_libraries_single_threaded() {
  forgo_default_pool();
  at::set_num_threads(1);
  // Products are already spread over the threads of replicas, chunk by chunk;
  // OpenBLAS's own would only fight for the cores. Another BLAS has no such
  // function.
  using setter = void (*)(int);
  if (auto* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<setter>(symbol)(1);
}

} // namespace graphmill
