#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// What the header of a `.npy` file says (numpy.lib.format, versions 1 to 3).
struct npy_header {
  dtype type = dtype::float32;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0; ///< Where the elements begin.
  std::int64_t size = 0;       ///< Elements in all.
  bool columns_first = false;  ///< In Fortran order; only of several extents.
};

/// Reads a header and checks it against the size of the file.
/// @param file The whole file.
/// @param any Whether Fortran order and types that Graphmill does not write are
/// welcome.
/// @returns An error whose message lacks the file's name: the caller adds it.
result<npy_header> parse_npy_header(std::span<const std::byte> file,
                                    bool any = false);

/// The header of a C-order array, padded so that the elements begin at a
/// multiple of 64 bytes.
/// @param width At least so many bytes, so that a header can be replaced by one
/// of more rows.
std::string format_npy_header(dtype type, std::span<const std::int64_t> shape,
                              std::size_t width = 0);

} // namespace graphmill
