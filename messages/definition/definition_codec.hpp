#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"

#include <capnp/dynamic.h>

namespace graphmill {

/// Reads the struct `Definition` of definition.capnp. What comes from outside
/// is checked here: every range of the schema, every enumeration. Fails on the
/// first problem with a sentence that names the field.
result<definition> decode_definition(capnp::DynamicStruct::Reader reader);

/// Fills a `Definition`, every field.
void encode_definition(const definition& def,
                       capnp::DynamicStruct::Builder builder);

} // namespace graphmill
