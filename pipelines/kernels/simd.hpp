#pragma once

// A function with GRAPHMILL_CLONES is compiled for several instruction sets, of
// which the dynamic linker picks one. It is compiled only once with other
// compilers and on other systems; under sanitizers, whose run time is not up
// when the linker asks; and with GRAPHMILL_ONE_LEVEL, to compare what each
// instruction set gives.
//
// Some kernels have two versions, because their loops use every register.
// GRAPHMILL_WIDE marks the version for registers of sixteen floats.
// GRAPHMILL_NARROW marks the version for registers of eight or four.
// `simd::has_wide_registers` chooses between them. Each is compiled only for
// the processors that run it.
#if !defined(GRAPHMILL_ONE_LEVEL) && defined(__x86_64__) && defined(__linux__) \
  && defined(__GNUC__) && !defined(__clang__)                                  \
  && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#  define GRAPHMILL_CLONES                                                     \
    __attribute__((                                                            \
      target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
// The instructions of x86-64-v4. Functions for all processors are inlined into
// those for more instructions, but not into those for another architecture.
#  define GRAPHMILL_WIDE                                                       \
    __attribute__((                                                            \
      target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi,"  \
             "bmi2,lzcnt,movbe")))
#  define GRAPHMILL_NARROW                                                     \
    __attribute__((target_clones("arch=x86-64-v3", "default")))
#elif defined(__GNUC__) && !defined(__clang__)
// As of clones, callers and compiler know nothing of it but its type.
#  define GRAPHMILL_CLONES __attribute__((noipa))
#  define GRAPHMILL_WIDE GRAPHMILL_CLONES
#  define GRAPHMILL_NARROW GRAPHMILL_CLONES
#else
#  define GRAPHMILL_CLONES __attribute__((noinline))
#  define GRAPHMILL_WIDE GRAPHMILL_CLONES
#  define GRAPHMILL_NARROW GRAPHMILL_CLONES
#endif

#define GRAPHMILL_INLINE inline __attribute__((always_inline))

namespace graphmill::simd {

/// Sixteen floats: one AVX-512 register, or two AVX or four SSE ones.
using floats = float __attribute__((vector_size(64)));

inline constexpr int width = 16;

/// Eight floats: one AVX register, or two SSE ones. For kernels whose columns
/// do not depend on each other. Compilers keep arrays of these in registers
/// with AVX2, too, and there compute with those of `floats` one by one.
using octet = float __attribute__((vector_size(32)));
inline constexpr int octet_width = 8;

/// @tparam V floats or octet
template <class V>
inline constexpr int width_of = sizeof(V) / sizeof(float);

/// The value of a vector at any address, which need not be a multiple of its
/// size.
/// @tparam V floats or octet
template <class V>
GRAPHMILL_INLINE V load(const float* from) {
  V out;
  __builtin_memcpy(&out, from, sizeof out);
  return out;
}

/// The same for a value that is used several times. Compilers then keep it in a
/// register, where they else read it again for each use: products of two
/// matrices are limited by what is read.
template <class V>
GRAPHMILL_INLINE V load_once(const float* from) {
  using unaligned __attribute__((aligned(4), may_alias)) = V;
  return *reinterpret_cast<const volatile unaligned*>(from);
}

template <class V>
GRAPHMILL_INLINE void store(const V& x, float* to) {
  __builtin_memcpy(to, &x, sizeof x);
}

template <class V>
GRAPHMILL_INLINE V spread(float x) {
  return x - V{};
}

/// Whether a register holds sixteen floats, and the processor has all
/// instructions of GRAPHMILL_WIDE.
#if defined(GRAPHMILL_ONE_LEVEL) && defined(__AVX512F__)
constexpr bool has_wide_registers() {
  return true;
}
#elif defined(GRAPHMILL_ONE_LEVEL) || !defined(__x86_64__)
constexpr bool has_wide_registers() {
  return false;
}
#else
inline bool has_wide_registers() {
  static const bool wide =
    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
    && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
    && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
  return wide;
}
#endif

/// a * b + c, rounded once. Sums of products are written with it wherever it
/// pays, and the compiler fuses none by itself (-ffp-contract=off): so a kernel
/// gives the same bits for every instruction set. Without an instruction for it
/// (CPUs before 2013) it is a slow call, but the same number.
GRAPHMILL_INLINE float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
GRAPHMILL_INLINE floats fused(floats a, floats b, floats c) {
  floats out;
  for (int i = 0; i < width; ++i)
    out[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return out;
}

GRAPHMILL_INLINE octet fused(octet a, octet b, octet c) {
  octet out;
  for (int i = 0; i < octet_width; ++i)
    out[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return out;
}

} // namespace graphmill::simd
