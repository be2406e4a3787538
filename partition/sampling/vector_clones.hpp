#pragma once

// A function marked with GRAPHMILL_CLONES is compiled once per vector unit, and
// the one that suits the processor is chosen while the program is loaded. That
// is before sanitizers are ready, so builds with them go without.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)            \
  && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#  define GRAPHMILL_CLONES                                                     \
    __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#  define GRAPHMILL_CLONES
#endif
