#pragma once

#include <array>
#include <string_view>

namespace graphmill {

/// A limit as it was measured once. Kept beside the code, so that a limit whose
/// measurement has become slower is noticed, and not taken for a gain.
struct recorded_limit {
  std::string_view figure;
  double limit = 0; ///< In the unit of the figure.
  bool higher_is_faster = true;
};

/// Measured on `limits_machine`, at scale 20, with nothing else running.
inline constexpr std::string_view limits_machine =
  "AMD EPYC (Zen 5), 2-core cloud machine, 32 MB L3, Debian 12, gcc 12";
inline constexpr std::array recorded_limits{
  recorded_limit{"sampling", 73},
  recorded_limit{"gather", 24},
  recorded_limit{"assembly", 1800},
  // With OpenBLAS's kernels for AVX2 (OPENBLAS_CORETYPE=Haswell); those for
  // AVX-512 take 44 ms.
  recorded_limit{"step", 73.6, false},
};

/// A limit measured below this share of the recorded one is reported.
inline constexpr double least_fraction_of_limit = 0.7;

} // namespace graphmill
