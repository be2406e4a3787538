#pragma once

#include "actors/commands/options/cli.hpp"

#include <span>

namespace graphmill {

/// Parses the command line and runs what was chosen.
/// @param commands In the order in which help lists them.
/// @returns the exit code of the process.
int run_program(int argc, char** argv,
                std::span<const register_command> commands);

} // namespace graphmill
