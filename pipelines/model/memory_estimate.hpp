#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/sampling/sampling.hpp"

#include <cstdint>

namespace graphmill {

/// Bytes of parameters and optimizer state, and of the activations of the
/// largest batch `bound` allows. Estimates for `plan` and the memory bound.
struct memory_estimate {
  std::uint64_t parameters = 0;
  std::uint64_t activations = 0;
};
memory_estimate estimate_memory(const definition& def, const dataset_info& info,
                                const subgraph_bound& bound);

/// The activations that `estimate_memory` gives for the largest batch of a run
/// that one replica can get; 0 if the definition does not fit the dataset.
std::uint64_t largest_activations(const definition& def,
                                  const dataset_info& info);

} // namespace graphmill
