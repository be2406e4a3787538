#include "partition/importers/npy/npy_values.hpp"

#include "partition/files/half.hpp"
#include "partition/importers/exact_number.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace graphmill {

namespace {

template <class From, class To, class Convert>
result<void> copy(const npy_array& array, std::int64_t begin, std::span<To> out,
                  Convert convert) {
  const auto* from = reinterpret_cast<const From*>(array.data());
  if (!array.columns_first()) {
    std::transform(from + begin, from + begin + out.size(), out.begin(),
                   convert);
    return ok();
  }
  const auto rows = array.shape()[0];
  const auto columns = array.shape()[1];
  for (auto i = begin; auto& value : out) {
    value = convert(from[i % columns * rows + i / columns]);
    ++i;
  }
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
  case dtype::uint16:
    return widen<std::uint16_t>(array, begin, out);
  case dtype::boolean:
    return copy<std::uint8_t>(array, begin, out, [](std::uint8_t value) {
      return std::int64_t{value != 0};
    });
  case dtype::uint64: {
    GRAPHMILL_TRYV(widen<std::uint64_t>(array, begin, out));
    // What is above 2^63 - 1 has become negative.
    const auto high =
      std::ranges::find_if(out, [](std::int64_t value) { return value < 0; });
    if (high == out.end())
      return ok();
    return fail(ec::invalid_data,
                "{}: element {} is {}; numbers must be below 2^63, so number "
                "them anew",
                array.path().string(), begin + (high - out.begin()),
                static_cast<std::uint64_t>(*high));
  }
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

namespace {

/// Integers as floats, if all of them are the same as floats.
result<void> exact_floats(const npy_array& array, std::int64_t begin,
                          std::span<float> out) {
  std::vector<std::int64_t> integers(out.size());
  GRAPHMILL_TRYV(copy_integers(array, begin, integers));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (is_rounded_integer(integers[i]))
      return fail(ec::invalid_data,
                  "{}: element {} is {}; scale features with --normalise "
                  "standardise, or save the array as float32 if it may be "
                  "rounded",
                  array.path().string(), begin + static_cast<std::int64_t>(i),
                  rounded_integer_text(std::to_string(integers[i])));
    out[i] = static_cast<float>(integers[i]);
  }
  return ok();
}

} // namespace

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
    return exact_floats(array, begin, out);
  }
}

result<void> copy_doubles(const npy_array& array, std::int64_t begin,
                          std::span<double> out) {
  if (array.type() == dtype::float64)
    return copy<double>(array, begin, out, [](double value) { return value; });
  if (array.type() == dtype::float32 || array.type() == dtype::float16) {
    std::vector<float> narrow(out.size());
    GRAPHMILL_TRYV(copy_floats(array, begin, narrow));
    std::ranges::copy(narrow, out.begin());
    return ok();
  }
  std::vector<std::int64_t> integers(out.size());
  GRAPHMILL_TRYV(copy_integers(array, begin, integers));
  std::ranges::transform(integers, out.begin(), [](std::int64_t value) {
    return static_cast<double>(value);
  });
  return ok();
}

result<void> expect_numbers(const npy_array& array, std::int64_t rows) {
  return array.shape().size() == 2 ? array.expect_shape({rows, 1})
                                   : array.expect_shape({rows});
}

result<void> expect_columns(const npy_array& array, std::int64_t rows) {
  return array.shape().size() == 1 ? array.expect_shape({rows})
                                   : array.expect_shape({rows, -1});
}

std::int64_t columns_of(const npy_array& array) {
  return array.shape().size() == 1 ? 1 : array.shape()[1];
}

result<std::vector<double>> read_doubles(const npy_array& array) {
  std::vector<double> out(static_cast<std::size_t>(array.size()));
  GRAPHMILL_TRYV(copy_doubles(array, 0, out));
  return out;
}

} // namespace graphmill
