#pragma once

#include <string_view>

namespace graphmill {

/// OpenBLAS does not know CPUs that are younger than it, and then takes kernels
/// that any CPU can run: with 0.3.21, products on an Intel Xeon of 2023 take
/// four times as long. In such a case this starts the process anew with the
/// variable OPENBLAS_CORETYPE, which OpenBLAS reads when it is loaded. Does
/// nothing if the variable is set. To be called at the very beginning.
void use_fast_blas_kernels(char** argv);

/// The kernels to be taken instead of those that OpenBLAS has chosen.
/// @param chosen As OpenBLAS names it. @param avx2 Whether this CPU has AVX2
/// and FMA. @param avx512 Whether it has what kernels for AVX-512 need.
/// @returns a name; empty: the choice is fine.
std::string_view faster_blas_kernels(std::string_view chosen, bool avx2,
                                     bool avx512);

} // namespace graphmill
