#include "partition/importers/npy/npy_values.hpp"

#include "partition/files/half.hpp"

#include <algorithm>
#include <cstddef>

namespace graphmill {

namespace {

template <class From, class To, class Convert>
result<void> copy(const npy_array& array, std::int64_t begin, std::span<To> out,
                  Convert convert) {
  const auto* from = reinterpret_cast<const From*>(array.data()) + begin;
  std::transform(from, from + out.size(), out.begin(), convert);
  return ok();
}

template <class From>
result<void> widen(const npy_array& array, std::int64_t begin,
                   std::span<std::int64_t> out) {
  return copy<From>(array, begin, out, [](From value) {
    return static_cast<std::int64_t>(value);
  });
}

template <class From>
result<void> to_float(const npy_array& array, std::int64_t begin,
                      std::span<float> out) {
  return copy<From>(array, begin, out,
                    [](From value) { return static_cast<float>(value); });
}

} // namespace

result<void> copy_integers(const npy_array& array, std::int64_t begin,
                           std::span<std::int64_t> out) {
  switch (array.type()) {
  case dtype::int8:
    return widen<std::int8_t>(array, begin, out);
  case dtype::uint8:
    return widen<std::uint8_t>(array, begin, out);
  case dtype::int16:
    return widen<std::int16_t>(array, begin, out);
  case dtype::int32:
    return widen<std::int32_t>(array, begin, out);
  case dtype::uint32:
    return widen<std::uint32_t>(array, begin, out);
  case dtype::int64:
    return widen<std::int64_t>(array, begin, out);
  default:
    return fail(ec::invalid_data, "{} holds {}; integers expected",
                array.path().string(), to_string(array.type()));
  }
}

result<std::vector<std::int64_t>> read_integers(const npy_array& array) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(array.size()));
  GRAPHMILL_TRYV(copy_integers(array, 0, values));
  return values;
}

result<void> copy_floats(const npy_array& array, std::int64_t begin,
                         std::span<float> out) {
  switch (array.type()) {
  case dtype::float16:
    return copy<std::uint16_t>(array, begin, out, from_half);
  case dtype::float32:
    return to_float<float>(array, begin, out);
  case dtype::float64:
    return to_float<double>(array, begin, out);
  default:
    return fail(ec::invalid_data,
                "{} holds {}; float16, float32 or float64 expected",
                array.path().string(), to_string(array.type()));
  }
}

} // namespace graphmill
