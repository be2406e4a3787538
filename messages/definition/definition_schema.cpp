#include "messages/definition/definition_schema.hpp"

#include "messages/definition/definition.capnp.h"
#include "messages/definition/notes.capnp.h"

#include <fmt/format.h>

#include <cmath>

namespace graphmill {

namespace {

// The ids of the annotations in definition.capnp.
constexpr std::uint64_t help_id = 0xd6e92b1a68d4092dull;
constexpr std::uint64_t unit_id = 0xe602961d548ae841ull;
constexpr std::uint64_t range_id = 0xa0d7209687d6ad21ull;
constexpr std::uint64_t length_id = 0xa225aa28a2e26654ull;
constexpr std::uint64_t required_id = 0xc78c507eb9cc14ceull;
constexpr std::uint64_t per_key_id = 0xadee0f13ef100f5aull;
constexpr std::uint64_t word_id = 0xb1f7c34d92e6a805ull;
constexpr std::uint64_t least_id = 0x9b1f4c7d2e6a5083ull;
constexpr std::uint64_t detail_id = 0xc5a81e0f7b3d2946ull;

value_range range_of(capnp::schema::Value::Reader value) {
  const auto range = value.getStruct().getAs<schema::Range>();
  return {range.getMin(), range.getMax()};
}

named_value word_of(capnp::schema::Value::Reader value) {
  const auto word = value.getStruct().getAs<schema::Word>();
  return {word.getName().cStr(), word.getValue()};
}

/// Whole numbers without a point; others with as few digits as read back as the
/// same number.
std::string number_text(double value) {
  if (value == 0x1p64) // the limit of 64 bits, which a double rounds up
    return "2^64 - 1";
  if (std::floor(value) == value && std::abs(value) < 1e18)
    return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

} // namespace

capnp::StructSchema definition_schema() {
  return capnp::Schema::from<schema::Definition>();
}

field_notes notes_of(capnp::StructSchema::Field field) {
  field_notes notes;
  for (auto annotation : field.getProto().getAnnotations()) {
    const auto value = annotation.getValue();
    switch (annotation.getId()) {
    case help_id:
      notes.help = value.getText().cStr();
      break;
    case unit_id:
      notes.unit = value.getText().cStr();
      break;
    case range_id:
      notes.range = range_of(value);
      break;
    case length_id:
      notes.length = range_of(value);
      break;
    case required_id:
      notes.required = true;
      break;
    case per_key_id:
      notes.per_key = value.getText().cStr();
      break;
    case word_id:
      notes.word = word_of(value);
      break;
    case least_id:
      notes.least = value.getText().cStr();
      break;
    case detail_id:
      notes.detail = value.getText().cStr();
      break;
    default:
      break;
    }
  }
  return notes;
}

std::string user_name(capnp::StructSchema::Field field) {
  return user_name(std::string_view{field.getProto().getName().cStr()});
}

std::string range_text(const value_range& range, std::string_view unit) {
  std::string out;
  if (std::isinf(range.max))
    out = fmt::format("at least {}", number_text(range.min));
  else if (std::isinf(range.min))
    out = fmt::format("at most {}", number_text(range.max));
  else
    out = fmt::format("from {} to {}", number_text(range.min),
                      number_text(range.max));
  return unit.empty() ? out : fmt::format("{} {}", out, unit);
}

} // namespace graphmill
