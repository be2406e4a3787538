#include "partition/files/npy/npy.hpp"

#include "partition/files/npy/npy_header.hpp"
#include "tests/fuzz/registry.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Arrays: the header against the size of the file, and the elements.

namespace graphmill::fuzz {

namespace {

/// Reads all elements: a mapping that is too short ends the process.
template <class T>
std::uint64_t sum_of(std::span<const T> values) {
  std::uint64_t out = 0;
  for (const auto value : values)
    out += value != T{};
  return out;
}

void read_npy(std::string_view input) {
  const auto path = scratch() / "array.npy";
  put_file(path, input);
  const auto parsed =
    parse_npy_header(std::as_bytes(std::span{input.data(), input.size()}));
  const auto opened = npy_array::open(path);
  require(parsed.has_value() == opened.has_value(),
          "a header is sound by itself and not in a file, or the reverse");
  if (!opened)
    return;
  const auto& array = opened.value();
  const auto& header = parsed.value();
  require(array.shape() == header.shape && array.type() == header.type,
          "an array of another shape than its header says");
  const auto bytes =
    static_cast<std::size_t>(array.size()) * size_of(array.type());
  require(array.size() >= 0 && header.data_offset + bytes == input.size(),
          "an array that does not fill its file");
  const std::span<const std::byte> all{array.data(), bytes};
  (void)sum_of(all);
  if (const auto values = array.as<std::int64_t>())
    (void)sum_of(values.value());
  const auto whole = format_npy_header(array.type(), array.shape())
                     + std::string{input.substr(header.data_offset)};
  const auto again =
    parse_npy_header(std::as_bytes(std::span{whole.data(), whole.size()}));
  require(again && again.value().shape == header.shape
            && again.value().type == header.type,
          "a header that was written down reads as another one");
}

std::string npy_of(dtype type, std::vector<std::int64_t> shape,
                   std::size_t bytes) {
  return format_npy_header(type, shape) + std::string(bytes, '\1');
}

std::vector<std::string> array_seeds() {
  const std::string hand =
    "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";
  return {
    npy_of(dtype::int64, {3}, 24),
    npy_of(dtype::float32, {2, 3}, 24),
    npy_of(dtype::float16, {0, 7}, 0),
    npy_of(dtype::uint8, {}, 1),
    std::string{"\x93NUMPY\x01\x00", 8}
      + std::string{static_cast<char>(hand.size() + 1), '\0'} + hand + "\n"
      + std::string(16, '\2'),
    std::string{"\x93NUMPY\x02\x00", 8}
      + std::string{static_cast<char>(hand.size() + 1), '\0', '\0', '\0'} + hand
      + "\n" + std::string(16, '\2'),
  };
}

} // namespace

const harness npy_harness{"npy", "arrays in .npy files", read_npy, array_seeds,
                          6000};

} // namespace graphmill::fuzz
