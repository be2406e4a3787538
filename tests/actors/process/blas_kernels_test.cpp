#include "actors/process/blas_kernels.hpp"

#include "tests/support/catch.hpp"

using namespace graphmill;

CATCH_TEST_CASE("kernels of OpenBLAS are replaced only by faster ones",
                "[process][blas]") {
  CATCH_CHECK(faster_blas_kernels("Prescott", true, true) == "SkylakeX");
  CATCH_CHECK(faster_blas_kernels("Prescott", true, false) == "Haswell");
  CATCH_CHECK(faster_blas_kernels("Prescott", false, false).empty());
  for (const auto* fine : {"Haswell", "SkylakeX", "Zen", "Cooperlake",
                           "SapphireRapids", "of a later OpenBLAS"})
    CATCH_CHECK(faster_blas_kernels(fine, true, true).empty());
}
