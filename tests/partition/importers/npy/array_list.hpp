#pragma once

#include "partition/files/npy/npy.hpp"
#include "tests/support/result.hpp"

#include <vector>

namespace graphmill::test {

/// The values of an array of elements of type T.
template <class T>
std::vector<T> list(const npy_array& array) {
  const auto values = value_of(array.as<T>());
  return {values.begin(), values.end()};
}

} // namespace graphmill::test
