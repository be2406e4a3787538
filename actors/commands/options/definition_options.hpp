#pragma once

#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Flags of the commands that read a definition without running it.
struct definition_options {
  std::string file;
  std::string data;
  std::vector<std::string> overrides;
  bool json = false;
};
void add_definition_options(CLI::App& command, definition_options& options);

/// --set of the commands with a definition.
void add_override_option(CLI::App& command,
                         std::vector<std::string>& overrides);

/// --split of the commands that measure one: train, validation or test. Files
/// call the second one "val", which is taken, too.
void add_split_option(CLI::App& command, std::string& split,
                      const std::string& help);

/// {"file", "valid", "data", "problems": [{"origin", "line", "column",
/// "message"}]}; `data` is null if no dataset was found. With problems also
/// {"error", "code"}, as for a failed command.
nlohmann::json problems_json(const std::string& file,
                             std::span<const problem> problems,
                             const std::string& data);

/// JSON on one line, for any bytes in its texts.
std::string one_line(const nlohmann::json& value);

/// Text broken into lines of at most 80 columns, each after `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent);

} // namespace graphmill
