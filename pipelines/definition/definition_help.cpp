#include "pipelines/definition/definition_help.hpp"

#include "pipelines/definition/yaml/scalar_text.hpp"

#include <capnp/message.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace graphmill {

namespace {

using field = capnp::StructSchema::Field;
using which = capnp::schema::Type::Which;

template <class T>
value_range limits_of() {
  return {static_cast<double>(std::numeric_limits<T>::min()),
          static_cast<double>(std::numeric_limits<T>::max())};
}

/// Double quotes, with the escapes that YAML and JSON share.
std::string quoted_text(capnp::Text::Reader text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\';
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + '"';
}

std::string element_text(capnp::DynamicValue::Reader value) {
  switch (value.getType()) {
  case capnp::DynamicValue::TEXT:
    return quoted_text(value.as<capnp::Text>());
  case capnp::DynamicValue::FLOAT:
    return fmt::format("{}", value.as<double>());
  default:
    return fmt::format("{}", value.as<std::int32_t>());
  }
}

std::string list_text(capnp::DynamicList::Reader list) {
  std::vector<std::string> values;
  for (auto value : list)
    values.push_back(element_text(value));
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string list_type_text(field f) {
  const auto element = f.getType().asList().getElementType();
  if (element.isText())
    return "a list of texts";
  if (has_number_per_key(f))
    return "a list or a map of numbers";
  return element.isFloat64() ? "a list of numbers" : "a list of whole numbers";
}

std::string word_text(capnp::DynamicEnum value) {
  KJ_IF_MAYBE (word, value.getEnumerant()) {
    return user_name(word->getProto().getName().cStr());
  }
  return "unset";
}

/// A number without sign, or the word that stands for it.
std::string unsigned_text(std::uint64_t value, const field_notes& notes) {
  if (notes.word && notes.word->value == static_cast<double>(value))
    return notes.word->name;
  return notes.unit == "bytes" ? bytes_text(value) : fmt::format("{}", value);
}

std::string default_text(capnp::DynamicStruct::Reader defaults, field f,
                         const field_notes& notes) {
  if (notes.required)
    return "required";
  const auto value = defaults.get(f);
  if (value.getType() == capnp::DynamicValue::TEXT
      && value.as<capnp::Text>().size() == 0)
    return "";
  return yaml_text(value, f);
}

void describe(capnp::DynamicStruct::Reader defaults, const std::string& prefix,
              std::vector<field_description>& out) {
  for (auto f : defaults.getSchema().getFields()) {
    if (!has_key(f))
      continue;
    const auto path = prefix + user_name(f);
    if (f.getType().isStruct()) {
      describe(defaults.get(f).as<capnp::DynamicStruct>(), path + '.', out);
      continue;
    }
    const auto notes = notes_of(f);
    out.push_back({path, type_text(f), default_text(defaults, f, notes),
                   allowed_text(f), notes.help});
  }
}

} // namespace

std::vector<field_description> describe_definition() {
  capnp::MallocMessageBuilder message;
  const auto defaults =
    message.initRoot<capnp::DynamicStruct>(definition_schema()).asReader();
  std::vector<field_description> out;
  describe(defaults, "", out);
  return out;
}

std::string yaml_text(capnp::DynamicValue::Reader value, field f) {
  switch (value.getType()) {
  case capnp::DynamicValue::BOOL:
    return value.as<bool>() ? "true" : "false";
  case capnp::DynamicValue::INT:
    return fmt::format("{}", value.as<std::int64_t>());
  case capnp::DynamicValue::UINT:
    return unsigned_text(value.as<std::uint64_t>(), notes_of(f));
  case capnp::DynamicValue::FLOAT:
    return fmt::format("{}", value.as<double>());
  case capnp::DynamicValue::TEXT:
    return quoted_text(value.as<capnp::Text>());
  case capnp::DynamicValue::LIST:
    return list_text(value.as<capnp::DynamicList>());
  case capnp::DynamicValue::ENUM:
    return word_text(value.as<capnp::DynamicEnum>());
  default:
    return "";
  }
}

std::string field_text(capnp::DynamicStruct::Reader section, field f) {
  const auto text = yaml_text(section.get(f), f);
  const auto least = notes_of(f).least;
  if (const auto detail = notes_of(f).detail; !detail.empty())
    if (const auto more = section.get(detail.c_str()).as<capnp::Text>();
        more.size() != 0)
      return quoted_text((text + more.cStr()).c_str());
  const auto min =
    least.empty() ? 0 : section.get(least.c_str()).as<std::uint64_t>();
  return min == 0 ? text : fmt::format("{{min: {}, max: {}}}", min, text);
}

std::string type_text(field f) {
  const auto type = f.getType();
  switch (type.which()) {
  case which::BOOL:
    return "true or false";
  case which::INT32:
  case which::UINT32:
    return "a whole number";
  case which::UINT64:
    return notes_of(f).unit == "bytes" ? "a size" : "a whole number";
  case which::FLOAT64:
    return "a number";
  case which::TEXT:
    return "a text";
  case which::ENUM:
    return fmt::format("one of {}", fmt::join(enum_words(type.asEnum()), ", "));
  case which::LIST:
    return list_type_text(f);
  default:
    return "a map";
  }
}

std::optional<value_range> range_of(field f) {
  const auto type = f.getType();
  const auto element = type.isList() ? type.asList().getElementType() : type;
  value_range limits;
  switch (element.which()) {
  case which::INT32:
    limits = limits_of<std::int32_t>();
    break;
  case which::UINT32:
    limits = limits_of<std::uint32_t>();
    break;
  case which::UINT64:
    limits = limits_of<std::uint64_t>();
    break;
  case which::FLOAT64:
    break;
  default:
    return std::nullopt;
  }
  const auto range = notes_of(f).range.value_or(value_range{});
  return value_range{std::max(range.min, limits.min),
                     std::min(range.max, limits.max)};
}

std::string allowed_text(field f) {
  const auto range = range_of(f);
  if (!range)
    return "";
  const auto notes = notes_of(f);
  const auto text = range_text(*range, notes.unit);
  return notes.word ? fmt::format("{}, or {}", text, notes.word->name) : text;
}

double default_of(const char* section, const char* field) {
  capnp::MallocMessageBuilder message;
  const auto defaults =
    message.initRoot<capnp::DynamicStruct>(definition_schema()).asReader();
  return defaults.get(section)
    .as<capnp::DynamicStruct>()
    .get(field)
    .as<double>();
}

std::vector<std::string> enum_words(capnp::EnumSchema schema) {
  std::vector<std::string> words;
  for (auto word : schema.getEnumerants())
    if (word.getOrdinal() != 0)
      words.push_back(user_name(word.getProto().getName().cStr()));
  return words;
}

std::vector<std::string> keys_of(capnp::StructSchema schema) {
  std::vector<std::string> keys;
  for (auto f : schema.getFields())
    if (has_key(f))
      keys.push_back(user_name(f));
  return keys;
}

bool has_key(field f) {
  const auto name = f.getProto().getName();
  for (auto other : f.getContainingStruct().getFields()) {
    const auto notes = notes_of(other);
    if (notes.per_key == name.cStr() || notes.least == name.cStr()
        || notes.detail == name.cStr())
      return false;
  }
  return true;
}

bool has_number_per_key(field f) {
  const auto taken = notes_of(f).per_key;
  if (taken.empty())
    return false;
  const auto target = f.getContainingStruct().getFieldByName(taken.c_str());
  const auto entry = target.getType().asList().getStructElementType();
  return entry.getFieldByName("values").getType().isFloat64();
}

} // namespace graphmill
