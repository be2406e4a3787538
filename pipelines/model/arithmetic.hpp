#pragma once

#include <string>

namespace graphmill {

/// What a process computes its products of matrices and its exponentials with.
struct arithmetic {
  std::string name; ///< For people: libraries, versions, kernels.
  /// Of what they give for fixed numbers: one of products, a slash, one of
  /// exponentials.
  std::string digest;
};

/// Of this process. The replicas of a run stay equal on any mixture of CPUs,
/// for what all of them compute is fused or not by the code alone (see
/// pipelines/kernels/simd.hpp). The gradients that each brings come from
/// libraries with kernels for every kind of CPU, which round differently: only
/// trainers with the same digest give the same weights wherever they are
/// placed. Takes a few milliseconds; call `keep_libraries_single_threaded`
/// before.
arithmetic arithmetic_here();

} // namespace graphmill
