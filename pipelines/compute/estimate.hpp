#pragma once

#include "messages/definition.hpp"
#include "partition/dataset.hpp"

#include <cstdint>

namespace graphmill {

/// The activations that `estimate_memory` gives for the largest batch of a run
/// that one replica can get; 0 if the definition does not fit the dataset.
std::uint64_t largest_activations(const definition& def,
                                  const dataset_info& info);

} // namespace graphmill
