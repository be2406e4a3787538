#pragma once

#include "pipelines/definition/definition_file.hpp"

namespace graphmill {

/// Adds the problems that are about several fields together, or about what a
/// text says. No dataset is needed; see validation.hpp for checks against one.
void check_definition(definition_source& source);

/// Letters, digits, '.', '_' and '-': what names of runs and datasets are made
/// of, for they become names of folders.
bool is_name_character(char c);

} // namespace graphmill
