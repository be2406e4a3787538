#pragma once

#include "pipelines/definition/definition_file.hpp"

#include <cstdint>

namespace graphmill {

/// Adds the problems that are about several fields together, or about what a
/// text says. No dataset is needed; see validation.hpp for checks against one.
void check_definition(definition_source& source);

/// What a number of the section `model` is when it is left out.
/// @param field As the schema calls it.
std::uint32_t default_of_model(const char* field);

/// Letters, digits, '.', '_' and '-': what names of runs and datasets are made
/// of, for they become names of folders.
bool is_name_character(char c);

} // namespace graphmill
