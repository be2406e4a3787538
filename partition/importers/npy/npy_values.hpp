#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Widens elements [begin, begin + out.size()) of an integer array of any
/// width. Fails on an array of floats, naming it.
result<void> copy_integers(const npy_array& array, std::int64_t begin,
                           std::span<std::int64_t> out);

/// Widens all elements of an integer array.
result<std::vector<std::int64_t>> read_integers(const npy_array& array);

/// Converts elements [begin, begin + out.size()) of a float16, float32 or
/// float64 array to float32. Fails on an array of integers, naming it.
result<void> copy_floats(const npy_array& array, std::int64_t begin,
                         std::span<float> out);

} // namespace graphmill
