#pragma once

#include "partition/files/npy/npy.hpp"
#include "tests/support/result.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace graphmill::test {

/// The values of an array of elements of type T.
template <class T>
std::vector<T> list(const npy_array& array) {
  const auto values = value_of(array.as<T>());
  return {values.begin(), values.end()};
}

/// Writes an array of elements of type T; without a shape, of one dimension.
template <class T>
void put_array(const std::filesystem::path& path, const std::vector<T>& values,
               std::vector<std::int64_t> shape = {}) {
  if (shape.empty())
    shape = {std::ssize(values)};
  value_of(write_npy_bytes(path, dtype_of<T>(), shape,
                           std::as_bytes(std::span{values})));
}

} // namespace graphmill::test
