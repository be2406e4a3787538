#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Characters of a run's name, as the schema of definitions has it.
inline constexpr std::size_t longest_run_name = 100;

/// --tag of the commands that begin runs.
void add_tag_option(CLI::App& command, std::vector<std::string>& tags);

/// Adds tags to a run's name, and so to the name of its folder:
/// "-first-second". Fails if one has other characters than a name, or the name
/// becomes too long.
result<void> add_tags(definition& def, std::span<const std::string> tags);

} // namespace graphmill
