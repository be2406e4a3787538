#include "partition/importers/npy/npy_times.hpp"

#include "partition/importers/npy/npy_values.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

namespace graphmill {

namespace {

/// The bits of the whole numbers that a type of floats has all of; nothing: it
/// is none of floats.
std::optional<int> exact_bits(dtype type) {
  switch (type) {
  case dtype::float16:
    return 11;
  case dtype::float32:
    return 24;
  case dtype::float64:
    return 53;
  default:
    return std::nullopt;
  }
}

/// The shortest text without an exponent that means this number in its type.
template <class Value>
std::string plain_text(Value value) {
  std::array<char, 512> room{};
  const auto done = std::to_chars(room.data(), room.data() + room.size(), value,
                                  std::chars_format::fixed);
  return {room.data(), done.ptr};
}

/// Fails with what is wrong, which follows "the time", as `time_text_reader`
/// does.
result<std::string> time_text_of(double value, int bits, dtype type) {
  if (!std::isfinite(value))
    return fail(ec::invalid_data, "is no finite number");
  if (std::abs(value) > std::ldexp(1.0, bits))
    return fail(ec::invalid_data,
                "may have been rounded, for {} has not every whole number of "
                "its size; save times as int64 or float64",
                to_string(type));
  return bits < 53 ? plain_text(static_cast<float>(value)) : plain_text(value);
}

} // namespace

result<std::vector<std::int64_t>> read_npy_times(const npy_array& array,
                                                 time_unit unit,
                                                 const note_callback& on_note) {
  if (array.type() == dtype::boolean)
    return fail(ec::invalid_data, "{} holds bool; times expected",
                array.path().string());
  time_text_reader reader{unit};
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(array.size()));
  const auto read = [&](const result<std::string>& text) -> result<void> {
    const auto time =
      text ? reader.read(text.value()) : result<std::int64_t>{text.error()};
    if (!time)
      return fail(ec::invalid_data, "{}: element {}: the time {}",
                  array.path().string(), out.size(), time.error().message);
    out.push_back(time.value());
    return ok();
  };
  if (const auto bits = exact_bits(array.type())) {
    GRAPHMILL_TRY(const auto values, read_doubles(array));
    for (const auto value : values)
      GRAPHMILL_TRYV(read(time_text_of(value, *bits, array.type())));
  } else {
    GRAPHMILL_TRY(const auto values, read_integers(array));
    for (const auto value : values)
      GRAPHMILL_TRYV(read(std::to_string(value)));
  }
  if (const auto told = reader.told(); !told.empty())
    tell_note(on_note, "{}: times are {}", array.path().filename().string(),
              told);
  GRAPHMILL_TRYV(reader.check_unit());
  return out;
}

} // namespace graphmill
