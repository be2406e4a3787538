#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// Widens elements [begin, begin + out.size()), counted row by row whichever
/// way they lie, of an integer array of any width; booleans are 0 and 1. Fails
/// on an array of floats, and on numbers of 2^63 and above, naming it.
result<void> copy_integers(const npy_array& array, std::int64_t begin,
                           std::span<std::int64_t> out);

/// Widens all elements of an integer array.
result<std::vector<std::int64_t>> read_integers(const npy_array& array);

/// Converts elements [begin, begin + out.size()), counted row by row, to
/// float32. Fails on an integer that float32 cannot hold exactly, naming it.
result<void> copy_floats(const npy_array& array, std::int64_t begin,
                         std::span<float> out);

/// The same to float64, for what is scaled and rounded afterwards: integers
/// beyond 2^53 are rounded.
result<void> copy_doubles(const npy_array& array, std::int64_t begin,
                          std::span<double> out);

/// Fails unless an array has a number for each row: [rows], or [rows, 1].
result<void> expect_numbers(const npy_array& array, std::int64_t rows);

/// Fails unless an array has numbers for each row: [rows, any], or [rows],
/// which is one column.
result<void> expect_columns(const npy_array& array, std::int64_t rows);

/// Columns of such an array.
std::int64_t columns_of(const npy_array& array);

/// Converts all elements to float64; large integers are rounded.
result<std::vector<double>> read_doubles(const npy_array& array);

} // namespace graphmill
