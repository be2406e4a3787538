#pragma once

#include "messages/definition/definition_schema.hpp"

#include <capnp/dynamic.h>

#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// A field of the definition for help. All of it comes from the schema and its
/// annotations, so help cannot differ from the reader.
struct field_description {
  std::string path;          ///< "train.batch_size"
  std::string type;          ///< "a whole number", "one of sage, gcn, ..."
  std::string default_value; ///< As a user would write it; "required" if none.
  std::string range;         ///< "from 1 to 64 stages"; empty if unbounded.
  std::string help;          ///< A sentence without its full stop.
};

/// Every field of the definition that a user can write, in schema order.
std::vector<field_description> describe_definition();

/// A value of a definition as YAML text on one line.
std::string yaml_text(capnp::DynamicValue::Reader value,
                      capnp::StructSchema::Field field);

/// The value of a field of a section, with what belongs to it: the smallest
/// number beside the largest, as "{min: 1, max: 4}", and the detail of a word,
/// as "f1:fraud".
std::string field_text(capnp::DynamicStruct::Reader section,
                       capnp::StructSchema::Field field);

/// The values of a field, for people: "a whole number", "one of adam, adamw,
/// sgd".
std::string type_text(capnp::StructSchema::Field field);

/// The permitted values of a number, or of each element of a list: the
/// annotated range within the type's range. Nothing for other types.
std::optional<value_range> range_of(capnp::StructSchema::Field field);

/// The same in words, with the unit and the word for a number: "from 1 to
/// 16777216 seeds, or all". Nothing without a range.
std::string allowed_text(capnp::StructSchema::Field field);

/// The default of a number of a section.
/// @param field The name in the schema.
double default_of(const char* section, const char* field);

/// The words of an enumeration, without `unset`.
std::vector<std::string> enum_words(capnp::EnumSchema schema);

/// Keys that a user may write in a struct, in schema order.
std::vector<std::string> keys_of(capnp::StructSchema schema);

/// Whether users write this field. They do not if another includes it by
/// `perKey`, `least` or `detail`.
bool has_key(capnp::StructSchema::Field field);

/// Whether a map of numbers may replace the field (`perKey`).
bool has_number_per_key(capnp::StructSchema::Field field);

} // namespace graphmill
