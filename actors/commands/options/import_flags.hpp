#pragma once

#include "actors/commands/options/task_flags.hpp"
#include "messages/base/error.hpp"
#include "partition/importers/graph_changes.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

/// The flags of `import csv` and `import npy` that change a graph on its way
/// in, as they were given.
struct change_flags {
  std::vector<std::string> undirected; ///< "true" where no name was given.
  std::string self_loops = "keep";
  std::string duplicates = "keep";
  std::string split; ///< Empty: none is made.
  std::uint64_t seed = 0;
  std::vector<std::string> normalise;
  bool sparse = false;
  task_flags tasks;
};

/// What a flag that may stand alone or with =NAME holds where it stood alone.
inline constexpr const char* flag_alone = "true";

/// Adds the flags; they fill `flags`, which lives as long as the command line.
void add_change_flags(CLI::App& app, change_flags& flags);

/// Adds those of tasks of edges, to the ones above.
void add_task_flags(CLI::App& app, change_flags& flags);

/// Makes of the flags what importers take. Fails with a sentence that names the
/// flag that makes no sense.
/// @param all Gets how features are scaled of types that are not named.
result<graph_changes> changes_of(const change_flags& flags, row_norm& all);

/// All options of a command that decide what an import makes, given or by
/// default, as one line of JSON: what two calls are compared by.
std::string options_text(const CLI::App& app);

} // namespace graphmill
