#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// A named parameter (or optimizer state) as plain memory, for files.
struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

} // namespace graphmill
