#pragma once

#include "messages/words/field_name.hpp"

#include <capnp/dynamic.h>
#include <capnp/schema.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// The schema of the pipeline definition, for use by reflection.
capnp::StructSchema definition_schema();

/// An allowed interval, ends included.
struct value_range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();

  bool contains(double value) const { return value >= min && value <= max; }
};

/// A word that may be written for a number.
struct named_value {
  std::string name;
  double value = 0;
};

/// What the schema's annotations say about a field; see definition.capnp.
struct field_notes {
  std::string help; ///< Empty for a section, and for a field without a key.
  std::string unit; ///< Plural; empty if there is none.
  std::optional<value_range> range;  ///< Of a number or of list elements.
  std::optional<value_range> length; ///< Of a list or a text.
  bool required = false;
  std::optional<named_value> word; ///< For a number, or each of a list.
  std::string per_key; ///< Field that takes a map's entries; usually empty.
  std::string least;   ///< Field that takes the `min` of a map; usually empty.
  std::string detail;  ///< Field that takes what follows a word; usually empty.
};
field_notes notes_of(capnp::StructSchema::Field field);

/// Its name as users write it.
std::string user_name(capnp::StructSchema::Field field);

/// "from 1 to 64 stages", "at least 1", "at most 10 epochs".
std::string range_text(const value_range& range, std::string_view unit);

} // namespace graphmill
