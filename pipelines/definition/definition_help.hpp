#pragma once

#include "messages/definition/definition_schema.hpp"

#include <capnp/dynamic.h>

#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// A field of the definition as help shows it. All of it comes from the schema
/// and its annotations, so help cannot differ from what is read.
struct field_description {
  std::string path;          ///< "train.batch_size"
  std::string type;          ///< "a whole number", "one of sage, gcn, ..."
  std::string default_value; ///< As one would write it; "required" if none.
  std::string range;         ///< "from 1 to 64 stages"; empty if unbounded.
  std::string help;          ///< A sentence without its full stop.
};

/// Every field of the definition that a user can write, in schema order.
std::vector<field_description> describe_definition();

/// A value of a definition as YAML text on one line.
std::string yaml_text(capnp::DynamicValue::Reader value,
                      capnp::StructSchema::Field field);

/// The value of a field of a section likewise, with what belongs to it: the
/// least number beside the most, as "{min: 1, max: 4}", and the detail of a
/// word, as "f1:fraud".
std::string field_text(capnp::DynamicStruct::Reader section,
                       capnp::StructSchema::Field field);

/// What a field takes, for people: "a whole number", "one of adam, adamw, sgd".
std::string type_text(capnp::StructSchema::Field field);

/// The values a number, or each element of a list, may have: the annotated
/// range within what the type holds. Nothing for other types.
std::optional<value_range> range_of(capnp::StructSchema::Field field);

/// The same in words, with the unit and the word that may stand for a number:
/// "from 1 to 16777216 seeds, or all". Nothing for what has no range.
std::string allowed_text(capnp::StructSchema::Field field);

/// What a number of a section is when it is left out.
/// @param field As the schema calls it.
double default_of(const char* section, const char* field);

/// The words of an enumeration, without `unset`.
std::vector<std::string> enum_words(capnp::EnumSchema schema);

/// Keys that a user may write in a struct, in schema order.
std::vector<std::string> keys_of(capnp::StructSchema schema);

/// Whether users write this field: not so if another takes it in by `perKey`,
/// `least` or `detail`.
bool has_key(capnp::StructSchema::Field field);

/// Whether a map of numbers may be written in place of the field (`perKey`).
bool has_number_per_key(capnp::StructSchema::Field field);

} // namespace graphmill
