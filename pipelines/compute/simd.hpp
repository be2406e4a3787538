#pragma once

// One function compiled for several instruction sets; the dynamic linker picks.
// Off under sanitizers, whose run time is not up when the linker asks.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)             \
  && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)                     \
  && !defined(__SANITIZE_THREAD__)
#  define GRAPHMILL_CLONES                                                     \
    __attribute__((                                                            \
      target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#  define GRAPHMILL_CLONES
#endif

#define GRAPHMILL_INLINE inline __attribute__((always_inline))

namespace graphmill::simd {

/// Sixteen floats: one AVX-512 register, or two AVX or four SSE ones.
using floats = float __attribute__((vector_size(64)));
/// The same at any address.
using loose_floats = float __attribute__((vector_size(64), aligned(4)));

inline constexpr int width = 16;

} // namespace graphmill::simd
