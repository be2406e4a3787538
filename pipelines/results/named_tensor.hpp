#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A named parameter (or optimizer state) as plain memory, for files.
struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// The prefixes of parameter names in a training state (`replica::state`): of
/// moments of the optimizer, and of the best weights.
namespace state_names {
inline constexpr std::string_view first = "optimizer.first.";
inline constexpr std::string_view second = "optimizer.second.";
inline constexpr std::string_view best = "best.";
} // namespace state_names

/// Whether a tensor of a training state is a present weight.
inline bool is_weight(std::string_view name) {
  return !name.starts_with(state_names::first)
         && !name.starts_with(state_names::second)
         && !name.starts_with(state_names::best);
}

} // namespace graphmill
