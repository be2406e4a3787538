#pragma once

#include "pipelines/planning/storage_decision.hpp"

#include <CLI/CLI.hpp>

namespace graphmill {

/// Where a command reads the parts of a graph from: --storage, --disk-cache,
/// --memory.
void add_storage_options(CLI::App& command, storage_choice& choice);

} // namespace graphmill
