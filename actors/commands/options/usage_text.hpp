#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace graphmill {

/// What is wrong with a command line: of a word that nothing takes, that word,
/// and the nearest command or option; else what CLI11 says.
/// @param app What `wrong` came from, as far as it has parsed.
/// @returns a sentence without a full stop.
std::string usage_text(const CLI::App& app, const CLI::ParseError& wrong);

} // namespace graphmill
