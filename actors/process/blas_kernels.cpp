#include "actors/process/blas_kernels.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace graphmill {

namespace {

constexpr auto variable = "OPENBLAS_CORETYPE";

/// OpenBLAS's names of kernels without AVX2.
constexpr std::string_view old_kernels[]{
  "Athlon",       "Atom",   "Banias",     "Barcelona",  "Bobcat",
  "Bulldozer",    "Core2",  "Coppermine", "Dunnington", "Generic",
  "Katmai",       "Nano",   "Nehalem",    "Northwood",  "Opteron",
  "Opteron_SSE3", "Penryn", "Piledriver", "Prescott",   "Sandybridge",
  "Steamroller"};

std::string told_by_openblas(const char* function) {
  using getter = char* (*)();
  auto* found = dlsym(RTLD_DEFAULT, function);
  return found == nullptr ? std::string{}
                          : std::string{reinterpret_cast<getter>(found)()};
}

} // namespace

std::string_view faster_blas_kernels(std::string_view chosen, bool avx2,
                                     bool avx512) {
  if (!avx2 || std::ranges::find(old_kernels, chosen) == std::end(old_kernels))
    return {};
  return avx512 ? "SkylakeX" : "Haswell";
}

void use_fast_blas_kernels([[maybe_unused]] char** argv) {
#if defined(__x86_64__)
  if (std::getenv(variable) != nullptr)
    return;
  // Only a library with kernels for several CPUs has a choice.
  if (told_by_openblas("openblas_get_config").find("DYNAMIC_ARCH")
      == std::string::npos)
    return;
  const auto avx2 =
    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const auto avx512 =
    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd")
    && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
    && __builtin_cpu_supports("avx512vl");
  const auto kernels = faster_blas_kernels(
    told_by_openblas("openblas_get_corename"), avx2, avx512);
  if (kernels.empty())
    return;
  ::setenv(variable, kernels.data(), 0);
  ::execv("/proc/self/exe", argv);
  ::unsetenv(variable); // It is slower, but it works.
#endif
}

} // namespace graphmill
